"""Statistics: what is computed on each block."""

from btests.statistics.factory import StatisticFactory, check_factory, choose_statistic, make_statistic, require_rows
from btests.statistics.feature_hsic import FeatureHSIC
from btests.statistics.feature_mmd import FeatureMMD
from btests.statistics.hsic import HSIC
from btests.statistics.kernel_fisher import KernelFisher
from btests.statistics.mmd import MMD
from btests.statistics.paired_gram import PairedGram
from btests.statistics.row_moments import with_row_moments
from btests.statistics.statistic import (
    Accuracy,
    Executor,
    InMemory,
    Statistic,
    adds_rows,
    in_memory,
    is_statistic,
    plan_for,
    summarize,
    summarize_all,
    summarize_blocks,
    summarize_prepared,
    with_accuracy,
)
from btests.statistics.tiled_gram import Gram
from btests.statistics.with_replacement import WithReplacement

__all__ = [
    "HSIC",
    "MMD",
    "Accuracy",
    "Executor",
    "FeatureHSIC",
    "FeatureMMD",
    "Gram",
    "InMemory",
    "KernelFisher",
    "PairedGram",
    "Statistic",
    "StatisticFactory",
    "WithReplacement",
    "adds_rows",
    "check_factory",
    "choose_statistic",
    "in_memory",
    "is_statistic",
    "make_statistic",
    "plan_for",
    "require_rows",
    "summarize",
    "summarize_all",
    "summarize_blocks",
    "summarize_prepared",
    "with_accuracy",
    "with_row_moments",
]
