"""Tallies: summaries of blocks for one kernel or a family, to add, keep and conclude from."""

from btests.tally.value import Tally, conclude

__all__ = ["Tally", "conclude"]
