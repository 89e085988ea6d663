"""Matern kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from btests._text import brief
from btests.kernels.combination import add, scale
from btests.kernels.distances import distances
from btests.kernels.kernel import DECAYING, Properties, Radial, require_positive
from btests.plan import Array


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
