"""Radial kernels: functions of the Euclidean or city-block distance of two rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np

from btests._text import brief
from btests.kernels.combination import add, scale
from btests.kernels.distances import city_block_distances, decay, distances, squared_distances
from btests.kernels.kernel import DECAYING, Properties, Radial, require_positive
from btests.plan import Array

# Half-integer powers up to this one are a few multiplications in the compiled loops; others take the numpy path.
_LARGEST_HALF_POWER = 2


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


@dataclass(frozen=True, slots=True)
class Matern:
    r"""Matern kernel of the Euclidean distance r.

    With ``s = sqrt(2 nu) r / bandwidth``: ``exp(-s)``, ``(1 + s) exp(-s)`` and ``(1 + s + s^2 / 3) exp(-s)`` for
    ``nu`` = 0.5, 1.5 and 2.5.

    Parameters
    ----------
    bandwidth : float
        Length scale, in the units of the data; positive.
    nu : {0.5, 1.5, 2.5}, default 1.5
        Smoothness.

    See Also
    --------
    Laplacian : The exponential of the city-block distance.
    Gaussian : The limit of large ``nu``.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, section 4.2.

    Examples
    --------
    >>> from btests import Matern
    >>> Matern(1.0, nu=0.5)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679]])
    """

    properties: ClassVar[Properties] = DECAYING
    is_serializable: ClassVar[bool] = True

    bandwidth: float
    nu: float = 1.5

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)
        if not isinstance(self.nu, Real) or self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {brief(self.nu)}")

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        unit = math.sqrt(2.0 * self.nu) / self.bandwidth
        s = distances(x, y, unit)
        if self.nu == 0.5:
            return np.exp(-s)
        # Where exp(-s) is 0 the polynomial may overflow: 0 * inf.
        s = np.minimum(s, 1e3)
        return (1.0 + s) * np.exp(-s) if self.nu == 1.5 else (1.0 + s + s * s / 3.0) * np.exp(-s)

    def terms(self) -> tuple[Radial, ...]:
        """Return the polynomial of s = q log(2) times 2^-q, q the distance of the scaled points."""
        unit = math.sqrt(2.0 * self.nu) / (self.bandwidth * math.log(2.0))
        return (Radial("matern", unit, power=int(self.nu - 0.5)),)

    __add__ = add
    __mul__ = __rmul__ = scale


@dataclass(frozen=True, slots=True)
class RationalQuadratic:
    """Rational quadratic kernel ``(1 + |x - y|^2 / (2 alpha bandwidth^2))^-alpha``, a mixture of Gaussian kernels.

    Parameters
    ----------
    bandwidth : float
        Length scale, in the units of the data; positive.
    alpha : float, default 1.0
        Exponent of the tails; positive. Values of 0.5 and 1.0 are evaluated by the compiled loops.

    See Also
    --------
    Gaussian : The limit of large ``alpha``.
    InverseMultiquadric : ``alpha`` of 0.5.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, section 4.2.

    Examples
    --------
    >>> from btests import RationalQuadratic
    >>> RationalQuadratic(1.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[1.    , 0.3333]])
    """

    is_serializable: ClassVar[bool] = True

    bandwidth: float
    alpha: float = 1.0

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)
        require_positive("alpha", self.alpha)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        base = 1.0 + squared_distances(x, y, self._unit())
        return np.asarray(base**-self.alpha)

    @property
    def properties(self) -> Properties:
        """Return the properties; rows are centred where the compiled loops centre them."""
        return replace(DECAYING, centers_rows=self.terms() is not None)

    def terms(self) -> tuple[Radial, ...] | None:
        """Return (1 + q)^(-power / 2), q the squared distance of the scaled points, for half-integer alpha."""
        power = 2.0 * self.alpha
        if power != int(power) or power > _LARGEST_HALF_POWER:
            return None
        return (Radial("rational", self._unit(), power=int(power)),)

    def _unit(self) -> float:
        return 1.0 / (self.bandwidth * math.sqrt(2.0 * self.alpha))

    __add__ = add
    __mul__ = __rmul__ = scale


@dataclass(frozen=True, slots=True)
class InverseMultiquadric:
    """Inverse multiquadric kernel ``(1 + |x - y|^2 / bandwidth^2)^(-1/2)``.

    Parameters
    ----------
    bandwidth : float
        Length scale, in the units of the data; positive.

    See Also
    --------
    RationalQuadratic : Other exponents.

    Examples
    --------
    >>> from btests import InverseMultiquadric
    >>> InverseMultiquadric(1.0)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.7071]])
    """

    properties: ClassVar[Properties] = DECAYING
    is_serializable: ClassVar[bool] = True

    bandwidth: float

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.bandwidth)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        base = 1.0 + squared_distances(x, y, 1.0 / self.bandwidth)
        return np.asarray(1.0 / np.sqrt(base))

    def terms(self) -> tuple[Radial, ...]:
        """Return (1 + q)^(-1/2), q the squared distance of the scaled points."""
        return (Radial("rational", 1.0 / self.bandwidth, power=1),)

    __add__ = add
    __mul__ = __rmul__ = scale
