"""Statistics: what is computed on each block."""

from btests.statistics.family import Family
from btests.statistics.mapping import measured, summarize, summarize_family
from btests.statistics.mmd import MMD
from btests.statistics.moments import with_moments
from btests.statistics.sample import AnySample, Sample
from btests.statistics.stored import Stored
from btests.statistics.watching import watched_by
from btests.statistics.whole import Gram

__all__ = [
    "MMD",
    "AnySample",
    "Family",
    "Gram",
    "Sample",
    "Stored",
    "measured",
    "summarize",
    "summarize_family",
    "watched_by",
    "with_moments",
]
