"""The median heuristic as a selector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests._option_checks import whole_number
from btests._text import brief
from btests.block_size import FEATURES
from btests.data.sample import AnySample
from btests.kernels import Gaussian, median_bandwidth
from btests.kernels.kernel import Kernel
from btests.selection.selector import Selection, Setting
from btests.symmetries.pooled_rows import exchangeable, partners


@dataclass(frozen=True, slots=True)
class MedianHeuristic:
    r"""Select the bandwidth by the median heuristic, ``sqrt(median(|p - q|^2) / 2)`` over some of the rows.

    All rows are tested: the bandwidth is invariant under swaps of x_a and y_a, so sign flips remain exact.

    Attributes
    ----------
    make : callable
        Constructor of a kernel from a bandwidth, such as ``Gaussian`` or ``Laplacian``.
    n_rows : int
        Rows of each sample from which the median is computed.

    See Also
    --------
    btests.median_bandwidth : The bandwidth of given points.
    """

    make: Callable[[float], Kernel] = Gaussian
    n_rows: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_rows", check_rows(self.n_rows))
        check_maker(self.make)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the kernel and all rows."""
        size, rule = setting.block_size(x, y, (self.make(1.0),))
        pooled = exchangeable(x, y) if rule == FEATURES else partners(x, y, size)
        return Selection(self.make(pooled_bandwidth(*pooled, self.n_rows)), x, y)

    def __repr__(self) -> str:
        return f"MedianHeuristic({name_of(self.make)}, n_rows={self.n_rows})"


def check_rows(n_rows: object, name: str = "n_rows") -> int:
    """Return a number of rows; raise unless it is a whole number of at least 2."""
    return whole_number(name, n_rows, 2)


def check_maker(make: Callable[[float], Kernel]) -> None:
    """Raise unless ``make`` constructs a kernel from a bandwidth."""
    try:
        made = callable(make) and callable(make(1.0))
    except TypeError:  # for example a kernel object, which takes two samples
        made = False
    if not made:
        raise TypeError(f"make must turn a bandwidth into a kernel, such as Gaussian, got {brief(make)}")


def name_of(make: Callable[[float], Kernel]) -> str:
    """Return a name without the address in a function's repr, stable across processes."""
    return getattr(make, "__qualname__", type(make).__qualname__)


def pooled_bandwidth(x: AnySample, y: AnySample, n_rows: int = 100) -> float:
    """Return the median bandwidth over ``n_rows`` rows of each sample."""
    if not x.is_numeric:
        raise TypeError("a median bandwidth needs rows of numbers, and these are objects; give a kernel for them")
    # The same positions of both samples: the bandwidth is invariant under swaps of x_a and y_a.
    n = min(n_rows, len(x), len(y))
    return median_bandwidth(np.concatenate([x.head(n), y.head(n)]).astype(np.float64))
