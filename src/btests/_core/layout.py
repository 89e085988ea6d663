"""The choice between the layouts of README.md that depends on the plan."""

from __future__ import annotations

from btests._core.constants import DIRECT_COORDINATES
from btests.plan import Plan

# The packed rows of a vector of blocks take no more than 8 MiB (in float64, with 8 lanes).
_PACKED_COORDINATES = 2**16

# Distances are a smaller part of the work on a family of kernels, and the rest of it is faster with ManyBlocks.
_DIRECT_FAMILY_COORDINATES = 512


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
