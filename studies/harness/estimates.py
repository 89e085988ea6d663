"""Estimates with intervals, and the rule by which an estimate agrees with a published number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

#: Two-sided 95 % quantile of the standard normal distribution.
NORMAL_95 = 1.959963984540054

#: Columns of a table beside published numbers, and the rule in words, for captions.
COLUMNS = ("paper", "here", "95 % interval", "agrees")
RULE = (
    "*agrees*: the published number lies in the 95 % interval, widened by the error that the published number has "
    "itself from its finite number of trials (half-widths times sqrt(1 + trials here / trials there))."
)

#: The rule of ``holds`` in words, for captions.
HOLDS = (
    "*agrees*: yes where the 95 % intervals leave no other answer than the paper's, no where they leave none but the "
    "opposite, undecided where they leave both."
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its confidence interval, and the number of trials behind it."""

    value: float
    low: float
    high: float
    trials: int

    def agrees_with(self, published: float, trials: int, rounding: float = 0.0) -> bool:
        """Return whether a published number, of that many trials and rounded by at most ``rounding``, is compatible."""
        wider = math.sqrt(1.0 + self.trials / trials)
        low = self.value - wider * (self.value - self.low) - rounding
        high = self.value + wider * (self.high - self.value) + rounding
        return low <= published <= high

    def misses(self, low: float, high: float) -> bool:
        """Return whether the interval does not touch [low, high]."""
        return self.high < low or self.low > high

    def interval(self, digits: int = 3) -> str:
        """Return the interval as text."""
        return f"{self.low:.{digits}f} to {self.high:.{digits}f}"


@cache
def proportion(hits: int, trials: int, confidence_level: float = 0.95) -> Estimate:
    """Return the proportion of ``hits`` with its exact (Clopper-Pearson) interval."""
    from scipy.stats import binomtest

    interval = binomtest(hits, trials).proportion_ci(confidence_level, method="exact")
    return Estimate(hits / trials, float(interval.low), float(interval.high), trials)


def paired_difference(only_first: int, only_second: int, trials: int) -> Estimate:
    """Return the difference of two shares that were counted in the same trials, with its 95 % interval.

    Only the trials in which one of both tests rejects and not the other tell them apart. The interval is that of
    Agresti and Min (2005): half a trial is added to each of the four outcomes.
    """
    n, gap = trials + 2.0, only_first - only_second
    reach = NORMAL_95 * math.sqrt((only_first + only_second + 1.0) - gap**2 / n) / n
    return Estimate(gap / trials, gap / n - reach, gap / n + reach, trials)


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates, with the interval of normal errors."""
    n = len(estimates)
    value = math.fsum(one.value for one in estimates) / n
    centre = math.fsum(one.low + one.high for one in estimates) / (2.0 * n)
    reach = math.sqrt(math.fsum((one.high - one.low) ** 2 for one in estimates)) / (2.0 * n)
    return Estimate(value, centre - reach, centre + reach, sum(one.trials for one in estimates))


def verdict(estimate: Estimate, published: float | None, trials: int, rounding: float = 0.0) -> str:
    """Return ``yes`` or ``no``; empty where there is no published number."""
    if published is None:
        return ""
    return "yes" if estimate.agrees_with(published, trials, rounding) else "no"


def holds(margin: tuple[float, float]) -> str:
    """Return whether a quantity with that interval is positive: ``yes``, ``no`` or ``undecided``."""
    low, high = margin
    return "yes" if low >= 0.0 else "no" if high < 0.0 else "undecided"


def difference(a: Estimate, b: Estimate) -> tuple[float, float]:
    """Return an interval of a - b that is valid under any dependence of the two."""
    return a.low - b.high, a.high - b.low
