"""Kernels of the scalar product: linear and polynomial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.parameters import require_positive
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Linear:
    """``<x, y>``: sees differences between means and nothing else."""

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        return np.asarray(np.asarray(x) @ np.swapaxes(np.asarray(y), -1, -2))

    __add__ = add
    __mul__ = __rmul__ = scale


@dataclass(frozen=True, slots=True)
class Polynomial:
    """``(gamma <x, y> + offset)^degree``: sees differences between moments up to ``degree``.

    Unlike the radial kernels it depends on where the origin is, so the data are taken as they are, not centred.
    """

    degree: int = 2
    offset: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, Integral) or self.degree < 1:
            raise ValueError(f"degree must be a whole number of at least 1, got {self.degree!r}")
        if not isinstance(self.offset, Real) or not (math.isfinite(self.offset) and self.offset >= 0):
            raise ValueError(f"offset must be a number, finite and not negative, got {self.offset!r}")
        require_positive("gamma", self.gamma)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        product = np.asarray(x) @ np.swapaxes(np.asarray(y), -1, -2)
        return np.asarray((self.gamma * product + self.offset) ** self.degree)

    __add__ = add
    __mul__ = __rmul__ = scale
