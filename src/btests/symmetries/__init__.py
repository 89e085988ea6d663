"""Symmetries: groups of rearrangements of the rows that leave the null hypothesis as it is."""

from btests.symmetries.pooled_rows import landmark_rows, places_of, pooled_rows
from btests.symmetries.redraw import Redraw
from btests.symmetries.relabel_bins import Bins, RelabelBins
from btests.symmetries.swap_groups import SharedSwaps, SignDraws, SwapGroups
from btests.symmetries.swap_tuples import SwapTuples
from btests.symmetries.symmetry import Draws, Symmetry

__all__ = [
    "Bins",
    "Draws",
    "Redraw",
    "RelabelBins",
    "SharedSwaps",
    "SignDraws",
    "SwapGroups",
    "SwapTuples",
    "Symmetry",
    "landmark_rows",
    "places_of",
    "pooled_rows",
]
