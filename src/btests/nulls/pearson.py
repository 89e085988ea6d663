"""The quadratic-time test by a distribution with the right variance and skewness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests._memory import require_bytes
from btests.nulls.distributions import PearsonIIIDistribution
from btests.nulls.pearson_system import BetaDistribution
from btests.plan import Array
from btests.statistics.tiled_gram import TILE, Gram, tile_bytes


@dataclass(frozen=True, slots=True)
class Pearson:
    r"""NullDistribution of Pearson's system with the exact first three moments of all sign flips; no random numbers.

    The statistic is the paper's unbiased MMD^2 of all rows (eq. 3), for samples of one length n. Swapping x_a and y_a
    for random a gives ``sum_ab s_a s_b h_ab`` with random signs: mean 0, variance ``2 sum h_ab^2`` and third moment
    ``8 tr h^3``, over powers of n (n - 1). Three moments are right and the tail is not, whatever the number of rows.
    **The test is not consistent in its level.** Quadratic memory, cubic time.

    Attributes
    ----------
    kurtosis
        ``"gamma"`` is Pearson III, a shifted gamma distribution. ``"bound"`` is the recipe of the paper's authors, a
        distribution of type I or VI with kurtosis ``2 (skewness^2 + 1)``. Its tail is too short where the distribution
        is close to normal.

    References
    ----------
    A. Gretton, K. Borgwardt, M. Rasch, B. Schoelkopf, A. Smola, "A Kernel Two-Sample Test", JMLR 2012.
    """

    kurtosis: str = "gamma"

    wants_gram: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.kurtosis not in ("gamma", "bound"):
            raise ValueError(f"kurtosis must be 'gamma' or 'bound', got {self.kurtosis!r}")

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of h, and of some rows of its square."""
        return 8 * n_x * n_y + 2 * 8 * TILE * n_x + tile_bytes(n_x, n_y)

    def check_sizes(self, n_x: int, n_y: int) -> None:
        """Raise for samples of different lengths, and where that would not fit."""
        if n_x != n_y:
            raise ValueError(
                f"Pearson() needs samples of one length, got {n_x} and {n_y} rows; "
                "take null=Gamma(), null=Spectrum() or null=Permutation()"
            )
        require_bytes(repr(self), self.bytes_needed(n_x, n_y), n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the unbiased MMD^2 without the terms k(x_a, y_a)."""
        return gram.margins().paired()

    def distribution(self, gram: Gram, seed: int) -> PearsonIIIDistribution | BetaDistribution:
        """Return the distribution of the statistic under the null hypothesis; the seed plays no part."""
        n = len(gram.x)
        self.check_sizes(n, len(gram.y))
        sd, skewness = flip_moments(gram.core())
        sd /= n * (n - 1)
        if sd <= gram.margins().tolerance():  # every flip gives what was observed
            return PearsonIIIDistribution(0.0, 0.0, gram.margins().paired())
        return PearsonIIIDistribution(sd, skewness) if self.kurtosis == "gamma" else BetaDistribution(sd, skewness)


def flip_moments(h: Array) -> tuple[float, float]:
    """Return standard deviation and skewness of ``s'hs`` over all signs s: symmetric (n, n) with zero diagonal."""
    # Cubes of tiny kernels underflow: work in units of the largest entry.
    unit = float(max(h.max(), -h.min()))
    if unit == 0.0:
        return 0.0, 0.0
    h /= unit
    variance = 2.0 * float(np.vdot(h, h))
    third = 0.0
    for start in range(0, len(h), TILE):  # in pieces: the square of h is never whole
        strip = h[start : start + TILE]
        third += 8.0 * float(np.vdot(strip @ h, strip))
    return unit * math.sqrt(variance), third / variance**1.5
