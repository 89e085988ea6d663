"""Bounds of statistical tests from the probability of a false alarm that they are allowed."""

from __future__ import annotations

from scipy import stats

#: The probability that a correct program fails a statistical test of this suite.
FALSE_ALARM = 1e-6


def count_bounds(n_trials: int, low: float, high: float, false_alarm: float = FALSE_ALARM) -> tuple[int, int]:
    """Return the counts that a binomial of probability ``low`` .. ``high`` leaves with at most that probability."""
    lowest = int(stats.binom.ppf(false_alarm / 2.0, n_trials, low))
    highest = int(stats.binom.isf(false_alarm / 2.0, n_trials, high))
    return lowest, highest


def deviations(degrees: int | None = None, false_alarm: float = FALSE_ALARM) -> float:
    """Return the two-sided quantile, in standard errors, of a normal mean, or of Student's t with ``degrees``."""
    if degrees is None:
        return float(stats.norm.isf(false_alarm / 2.0))
    return float(stats.t.isf(false_alarm / 2.0, degrees))
