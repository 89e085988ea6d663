"""Some rows for the choice, the others for the test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from btests.data.sample import AnySample
from btests.selection.protocol import Setting

# Two blocks of two rows: the least that have a spread, and a choice that no row can spare for the test.
_LEAST_ROWS = 4


class Parts(NamedTuple):
    """Both samples in two parts each: no row is in two of them."""

    choice_x: AnySample
    choice_y: AnySample
    test_x: AnySample
    test_y: AnySample


def check_fraction(fraction: object) -> None:
    """Raise unless ``fraction`` is a share of the rows that leaves some for the test."""
    number = isinstance(fraction, (int, float, np.floating)) and not isinstance(fraction, bool)
    if not (number and isinstance(fraction, (int, float, np.floating)) and 0.0 < fraction < 1.0):
        raise ValueError(f"fraction must be between 0 and 1, both excluded, got {fraction!r}")


def split(x: AnySample, y: AnySample, fraction: float, setting: Setting, *, as_many: bool = False) -> Parts:
    """Return a share of the rows for the choice and the others for the test; ``as_many`` rows of x as of y on demand.

    It is the first rows in their order, which is random unless the user wants no shuffle. Samples of the same length
    stay so.
    """
    n_x, n_y = len(x), len(y)
    shorter = min(n_x, n_y)
    for_x, for_y = (int(fraction * (shorter if as_many else n)) for n in (n_x, n_y))
    n_choice, n_test = min(for_x, for_y), min(n_x - for_x, n_y - for_y)
    if min(n_choice, n_test) < _LEAST_ROWS:
        raise ValueError(
            f"fraction={fraction:g} of {shorter} rows leaves {n_choice} to choose the kernel and {n_test} to test; "
            f"each needs at least {_LEAST_ROWS}, so take more rows or name the kernel"
        )
    if setting.rule.size is not None and setting.rule.size > n_test:
        raise ValueError(
            f"block_size must be between 2 and {n_test}, the rows that are left for the test after the choice of the "
            f"kernel took fraction={fraction:g} of {shorter}, got {setting.rule.size}"
        )
    (choice_x, test_x), (choice_y, test_y) = x.split(for_x), y.split(for_y)
    return Parts(choice_x, choice_y, test_x, test_y)
