"""The Gaussian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from btests.kernels.combination import add, scale
from btests.kernels.distances import squared_distances
from btests.kernels.exponential import decayed
from btests.kernels.parameters import require_positive
from btests.kernels.protocol import Radial
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Gaussian:
    r"""``exp(-|x - y|^2 / (2 bandwidth^2))``; the bandwidth is the standard deviation.

    The paper's "sigma = 1" on the blobs is ``exp(-|x - y|^2 / 8)``, that is ``Gaussian(2)`` here.

    Examples
    --------
    >>> from btests import Gaussian
    >>> Gaussian(2.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    bandwidth: float

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        unit = 1.0 / (self.bandwidth * math.sqrt(2.0))
        exponent = squared_distances(x, y, unit)
        return decayed(exponent)

    def terms(self) -> tuple[Radial, ...]:
        """Return 2^-q, q the squared distance of points scaled by sqrt(log2(e) / 2) / bandwidth."""
        return (Radial("gaussian", 1.0 / (self.bandwidth * math.sqrt(2.0 * math.log(2.0)))),)

    __add__ = add
    __mul__ = __rmul__ = scale
