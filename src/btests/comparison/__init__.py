"""Tables of mixed columns: whether two of them differ, how much, and where."""

from btests.comparison.api import Comparison, compare

__all__ = ["Comparison", "compare"]
