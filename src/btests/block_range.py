"""A range of blocks of a plan, as statistics compute them: nodes of the tree, threads, instruction set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from btests.pairwise_sum import add_up, cover, starts
from btests.plan import Array, Index, Plan, Run

# A range of blocks is cut into at least this many nodes if it has as many blocks: threads share out the nodes.
_NODES = 16


@dataclass(frozen=True, slots=True, eq=False)
class BlockRange:
    """Blocks ``first .. last - 1`` of a plan, and the nodes of the binary tree over block numbers that cover them.

    Attributes
    ----------
    plan : Plan
        Sizes of all blocks.
    first, last : int
        First block, and one after the last.
    nodes : ndarray of shape (q, 2)
        Level and place of each node.
    n_threads : int or None
        Threads of the compiled loops; None for all cores.
    goes_on : bool
        Whether the number of blocks of the plan is not final, as in streams.
    instructions : str, optional
        Instruction set of the compiled loops; None for the best of this machine.
    """

    plan: Plan
    first: int
    last: int
    nodes: Index
    n_threads: int | None = 1
    goes_on: bool = False
    instructions: str | None = None

    @classmethod
    def of(
        cls,
        plan: Plan,
        numbers: tuple[int, int] | None = None,
        n_threads: int | None = 1,
        *,
        goes_on: bool = False,
        instructions: str | None = None,
    ) -> BlockRange:
        """Return blocks ``numbers[0] .. numbers[1] - 1``, or all, with the fewest nodes that threads can share."""
        first, last = (0, plan.n_blocks) if numbers is None else numbers
        top = plan.stratum_level
        if last - first < plan.n_blocks:
            top = min(top, max(0, ((last - first) // _NODES).bit_length() - 1))
        nodes = cover(first, last, plan.n_blocks + goes_on, top)
        return cls(plan, first, last, nodes, n_threads, goes_on, instructions)

    @property
    def numbers(self) -> range:
        """Numbers of the blocks."""
        return range(self.first, self.last)

    @property
    def n_blocks(self) -> int:
        """Number of blocks in the range, m."""
        return self.last - self.first

    @property
    def n_nodes(self) -> int:
        """Number of nodes, q."""
        return len(self.nodes)

    @property
    def edges(self) -> Index:
        """First block of each node, and the end of the range: (q + 1,)."""
        return np.append(starts(self.nodes), self.last)

    def runs(self) -> Iterator[Run]:
        """Yield the blocks as runs of one shape."""
        return self.plan.runs(self.first, self.last)

    def sum_nodes(self, moments: Array) -> Array:
        """Return the sum of moments over the blocks of each node, as the tree has it: (m, *shape) to (q, *shape)."""
        return np.stack([add_up(moments[a:b]) for a, b in pairwise((self.edges - self.first).tolist())])
