"""Symmetries: groups of rearrangements of the rows that leave the null hypothesis as it is."""

from btests.symmetries.redraw import Redraw
from btests.symmetries.swap_groups import SignDraws, SwapGroups
from btests.symmetries.swap_tuples import SwapTuples
from btests.symmetries.symmetry import Draws, Symmetry

__all__ = ["Draws", "Redraw", "SignDraws", "SwapGroups", "SwapTuples", "Symmetry"]
