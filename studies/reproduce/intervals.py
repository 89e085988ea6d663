"""Intervals of error rates, and the rule by which a number here agrees with a published one."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95

#: The columns of a table beside published numbers, and the rule, in words for the captions.
COLUMNS = ("paper", "here", "95 % interval", "agrees")
RULE = (
    "*agrees*: the published number lies in the 95 % interval, widened by the error that the published number has "
    "itself from its finite number of trials (half-widths times sqrt(1 + trials here / trials there))."
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its 95 % interval, and how many trials it rests on."""

    value: float
    low: float
    high: float
    trials: int

    def agrees_with(self, published: float, trials: int, rounding: float = 0.0) -> bool:
        """Whether a published number, from that many trials and rounded by at most ``rounding``, is compatible."""
        wider = math.sqrt(1.0 + self.trials / trials)
        low = self.value - wider * (self.value - self.low) - rounding
        high = self.value + wider * (self.high - self.value) + rounding
        return low <= published <= high


def rate(hits: int, trials: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the share of ``hits`` with its exact (Clopper-Pearson) interval."""
    from scipy.special import betaincinv

    tail, misses = (1.0 - confidence) / 2.0, trials - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, misses, 1.0 - tail)) if misses else 1.0
    return Estimate(hits / trials, low, high, trials)


def shown_interval(estimate: Estimate, digits: int = 3) -> str:
    """Return an interval as text."""
    return f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"


def verdict(estimate: Estimate, published: float | None, trials: int, rounding: float = 0.0) -> str:
    """Return ``yes`` or ``no``, or nothing where there is no published number."""
    if published is None:
        return ""
    return "yes" if estimate.agrees_with(published, trials, rounding) else "no"


#: What the last column of a table of trends says, in words for the captions.
HOLDS = (
    "*agrees*: yes where the 95 % intervals leave no other answer than the paper's, no where they leave none but the "
    "opposite, undecided where they leave both."
)


def holds(margin: tuple[float, float]) -> str:
    """Return whether a quantity with that interval is positive: ``yes``, ``no`` or ``undecided``."""
    low, high = margin
    return "yes" if low >= 0.0 else "no" if high < 0.0 else "undecided"


def difference(a: Estimate, b: Estimate) -> tuple[float, float]:
    """Return an interval of a - b that is wide enough however the two depend on one another."""
    return a.low - b.high, a.high - b.low
