"""The median heuristic, and kernels that need no choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests.data.sample import AnySample
from btests.kernels import Gaussian, median_bandwidth
from btests.kernels.kernel import Kernel
from btests.selection.selector import Selection, Setting
from btests.selection.swap_pairs import partners


@dataclass(frozen=True, slots=True)
class MedianHeuristic:
    r"""The kernel whose bandwidth is the median heuristic, ``sqrt(median(|p - q|^2) / 2)`` over some of the rows.

    It hands back all rows: the bandwidth does not change when x_a and y_a swap places, so that the sign flips stay
    exact, and no row is lost to the choice.

    Attributes
    ----------
    make
        From a bandwidth to a kernel, such as ``Gaussian`` or ``Laplacian``.
    n_rows
        Rows of each sample that are looked at.
    """

    make: Callable[[float], Kernel] = Gaussian
    n_rows: int = 100

    def __post_init__(self) -> None:
        check_rows(self.n_rows)
        check_maker(self.make)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the kernel and all rows."""
        size = setting.block_size(x, y, (self.make(1.0),)).size
        return Selection(self.make(pooled_bandwidth(*partners(x, y, size), self.n_rows)), x, y)

    def __repr__(self) -> str:
        return f"MedianHeuristic({name_of(self.make)}, n_rows={self.n_rows})"


def check_rows(n_rows: object) -> None:
    """Raise unless ``n_rows`` rows have distances."""
    if isinstance(n_rows, bool) or not isinstance(n_rows, (int, np.integer)) or n_rows < 2:
        raise ValueError(f"n_rows must be a whole number of at least 2, got {n_rows!r}")


def check_maker(make: Callable[[float], Kernel]) -> None:
    """Raise unless ``make`` turns a bandwidth into a kernel."""
    try:
        made = callable(make) and callable(make(1.0))
    except TypeError:  # a kernel, say, which takes two samples
        made = False
    if not made:
        raise TypeError(f"make must turn a bandwidth into a kernel, such as Gaussian, got {make!r}")


def name_of(make: Callable[[float], Kernel]) -> str:
    """Return a name that does not differ from run to run, as the address in a function's repr does."""
    return getattr(make, "__qualname__", type(make).__qualname__)


def pooled_bandwidth(x: AnySample, y: AnySample, n_rows: int = 100) -> float:
    """Return the median bandwidth over ``n_rows`` rows of each sample."""
    if not x.is_numeric:
        raise TypeError("a median bandwidth needs rows of numbers, and these are objects; give a kernel for them")
    # The same places of both samples: a swap of x_a and y_a leaves the choice as it is, and the sign flips exact.
    n = min(n_rows, len(x), len(y))
    return median_bandwidth(np.concatenate([x.head(n), y.head(n)]).astype(np.float64))
