"""A distribution of Pearson's system, given by its standard deviation and skewness and a rule for its kurtosis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from btests.nulls.distributions import PearsonIIIDistribution, clip


class _Shape(NamedTuple):
    """Beta distribution, or with ``prime`` that of its odds, with parameters a and b; its mean and deviation."""

    a: float
    b: float
    prime: bool
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class BetaDistribution:
    """Pearson's type I or VI with mean zero and kurtosis ``2 (skewness^2 + 1)``, twice the least that there can be.

    Type I, a beta distribution, for a squared skewness below 2; type VI, beta prime, above; both meet in Pearson III.
    """

    sd: float
    skewness: float

    # So close to where the two types meet, their parameters are too large for their own functions.
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
        # The share below the point, and above it, both from the side where no digits are lost.
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
        # a + b of a beta distribution with that skewness and kurtosis; it is negative where the odds are meant.
        r = 6.0 * (square + 1.0) / (2.0 - square)
        g = math.sqrt(square / (square * (r + 2.0) ** 2 + 16.0 * (r + 1.0)))
        if r > 0.0:
            a = r / 2.0 * (1.0 - (r + 2.0) * g)
            b = r - a
            return _Shape(a, b, False, a / r, math.sqrt(a * b / (r + 1.0)) / r)
        a, b = r / 2.0 * (1.0 + (r + 2.0) * g), 1.0 - r
        return _Shape(a, b, True, a / (b - 1.0), math.sqrt(a * (a + b - 1.0) / (b - 2.0)) / (b - 1.0))
