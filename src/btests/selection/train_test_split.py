"""Split of the rows into a training part for kernel selection and a test part."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from btests._text import brief
from btests._warnings import SelectionWarning, warn
from btests.data.sample import AnySample
from btests.kernels.combination import add, scale
from btests.kernels.kernel import Kernel
from btests.plan import Array
from btests.selection.selector import Candidate, Selection, Setting

# Two blocks of two rows: the least that have a standard deviation.
_LEAST_ROWS = 4


class Parts(NamedTuple):
    """Training rows (``choice_x``, ``choice_y``) and test rows of both samples; disjoint."""

    choice_x: AnySample
    choice_y: AnySample
    test_x: AnySample
    test_y: AnySample


def check_fraction(fraction: object) -> None:
    """Raise unless ``fraction`` is strictly between 0 and 1."""
    number = isinstance(fraction, (int, float, np.floating)) and not isinstance(fraction, bool)
    if not (number and isinstance(fraction, (int, float, np.floating)) and 0.0 < fraction < 1.0):
        raise ValueError(f"fraction must be between 0 and 1, both excluded, got {brief(fraction)}")


def split(x: AnySample, y: AnySample, fraction: float, setting: Setting, *, as_many: bool = False) -> Parts:
    """Return a share of the rows for kernel selection and the others for the test.

    The first rows in their order are used for selection; the order is random unless shuffling is off. Samples of the
    same length remain so.

    Parameters
    ----------
    x, y : AnySample
        Both samples.
    fraction : float
        Share of the rows used for selection.
    setting : Setting
        Options of the test; a fixed block size must not exceed the number of test rows.
    as_many : bool
        Whether to take as many training rows from the longer sample as from the shorter one.
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


NO_DIFFERENCE = "no kernel found a difference on the rows of the choice"


def take_best(
    kernels: tuple[Kernel, ...],
    scores: Array,
    is_eligible: npt.NDArray[np.bool_],
    parts: Parts,
    *,
    note: str = "",
    slack: Array | float = 0.0,
) -> Selection:
    """Return the kernel with the largest score, the first one of ties within ``slack``.

    Kernels that are 0 or constant on the training rows have score 0, which exceeds negative scores; they are ignored.
    If all are, the average of all kernels is returned, with a warning: it has power against every difference that one
    of them detects.

    Parameters
    ----------
    kernels : tuple of Kernel
        J kernels.
    scores : ndarray of shape (J,)
        Scores, larger is better.
    is_eligible : ndarray of bool, shape (J,)
        Kernels that may be selected.
    parts : Parts
        Training and test rows.
    note : str
        Note of the result.
    slack : ndarray of shape (J,) or float
        Rounding error of the scores.
    """
    if not is_eligible.any():
        note = "no kernel tells any rows apart, so nothing can be chosen; taking all with the same weight"
        warn(note, SelectionWarning)
        return combine(kernels, scores, np.full(len(kernels), 1.0 / len(kernels)), parts, note)
    best = argmax_within(scores, is_eligible, slack)
    weights = (np.arange(len(kernels)) == best).astype(np.float64)
    return combine(kernels, scores, weights, parts, note or ("" if scores[best] > 0.0 else NO_DIFFERENCE))


def argmax_within(scores: Array, is_eligible: npt.NDArray[np.bool_], slack: Array | float) -> int:
    """Return the first index of ``is_eligible`` whose score is the largest up to ``slack``: (J,) to int."""
    return int(np.argmax(is_eligible & (scores + slack >= np.where(is_eligible, scores - slack, -np.inf).max())))


def combine(kernels: tuple[Kernel, ...], scores: Array, weights: Array, parts: Parts, note: str = "") -> Selection:
    """Return the weighted sum of the kernels, or the only one with positive weight, and the test rows."""
    candidates = tuple(
        Candidate(kernel, float(s), float(w)) for kernel, s, w in zip(kernels, scores, weights, strict=True)
    )
    taken = [c for c in candidates if c.weight > 0.0]
    chosen: Kernel = taken[0].kernel
    if len(taken) > 1:
        chosen = reduce(add, (scale(c.kernel, c.weight) for c in taken))
    spent = (len(parts.choice_x), len(parts.choice_y))
    return Selection(chosen, parts.test_x, parts.test_y, candidates, note, spent)
