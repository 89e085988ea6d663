"""A two-sample test that may be watched all the time: it bets, and its wealth is the evidence."""

from btests.sequential.sequential_result import LEVELS, SequentialResult
from btests.sequential.sequential_test import SequentialTest

__all__ = ["LEVELS", "SequentialResult", "SequentialTest"]
