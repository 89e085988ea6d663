"""The distance kernel, whose MMD is the energy distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.distances import distances
from btests.kernels.parameters import require_positive
from btests.kernels.protocol import Radial
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Energy:
    r"""``-|x - y|^exponent``, 0 < exponent < 2: its MMD^2 is the energy distance of Szekely and Rizzo.

    That is ``2 E|x - y|^e - E|x - x'|^e - E|y - y'|^e`` (Sejdinovic et al. 2012). There is no bandwidth, and no scale:
    multiply the data by ten and the statistic grows tenfold for exponent 1.
    """

    exponent: float = 1.0

    def __post_init__(self) -> None:
        require_positive("exponent", self.exponent)
        if self.exponent >= 2.0:
            raise ValueError(f"exponent must be between 0 and 2, both excluded, got {self.exponent}")

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        return np.asarray(-(distances(x, y) ** self.exponent))

    def terms(self) -> tuple[Radial, ...] | None:
        """Return -q, q the distance, for exponent 1."""
        return (Radial("distance", 1.0),) if self.exponent == 1.0 else None

    __add__ = add
    __mul__ = __rmul__ = scale
