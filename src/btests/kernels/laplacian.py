"""The Laplacian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from btests.kernels.combination import add, scale
from btests.kernels.distances import city_block_distances
from btests.kernels.exponential import decayed
from btests.kernels.parameters import require_positive
from btests.kernels.protocol import Radial
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Laplacian:
    """``exp(-|x - y|_1 / bandwidth)``, with the sum of absolute differences as distance (as in scikit-learn).

    For the Euclidean distance in the exponent take ``Matern(bandwidth, nu=0.5)``.
    """

    bandwidth: float

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        return decayed(city_block_distances(x, y, 1.0 / self.bandwidth))

    def terms(self) -> tuple[Radial, ...]:
        """Return 2^-q, q the city-block distance of points scaled by log2(e) / bandwidth."""
        return (Radial("laplacian", 1.0 / (self.bandwidth * math.log(2.0))),)

    __add__ = add
    __mul__ = __rmul__ = scale
