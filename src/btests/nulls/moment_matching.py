"""Quadratic-time tests with a distribution fitted to moments of the null: gamma, and Pearson's system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from btests._memory import require_bytes
from btests._option_checks import is_one_of
from btests._text import brief
from btests.nulls.distributions import PearsonIIIDistribution, clip
from btests.plan import Array
from btests.statistics.tiled_gram import TILE, Gram, relabelled_mean, relabelled_sd, tile_bytes


@dataclass(frozen=True, slots=True)
class Gamma:
    r"""Gamma distribution with the exact mean and variance of all relabellings; no random numbers, quadratic time.

    The statistic is the biased MMD^2 of all rows. Its null distribution is that of a weighted sum of chi-squares, not
    a gamma distribution: two moments are exact, the tail is wrong for any number of rows. **The test is not consistent
    in its level.** It is the cheapest of the quadratic-time tests: one pass over the Gram matrix, memory for one tile.

    See Also
    --------
    Spectrum : consistent, at the cost of quadratic memory.
    Permutation : exact.

    References
    ----------
    A. Gretton, K. Fukumizu, Z. Harchaoui, B. Sriperumbudur, "A Fast, Consistent Kernel Two-Sample Test", NIPS 2009.
    """

    wants_gram: ClassVar[bool] = True

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of one tile in bytes."""
        return tile_bytes(n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the biased MMD^2."""
        return gram.margins().biased()

    def distribution(self, gram: Gram, seed: int, n_threads: int | None = None) -> PearsonIIIDistribution:
        """Return the null distribution of the statistic; ``seed`` is ignored."""
        margins = gram.margins()
        mean, sd = relabelled_mean(margins), relabelled_sd(margins)
        if sd <= margins.tolerance():  # every relabelling gives the observed value
            return PearsonIIIDistribution(0.0, 0.0, margins.biased())
        # The support of a gamma distribution starts at 0. The mean is not positive only if the kernel is not positive
        # definite; then the normal distribution is used.
        return PearsonIIIDistribution(sd, 2.0 * sd / mean if mean > 0.0 else 0.0, mean)


class _Shape(NamedTuple):
    """Beta, or if ``prime`` beta prime, distribution with parameters a and b; its mean and standard deviation."""

    a: float
    b: float
    prime: bool
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class BetaDistribution:
    """Pearson type I or VI distribution with mean zero and kurtosis ``2 (skewness^2 + 1)``, twice the lower bound.

    Type I, a beta distribution, for a squared skewness below 2; type VI, beta prime, above it. The limit of both at 2
    is Pearson III.
    """

    sd: float
    skewness: float

    # Within this distance of squared skewness 2 the parameters are too large for betainc; Pearson III is used.
    _MEETING = 1e-4

    def pvalue(self, statistic: float) -> float:
        """Return the upper tail."""
        from scipy.special import betainc

        square = self.skewness**2
        if self.sd == 0.0 or abs(square - 2.0) < self._MEETING:
            return PearsonIIIDistribution(self.sd, self.skewness).pvalue(statistic)
        a, b, prime, mean, sd = self._shape()
        point = mean + sd * math.copysign(1.0, self.skewness) * (statistic / self.sd)
        point = max(point, 0.0) if prime else min(max(point, 0.0), 1.0)
        # Arguments of both tails, computed without cancellation.
        below, above = (point / (1.0 + point), 1.0 / (1.0 + point)) if prime else (point, 1.0 - point)
        return clip(float(betainc(b, a, above) if self.skewness >= 0.0 else betainc(a, b, below)))

    def threshold(self, alpha: float) -> float:
        """Return the upper quantile."""
        from scipy.special import betaincinv

        square = self.skewness**2
        if self.sd == 0.0 or abs(square - 2.0) < self._MEETING:
            return PearsonIIIDistribution(self.sd, self.skewness).threshold(alpha)
        a, b, prime, mean, sd = self._shape()
        if self.skewness >= 0.0:
            above = float(betaincinv(b, a, alpha))
            point = (1.0 - above) / above if prime else 1.0 - above
            return self.sd * (point - mean) / sd
        below = float(betaincinv(a, b, alpha))
        return -self.sd * ((below / (1.0 - below) if prime else below) - mean) / sd

    def _shape(self) -> _Shape:
        square = self.skewness**2
        # a + b of a beta distribution with this skewness and kurtosis; negative for beta prime.
        r = 6.0 * (square + 1.0) / (2.0 - square)
        g = math.sqrt(square / (square * (r + 2.0) ** 2 + 16.0 * (r + 1.0)))
        if r > 0.0:
            a = r / 2.0 * (1.0 - (r + 2.0) * g)
            b = r - a
            return _Shape(a, b, False, a / r, math.sqrt(a * b / (r + 1.0)) / r)
        a, b = r / 2.0 * (1.0 + (r + 2.0) * g), 1.0 - r
        return _Shape(a, b, True, a / (b - 1.0), math.sqrt(a * (a + b - 1.0) / (b - 2.0)) / (b - 1.0))


@dataclass(frozen=True, slots=True)
class Pearson:
    r"""Distribution of Pearson's system with the exact first three moments of all sign flips; no random numbers.

    The statistic is the paper's unbiased MMD^2 of all rows (eq. 3), for samples of one length n. Swapping x_a and y_a
    for random a gives ``sum_ab s_a s_b h_ab`` with random signs: mean 0, variance ``2 sum h_ab^2`` and third moment
    ``8 tr h^3``, over powers of n (n - 1). Three moments are exact, the tail is wrong for any number of rows. **The
    test is not consistent in its level.** Quadratic memory, cubic time.

    Attributes
    ----------
    kurtosis : {"gamma", "bound"}
        ``"gamma"`` is Pearson III, a shifted gamma distribution. ``"bound"`` is the choice of the paper's authors, a
        distribution of type I or VI with kurtosis ``2 (skewness^2 + 1)``. Its tail is too short if the null
        distribution is close to normal.

    See Also
    --------
    ThirdCumulant : the same moments, from blocks.

    References
    ----------
    A. Gretton, K. Borgwardt, M. Rasch, B. Schoelkopf, A. Smola, "A Kernel Two-Sample Test", JMLR 2012.
    """

    kurtosis: str = "gamma"

    wants_gram: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_one_of(self.kurtosis, "gamma", "bound"):
            raise ValueError(f"kurtosis must be 'gamma' or 'bound', got {brief(self.kurtosis)}")

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of h and of some rows of its square, in bytes."""
        return 8 * n_x * n_y + 2 * 8 * TILE * n_x + tile_bytes(n_x, n_y)

    def check_sizes(self, n_x: int, n_y: int) -> None:
        """Raise for samples of different lengths, and if the matrix does not fit into memory."""
        if n_x != n_y:
            raise ValueError(
                f"Pearson() needs samples of one length, got {n_x} and {n_y} rows; "
                "take null=Gamma(), null=Spectrum() or null=Permutation()"
            )
        require_bytes(repr(self), self.bytes_needed(n_x, n_y), n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the unbiased MMD^2 without the terms k(x_a, y_a)."""
        return gram.margins().paired()

    def distribution(
        self, gram: Gram, seed: int, n_threads: int | None = None
    ) -> PearsonIIIDistribution | BetaDistribution:
        """Return the null distribution of the statistic; ``seed`` is ignored."""
        n = len(gram.x)
        self.check_sizes(n, len(gram.y))
        sd, skewness = flip_moments(gram.h_matrix())
        sd /= n * (n - 1)
        if sd <= gram.margins().tolerance():  # every flip gives the observed value
            return PearsonIIIDistribution(0.0, 0.0, gram.margins().paired())
        return PearsonIIIDistribution(sd, skewness) if self.kurtosis == "gamma" else BetaDistribution(sd, skewness)


def flip_moments(h: Array) -> tuple[float, float]:
    """Return standard deviation and skewness of ``s'hs`` over all sign vectors s.

    ``h`` (n, n) is symmetric with zero diagonal; it is rescaled in place.
    """
    # Cubes of tiny kernel values underflow: work in units of the largest entry.
    unit = float(max(h.max(), -h.min()))
    if unit == 0.0:
        return 0.0, 0.0
    h /= unit
    variance = 2.0 * float(np.vdot(h, h))
    third = 0.0
    for start in range(0, len(h), TILE):  # in strips, to avoid a second (n, n) array
        strip = h[start : start + TILE]
        third += 8.0 * float(np.vdot(strip @ h, strip))
    return unit * math.sqrt(variance), third / variance**1.5
