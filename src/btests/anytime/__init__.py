"""A two-sample test that may be watched all the time: it bets, and its wealth is the evidence."""

from btests.anytime.result import LEVELS, WatchResult
from btests.anytime.watch import Watch

__all__ = ["LEVELS", "Watch", "WatchResult"]
