"""A two-sample test that may be watched all the time: it bets, and its wealth is the evidence."""

from btests.sequential.sequential_result import LEVELS, WatchResult
from btests.sequential.sequential_test import Watch

__all__ = ["LEVELS", "Watch", "WatchResult"]
