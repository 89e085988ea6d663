"""Kernels of the scalar product: linear and polynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests._option_checks import is_finite, whole_number
from btests._text import brief
from btests.kernels.combination import add, scale
from btests.kernels.kernel import Properties, require_positive
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Linear:
    """Linear kernel ``<x, y>``; its MMD^2 is the squared distance of the means, and 0 for all other differences.

    See Also
    --------
    Polynomial : Differences between higher moments.

    Examples
    --------
    >>> from btests import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    # The kernel depends on the origin, but its MMD^2 does not, and is more accurate near it.
    properties: ClassVar[Properties] = Properties(
        takes_stacks=True, takes_objects=False, centers_rows=True, has_bandwidth=False
    )
    is_serializable: ClassVar[bool] = True

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        return np.asarray(np.asarray(x) @ np.swapaxes(np.asarray(y), -1, -2))

    __add__ = add
    __mul__ = __rmul__ = scale


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Polynomial kernel ``(gamma <x, y> + offset)^degree``, for differences between moments up to ``degree``.

    Unlike the radial kernels it depends on where the origin is, so the data are taken as they are, not centred.

    Parameters
    ----------
    degree : int, default 2
        At least 1.
    offset : float, default 1.0
        Not negative; scikit-learn's ``coef0``.
    gamma : float, default 1.0
        Factor of the scalar product; positive.

    See Also
    --------
    Linear : Differences between means alone.

    Examples
    --------
    >>> from btests import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    properties: ClassVar[Properties] = Properties(takes_stacks=True, takes_objects=False, has_bandwidth=False)
    is_serializable: ClassVar[bool] = True

    degree: int = 2
    offset: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole_number("degree", self.degree, 1))
        if not is_finite(self.offset) or self.offset < 0:
            raise ValueError(f"offset must be a number, finite and not negative, got {brief(self.offset)}")
        require_positive("gamma", self.gamma)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        product = np.asarray(x) @ np.swapaxes(np.asarray(y), -1, -2)
        return np.asarray((self.gamma * product + self.offset) ** self.degree)

    __add__ = add
    __mul__ = __rmul__ = scale
