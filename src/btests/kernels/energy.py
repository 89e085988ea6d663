"""The kernel of the energy distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.distances import distances
from btests.kernels.kernel import Properties, Radial, require_positive
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Energy:
    r"""Energy-distance kernel ``-|x - y|^exponent``.

    Its MMD^2 is the energy distance ``2 E|x - y|^e - E|x - x'|^e - E|y - y'|^e`` [1]_ [2]_. There is no bandwidth, and
    no scale: multiply the data by ten and the statistic grows tenfold for exponent 1.

    Parameters
    ----------
    exponent : float, default 1.0
        Between 0 and 2, both excluded.

    See Also
    --------
    scipy.stats.energy_distance : The square root of the energy distance of two samples of numbers.
    Linear : The limit of exponent 2, up to a factor.

    References
    ----------
    .. [1] G. J. Szekely, M. L. Rizzo, "Testing for Equal Distributions in High Dimension", InterStat 2004.
    .. [2] D. Sejdinovic, A. Gretton, B. Sriperumbudur, K. Fukumizu, "Hypothesis Testing Using Pairwise Distances and
       Associated Kernels", ICML 2012.

    Examples
    --------
    >>> from btests import Energy
    >>> Energy()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[-5.]])
    """

    is_serializable: ClassVar[bool] = True

    exponent: float = 1.0

    def __post_init__(self) -> None:
        require_positive("exponent", self.exponent)
        if self.exponent >= 2.0:
            raise ValueError(f"exponent must be between 0 and 2, both excluded, got {self.exponent}")

    def __call__(self, x: Array, y: Array) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        return np.asarray(-(distances(x, y) ** self.exponent))

    @property
    def properties(self) -> Properties:
        """Return the properties; rows are centred where the compiled loops centre them."""
        centers_rows = self.terms() is not None
        return Properties(takes_stacks=True, takes_objects=False, centers_rows=centers_rows, has_bandwidth=False)

    def terms(self) -> tuple[Radial, ...] | None:
        """Return -q, q the distance, for exponent 1."""
        return (Radial("distance", 1.0),) if self.exponent == 1.0 else None

    __add__ = add
    __mul__ = __rmul__ = scale
