"""Comparison of two tables, or of groups of rows of one, with columns of mixed types."""

from btests.comparison.compare_tables import compare
from btests.comparison.group_results import GroupComparison
from btests.comparison.results import Comparison

__all__ = ["Comparison", "GroupComparison", "compare"]
