"""Null distributions with consistent p-values and thresholds."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from btests.plan import Array

#: Lower bound of p-values of continuous distributions: the smallest normal float.
SMALLEST = sys.float_info.min


class NullDistribution(Protocol):
    """Distribution of the statistic under the null hypothesis."""

    def pvalue(self, statistic: float) -> float:
        """Return the probability of a statistic at least as large; in (0, 1]."""
        ...

    def threshold(self, alpha: float) -> float:
        """Return the value that the statistic must exceed for a p-value of at most ``alpha``."""
        ...


def clip(p: float) -> float:
    """Return ``p`` clipped to ``[SMALLEST, 1]``."""
    return min(1.0, max(SMALLEST, p))


def smallest_pvalue(distribution: NullDistribution) -> float:
    """Return the smallest p-value that a null distribution can give; ``SMALLEST`` if it has no draws."""
    if isinstance(distribution, ResampledDistribution):
        return distribution.smallest()
    return distribution.pvalue(math.inf)


@dataclass(frozen=True, slots=True)
class NormalDistribution:
    """Normal distribution with mean zero and standard deviation ``sd``."""

    sd: float

    def pvalue(self, statistic: float) -> float:
        """Return the upper tail."""
        if self.sd == 0.0:
            return clip(float(statistic <= 0.0))
        return clip(0.5 * math.erfc(statistic / self.sd / math.sqrt(2.0)))

    def threshold(self, alpha: float) -> float:
        """Return the upper quantile."""
        return self.sd * -NormalDist().inv_cdf(alpha)


@dataclass(frozen=True, slots=True)
class StudentDistribution:
    """Student's t distribution with ``degrees`` of freedom, centred at zero and scaled by ``sd``."""

    sd: float
    degrees: float

    def pvalue(self, statistic: float) -> float:
        """Return the upper tail."""
        from scipy.special import stdtr

        if self.sd == 0.0:
            return clip(float(statistic <= 0.0))
        return clip(float(stdtr(self.degrees, -statistic / self.sd)))

    def threshold(self, alpha: float) -> float:
        """Return the upper quantile."""
        from scipy.special import stdtrit

        return self.sd * -float(stdtrit(self.degrees, alpha))


@dataclass(frozen=True, slots=True)
class PearsonIIIDistribution:
    """Pearson III, a shifted gamma distribution, parametrised by standard deviation, skewness and mean."""

    sd: float
    skewness: float
    mean: float = 0.0

    # Below this skewness the gamma distribution equals the normal to the accuracy of gammaincc.
    _NORMAL_BELOW = 1e-6

    def pvalue(self, statistic: float) -> float:
        """Return the upper tail."""
        from scipy.special import gammainc, gammaincc

        if self.sd == 0.0 or abs(self.skewness) < self._NORMAL_BELOW:
            return NormalDistribution(self.sd).pvalue(statistic - self.mean)
        shape = 4.0 / self.skewness**2
        point = shape + (statistic - self.mean) / self.sd * math.copysign(math.sqrt(shape), self.skewness)
        if point <= 0.0:  # beyond the end of the support
            return clip(float(self.skewness > 0.0))
        return clip(float(gammaincc(shape, point) if self.skewness > 0.0 else gammainc(shape, point)))

    def threshold(self, alpha: float) -> float:
        """Return the upper quantile."""
        from scipy.special import gammainccinv, gammaincinv

        if self.sd == 0.0 or abs(self.skewness) < self._NORMAL_BELOW:
            return self.mean + NormalDistribution(self.sd).threshold(alpha)
        shape = 4.0 / self.skewness**2
        point = gammainccinv(shape, alpha) if self.skewness > 0.0 else gammaincinv(shape, alpha)
        return self.mean + self.sd * float(point - shape) / math.copysign(math.sqrt(shape), self.skewness)


@dataclass(frozen=True, slots=True)
class ResampledDistribution:
    """Empirical distribution of draws that are exchangeable with the statistic.

    Attributes
    ----------
    draws : ndarray of shape (r,)
        Sorted draws.
    tolerance : float
        Draws within this distance of the statistic are ties; it bounds the rounding error.
    exhaustive : bool
        Whether the draws are all outcomes, including the observed one, and not a random subset.
    tie_weight : float
        Weight in (0, 1] of an outcome equal to the statistic, the statistic itself included. 1 gives the conservative
        p-value, 1/2 the mid-p-value, and a uniform random number the exact randomised one.
    """

    draws: Array
    tolerance: float = 0.0
    exhaustive: bool = False
    tie_weight: float = 1.0

    def pvalue(self, statistic: float) -> float:
        """Return the share of outcomes above the statistic plus ``tie_weight`` times the share equal to it.

        The statistic is itself an outcome: one of the draws if they are exhaustive, otherwise an additional one.
        """
        n_above, n_tied = self._counts(statistic)
        return (n_above + self.tie_weight * n_tied) / (self.draws.size + (not self.exhaustive))

    def tied(self, statistic: float) -> float:
        """Return the share of outcomes equal to the statistic, excluding the statistic itself."""
        n_tied = self._counts(statistic)[1]
        return max(0, n_tied - 1) / (self.draws.size + (not self.exhaustive))

    def smallest(self) -> float:
        """Return the smallest attainable p-value: of the largest of all draws, or of a statistic above random draws."""
        return self.pvalue(float(self.draws[-1]) if self.exhaustive else math.inf)

    def threshold(self, alpha: float) -> float:
        """Return the value that the statistic must exceed; infinity if there are too few draws for ``alpha``."""
        # The p-value is a decreasing step function with steps at draw - tolerance and draw + tolerance.
        if self.pvalue(-math.inf) <= alpha:
            return -math.inf
        steps = np.sort(np.concatenate([self.draws - self.tolerance, self.draws + self.tolerance]))
        low, high = 0, steps.size
        while low < high:  # the first step after which the p-value is at most alpha
            middle = (low + high) // 2
            is_small = self.pvalue(math.nextafter(float(steps[middle]), math.inf)) <= alpha
            low, high = (low, middle) if is_small else (middle + 1, high)
        if low == steps.size:
            return math.inf
        step = float(steps[low])
        return math.nextafter(step, -math.inf) if self.pvalue(step) <= alpha else step

    def _counts(self, statistic: float) -> tuple[int, int]:
        """Return the number of outcomes above the statistic and the number equal to it, itself included; not both 0."""
        first = int(np.searchsorted(self.draws, statistic - self.tolerance, side="left"))
        last = int(np.searchsorted(self.draws, statistic + self.tolerance, side="right"))
        n_above, n_tied = self.draws.size - last, last - first + (not self.exhaustive)
        return n_above, n_tied if n_above + n_tied else 1


@dataclass(frozen=True, slots=True)
class RankDistribution:
    """Distribution of the smallest weighted rank, expressed as a distribution of the MMD^2 of one kernel.

    Attributes
    ----------
    own : ndarray of shape (n,)
        All outcomes of that kernel, including the observed one, sorted.
    tolerance : float
        Outcomes within this distance are ties.
    weight : float
        Weight of the kernel.
    least : ndarray of shape (n,)
        Smallest weighted rank over all kernels for each outcome, sorted.
    """

    own: Array
    tolerance: float
    weight: float
    least: Array

    def pvalue(self, statistic: float) -> float:
        """Return the share of outcomes whose smallest weighted rank is at most that of ``statistic``."""
        rank = self.own.size - int(np.searchsorted(self.own, statistic - self.tolerance, side="left"))
        n_below = int(np.searchsorted(self.least, max(rank, 1) / self.weight, side="right"))
        return max(n_below, 1) / self.own.size

    def tied(self, statistic: float) -> float:
        """Return the share of outcomes whose smallest weighted rank is that of the statistic, apart from itself."""
        rank = self.own.size - int(np.searchsorted(self.own, statistic - self.tolerance, side="left"))
        value = max(rank, 1) / self.weight
        first = int(np.searchsorted(self.least, value, side="left"))
        last = int(np.searchsorted(self.least, value, side="right"))
        return max(0, last - first - 1) / self.own.size

    def threshold(self, alpha: float) -> float:
        """Return the value that the statistic must exceed; infinity if there are too few outcomes for ``alpha``."""
        n = self.own.size
        # The p-value increases with the rank: bisect for the largest significant rank.
        low, high = 0, n
        while low < high:
            middle = (low + high + 1) // 2
            n_below = max(1, int(np.searchsorted(self.least, middle / self.weight, side="right")))
            low, high = (middle, high) if n_below / n <= alpha else (low, middle - 1)
        # At least 1, the statistic itself; above the outcome of rank low + 1 the statistic has rank low at most.
        return math.inf if low < 1 else float(self.own[n - 1 - low]) + self.tolerance if low < n else -math.inf
