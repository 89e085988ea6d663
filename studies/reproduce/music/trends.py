"""What the paper says of its numbers, as statements that can be checked on other songs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from studies.harness.estimates import Estimate

#: Columns of a table of trends, and the rule in words.
COLUMNS = ("trend", "paper", "here", "95 % interval", "agrees")
RULE = (
    "*agrees*, of trends: yes where the 95 % interval of the difference (or of the one error) lies on the side that "
    "the paper reports, no where it lies on the other side, undecided where on both. Intervals of differences combine "
    "those of the two errors as if they were of different draws; they are of the same, so that they are rather too "
    "wide."
)


@dataclass(frozen=True, slots=True)
class Trend:
    """One line: what is said, the published numbers, those found here, and an interval that decides."""

    said: str
    paper: str
    here: str
    interval: str
    holds: str

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table."""
        return self.said, self.paper, self.here, self.interval, self.holds


def falls(said: str, paper: tuple[float, float] | None, first: Estimate, second: Estimate) -> Trend:
    """Return the trend that the second error is below the first."""
    low, high = difference(first, second)
    published = "" if paper is None else f"{paper[0]:g} to {paper[1]:g}"
    here = f"{first.value:.3f} to {second.value:.3f}"
    return Trend(said, published, here, f"falls by {low:.3f} to {high:.3f}", decide(low, high, 0.0, above=True))


def is_below(said: str, paper: float | str, error: Estimate, bound: float) -> Trend:
    """Return the trend that an error is below a bound."""
    holds = decide(error.low, error.high, bound, above=False)
    published = paper if isinstance(paper, str) else f"{paper:g}"
    return Trend(said, published, f"{error.value:.3f}", error.interval(), holds)


def is_close(said: str, paper: tuple[float, float], first: Estimate, second: Estimate, by: float) -> Trend:
    """Return the trend that the first error exceeds the second by no more than ``by``."""
    low, high = difference(first, second)
    here = f"{first.value:.3f} and {second.value:.3f}"
    holds = decide(low, high, by, above=False)
    return Trend(said, f"{paper[0]:g} and {paper[1]:g}", here, f"differ by {low:.3f} to {high:.3f}", holds)


def is_times(said: str, paper: float | None, ratio: float, bound: float) -> Trend:
    """Return the trend that a ratio of seconds is at least ``bound``; they do not repeat, and have no interval."""
    published = "" if paper is None else _times(paper)
    return Trend(said, published, _times(ratio), "", "yes" if round(ratio, 1) >= bound else "no")


def _times(ratio: float) -> str:
    return f"{ratio:.{1 if ratio < 20.0 else 0}f} times"


def difference(first: Estimate, second: Estimate) -> tuple[float, float]:
    """Return the interval of the difference of two rates, by their own intervals (Newcombe 1998, method 10)."""
    gap = first.value - second.value
    low = gap - math.hypot(first.value - first.low, second.high - second.value)
    return low, gap + math.hypot(first.high - first.value, second.value - second.low)


def decide(low: float, high: float, bound: float, *, above: bool) -> str:
    """Return ``yes``, ``no`` or ``undecided`` for an interval that should lie above, or below, a bound."""
    if low > bound:
        return "yes" if above else "no"
    if high < bound:
        return "no" if above else "yes"
    return "undecided"
