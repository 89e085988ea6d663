"""Statistics: what is computed on each block."""

from btests.statistics.family import Family
from btests.statistics.mapping import summarize, summarize_family
from btests.statistics.mmd import MMD
from btests.statistics.sample import Sample
from btests.statistics.whole import Gram

__all__ = ["MMD", "Family", "Gram", "Sample", "summarize", "summarize_family"]
