"""Kernels with polynomial tails: rational quadratic and inverse multiquadric."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.distances import squared_distances
from btests.kernels.kernel import DECAYING, Properties, Radial, require_positive
from btests.plan import Array

# Half-integer powers up to this one are a few multiplications in the compiled loops; others take the numpy path.
_LARGEST_HALF_POWER = 2


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
