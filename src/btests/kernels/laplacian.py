"""The Laplacian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from btests.kernels.combination import add, scale
from btests.kernels.distances import city_block_distances, decay
from btests.kernels.kernel import DECAYING, Properties, Radial, require_positive
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Laplacian:
    """Laplacian kernel ``exp(-|x - y|_1 / bandwidth)``, of the city-block distance.

    Parameters
    ----------
    bandwidth : float
        Distance at which the kernel is 1/e, in the units of the data; positive. The ``gamma`` of scikit-learn's
        ``laplacian_kernel`` is ``1 / bandwidth``.

    See Also
    --------
    Matern : With ``nu=0.5`` the exponential of the Euclidean distance.

    Examples
    --------
    >>> from btests import Laplacian
    >>> Laplacian(2.0)([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679]])
    """

    properties: ClassVar[Properties] = DECAYING
    is_serializable: ClassVar[bool] = True

    bandwidth: float

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        return decay(city_block_distances(x, y, 1.0 / self.bandwidth))

    def terms(self) -> tuple[Radial, ...]:
        """Return 2^-q, q the city-block distance of points scaled by log2(e) / bandwidth."""
        return (Radial("laplacian", 1.0 / (self.bandwidth * math.log(2.0))),)

    __add__ = add
    __mul__ = __rmul__ = scale
