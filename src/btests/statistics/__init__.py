"""Statistics: what is computed on each block."""

from btests.statistics.driver import Executor, in_memory, summarize, summarize_all, with_accuracy
from btests.statistics.mmd import MMD
from btests.statistics.multi_kernel import Family
from btests.statistics.protocol import Accuracy, Statistic, is_statistic, plan_for, summarize_blocks
from btests.statistics.row_moments import with_row_moments
from btests.statistics.tiled_gram import Gram

__all__ = [
    "MMD",
    "Accuracy",
    "Executor",
    "Family",
    "Gram",
    "Statistic",
    "in_memory",
    "is_statistic",
    "plan_for",
    "summarize",
    "summarize_all",
    "summarize_blocks",
    "with_accuracy",
    "with_row_moments",
]
