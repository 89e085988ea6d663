"""Comparison of two tables with columns of mixed types."""

from btests.comparison.compare_tables import compare
from btests.comparison.results import Comparison

__all__ = ["Comparison", "compare"]
