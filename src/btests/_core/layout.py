"""The choice between the layouts of README.md that depends on the plan."""

from __future__ import annotations

from btests._core.constants import DIRECT_COORDINATES, LARGE_BLOCK
from btests.plan import Plan

# The packed rows of a vector of blocks take no more than 8 MiB (in float64, with 8 lanes).
_PACKED_COORDINATES = 2**16

# Distances are a smaller part of the work on a family of kernels, and the rest of it is faster with ManyBlocks.
_DIRECT_FAMILY_COORDINATES = 512

# Blocks that fill the lanes of HSIC well, and rows of a block whose tuples fill them badly.
_ENOUGH_BLOCKS, _SMALL_BLOCK = 8, 96


def lanes_are_blocks(plan: Plan, d: int, n_terms: int = 1, *, endless: bool = False) -> bool:
    """Return whether a lane of a vector is a block (ManyBlocks), not a row of one block (LargeBlocks).

    Parameters
    ----------
    plan : Plan
        Sizes of all blocks.
    d : int
        Coordinates of a row.
    n_terms : int, default 1
        Kernels that are computed together.
    endless : bool, default False
        Whether the number of blocks is unknown, as in streams: then the answer depends on their shape alone.

    Notes
    -----
    The answer never depends on the chunk at hand, so that chunks cannot change a bit of the result.
    """
    enough = endless or plan.n_blocks >= (8 if plan.block_size <= 64 else 24)
    narrow = d <= (DIRECT_COORDINATES if n_terms == 1 else _DIRECT_FAMILY_COORDINATES)
    fits = narrow and plan.block_size * d <= _PACKED_COORDINATES
    return plan.paired and enough and (fits or plan.block_size <= 16)


def tuples_are_in_blocks(plan: Plan, d: int, *, endless: bool = False) -> bool:
    """Return whether a lane of a vector is a block in the loops of HSIC, not a tuple of one block.

    Parameters
    ----------
    plan : Plan
        Sizes of all blocks.
    d : int
        Coordinates of x and y together.
    endless : bool, default False
        As in `lanes_are_blocks`.

    Notes
    -----
    Vectors of tuples of one group have empty lanes at the end of the group, which matters in small blocks.
    """
    enough = endless or plan.n_blocks >= _ENOUGH_BLOCKS
    fits = d <= 2 * DIRECT_COORDINATES and plan.block_size * d <= _PACKED_COORDINATES
    return enough and plan.block_size < LARGE_BLOCK and (fits or plan.block_size <= _SMALL_BLOCK)
