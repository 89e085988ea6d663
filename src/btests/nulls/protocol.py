"""What a null is."""

from __future__ import annotations

from typing import Protocol

from btests.nulls.laws import Law
from btests.summary import Summary


class Null(Protocol):
    """Learns the law of a statistic under the null hypothesis from the summary of all blocks."""

    def statistic(self, summary: Summary) -> float:
        """Return the statistic that this null is about."""
        ...

    def learn(self, summary: Summary, seed: int) -> Law:
        """Return the law of that statistic under the null hypothesis."""
        ...
