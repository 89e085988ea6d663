"""The Gaussian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.distances import decay, squared_distances
from btests.kernels.kernel import DECAYING, Properties, Radial, require_positive
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Gaussian:
    r"""Gaussian kernel ``exp(-|x - y|^2 / (2 bandwidth^2))``.

    Parameters
    ----------
    bandwidth : float
        Standard deviation, in the units of the data; positive. The ``gamma`` of scikit-learn's ``rbf_kernel`` is
        ``1 / (2 bandwidth^2)``. The paper's "sigma = 1" on the blobs [1]_ is ``exp(-|x - y|^2 / 8)``, that is
        ``Gaussian(2)`` here.

    See Also
    --------
    btests.median_bandwidth : The median heuristic for the bandwidth of given points.
    btests.MedianHeuristic : The same as a selector.
    Laplacian, Matern, RationalQuadratic : Kernels with heavier tails.

    References
    ----------
    .. [1] W. Zaremba, A. Gretton, M. Blaschko, "B-test: A Non-parametric, Low Variance Kernel Two-sample Test",
       NeurIPS 2013.

    Examples
    --------
    >>> from btests import Gaussian
    >>> Gaussian(2.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    properties: ClassVar[Properties] = DECAYING
    is_serializable: ClassVar[bool] = True

    bandwidth: float

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        unit = 1.0 / (self.bandwidth * math.sqrt(2.0))
        return decay(squared_distances(x, y, unit))

    def from_squared_distances(self, squares: Array) -> Array:
        """Return kernel values of squared distances: (...) to (...)."""
        return np.asarray(np.exp(-squares / self.bandwidth / self.bandwidth / 2.0))

    def terms(self) -> tuple[Radial, ...]:
        """Return 2^-q, q the squared distance of points scaled by sqrt(log2(e) / 2) / bandwidth."""
        return (Radial("gaussian", 1.0 / (self.bandwidth * math.sqrt(2.0 * math.log(2.0)))),)

    __add__ = add
    __mul__ = __rmul__ = scale
