"""Statistics: what is computed on each block."""

from btests.statistics.hsic import HSIC
from btests.statistics.mmd import MMD
from btests.statistics.paired_gram import PairedGram
from btests.statistics.row_moments import with_row_moments
from btests.statistics.statistic import (
    Accuracy,
    Executor,
    Statistic,
    in_memory,
    is_statistic,
    plan_for,
    summarize,
    summarize_all,
    summarize_blocks,
    with_accuracy,
)
from btests.statistics.tiled_gram import Gram

__all__ = [
    "HSIC",
    "MMD",
    "Accuracy",
    "Executor",
    "Gram",
    "PairedGram",
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
