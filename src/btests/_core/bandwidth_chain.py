"""Chains of bandwidths: one distance for all kernels of a family, and one exponential for bandwidths that halve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from btests._core.constants import FAMILIES, WIDE_REACH
from btests.plan import Array

# Power of the scale in the exponent of a kernel: the distance of a Gaussian is squared.
_EXPONENTS = {"gaussian": 2, "laplacian": 1}

# Fewer wide kernels do not pay for the sums of powers.
_FEWEST_WIDE = 4

# Up to so many squarings of a kernel value are cheaper than a new exponential.
_MOST_SQUARINGS = 4


class Term(Protocol):
    """One radial term of a kernel: see ``btests.kernels.Radial``."""

    @property
    def shape(self) -> str: ...

    @property
    def scale(self) -> float: ...

    @property
    def power(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Chain:
    """Members of a family, widest first.

    Attributes
    ----------
    scale : float
        Factor of the coordinates for the first member.
    ratios : Array, shape (n,)
        Factor of the distance for each member.
    squarings : array of int32, shape (n,)
        0 for a new exponential, else how often the value of the member before is squared.
    order : array of intp, shape (n,)
        Index of each member in the caller's list.
    exponent : int
        Power of the scale in the exponent of a kernel.
    """

    scale: float
    ratios: Array
    squarings: npt.NDArray[np.int32]
    order: npt.NDArray[np.intp]
    exponent: int

    def n_wide(self, far: float) -> int:
        """Return the number of kernels, from the widest on, that are all but 1 at the squared distance ``far``.

        0 unless bandwidths halve, and if there are too few to pay for their sums of powers.
        """
        first = far * self.scale * self.scale
        if not (self.order.size > 1 and np.all(self.squarings[1:] == 2) and 0.0 < first < math.inf):
            return 0
        wider = WIDE_REACH / first  # inf where all kernels are wide beyond measure
        last = self.order.size - 1
        n = 1 + (last if wider == math.inf else min(math.floor(math.log2(wider) / 2.0), last))
        return n if n >= _FEWEST_WIDE else 0

    def n_above_half(self, spread: Array) -> int:
        """Return the number of kernels, from the widest on, that are above 1/2 at a typical distance.

        ``spread`` is the mean squared deviation of each coordinate. The answer decides on a form of the kernels that
        is accurate in either case: their values or, of so many, their values less 1.
        """
        if self.exponent == 2:
            distance = 2.0 * float(spread.sum()) * self.scale * self.scale
        else:
            distance = float(np.sqrt(2.0 * spread).sum()) * self.scale
        return int(np.count_nonzero(self.ratios * distance < 1.0))


def belong_together(shape: str) -> bool:
    """Return whether several terms of this shape are computed as one family."""
    return shape in FAMILIES


@lru_cache(64)
def chain(terms: tuple[Term, ...]) -> Chain:
    """Return the members of a family, widest first, with the steps from one to the next."""
    scales = np.array([term.scale for term in terms])
    order = np.argsort(scales, kind="stable")
    first = float(scales[order[0]])
    exponent = _EXPONENTS.get(terms[0].shape, 1)
    ratios = np.asarray((scales[order] / first) ** exponent)
    squarings = np.zeros(len(terms), np.int32)
    with np.errstate(invalid="ignore"):
        doublings = np.log2(scales[order][1:] / scales[order][:-1]) * exponent
    for i, times in enumerate(doublings, start=1):
        whole = round(times) if math.isfinite(times) else 0
        # Bandwidths on a grid of powers are off by a rounding or two.
        if 1 <= whole <= _MOST_SQUARINGS and abs(times - whole) < 1e-14:
            squarings[i] = whole
    return Chain(first, ratios, squarings, order, exponent)
