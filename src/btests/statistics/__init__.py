"""Statistics: what is computed on each block."""

from btests.statistics.mmd import MMD
from btests.statistics.sample import Sample

__all__ = ["MMD", "Sample"]
