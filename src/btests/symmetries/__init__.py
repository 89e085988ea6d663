"""Symmetries: groups of rearrangements of the rows that leave the null hypothesis as it is."""

from btests.symmetries.protocol import Draws, Symmetry
from btests.symmetries.swap_groups import SignDraws, SwapGroups

__all__ = ["Draws", "SignDraws", "SwapGroups", "Symmetry"]
