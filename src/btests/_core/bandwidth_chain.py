"""How the members of a family follow from one another: one distance for all, one exponential where they double."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from btests.plan import Array

# What the scale of a kernel does to its exponent: the distance of a Gaussian is squared.
_EXPONENTS = {"gaussian": 2, "laplacian": 1}

# Kernels are wide up to this exponent of 2: the reach of powers.hpp.
_REACH = 0.1875
_FEWEST_WIDE = 4

# Up to so many squarings of a kernel value are cheaper than a new exponential.
_MOST_SQUARINGS = 4


class Term(Protocol):
    """One radial term of a kernel, as ``kernels/protocol.py`` has it."""

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
    scale
        What coordinates are multiplied by for the first.
    ratios
        What the distance is multiplied by for each: (n,).
    squarings
        0 for a new exponential, else how often the value of the one before is squared: (n,).
    order
        The place of each in the caller's list: (n,).
    """

    scale: float
    ratios: Array
    squarings: npt.NDArray[np.int32]
    order: npt.NDArray[np.intp]

    def n_wide(self, far: float) -> int:
        """Return how many kernels, from the widest on, are all but 1 where rows are a squared distance ``far`` apart.

        Of a family whose bandwidths halve, and 0 where they would not pay for the sums of powers that they come from.
        """
        first = far * self.scale * self.scale
        if not (self.order.size > 1 and np.all(self.squarings[1:] == 2) and 0.0 < first < math.inf):
            return 0
        n = min(math.floor(math.log2(_REACH / first) / 2.0), self.order.size - 1) + 1
        return n if n >= _FEWEST_WIDE else 0


def belong_together(shape: str) -> bool:
    """Whether several terms of this shape are one family."""
    return shape in _EXPONENTS


@lru_cache(64)
def chain(terms: tuple[Term, ...]) -> Chain:
    """Return the members of a family in the order in which they follow from one another."""
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
    return Chain(first, ratios, squarings, order)
