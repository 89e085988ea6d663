"""Statistics: what is computed on each block."""

from btests.statistics.driver import measured, summarize, summarize_family
from btests.statistics.mmd import MMD
from btests.statistics.multi_kernel import Family
from btests.statistics.row_moments import with_row_moments
from btests.statistics.tiled_gram import Gram

__all__ = [
    "MMD",
    "Family",
    "Gram",
    "measured",
    "summarize",
    "summarize_family",
    "with_row_moments",
]
