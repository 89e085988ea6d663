"""Comparison of two tables with columns of mixed types."""

from btests.comparison.api import compare
from btests.comparison.results import Comparison

__all__ = ["Comparison", "compare"]
