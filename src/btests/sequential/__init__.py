"""Sequential two-sample test by betting: it may be stopped at any time."""

from btests.sequential.sequential_result import LEVELS, SequentialResult
from btests.sequential.sequential_test import SequentialTest

__all__ = ["LEVELS", "SequentialResult", "SequentialTest"]
