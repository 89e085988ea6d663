"""Parts of all blocks, and sums of moments along one binary tree: they come out the same however blocks are cut.

Addition of floats is not associative. So the sum over the blocks of a node is always the sum of its two halves: a node
of level 0 is a block, and node ``place`` of level ``l`` holds blocks ``place 2^l .. (place + 1) 2^l - 1``, as many of
them as there are. The sum of two halves is the same to the last bit wherever it is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from btests.plan import Array, Index, Plan


@lru_cache(64)
def cover(first: int, last: int, n_blocks: int, top: int) -> Index:
    """Return the fewest nodes of level ``top`` at most that hold blocks ``first .. last - 1``: (q, 2), level and place.

    A node at the end of all ``n_blocks`` blocks may be short of some. The array is shared, and not to be written to.
    """
    nodes = _cover(first, last, n_blocks, top)
    nodes.setflags(write=False)
    return nodes


def _cover(first: int, last: int, n_blocks: int, top: int) -> Index:
    head, tail = [], []
    while first < last and first & ((1 << top) - 1):
        level = (first & -first).bit_length() - 1
        while first + (1 << level) > last and last < n_blocks:
            level -= 1
        head.append((level, first >> level))
        first = min(first + (1 << level), last)
    if first >= last:
        return np.array(head, dtype=np.int64).reshape(-1, 2)
    end = last if last < n_blocks else -(-last >> top) << top
    middle = np.arange(first >> top, end >> top, dtype=np.int64)
    first = end >> top << top
    while first < end:
        level = (end - first).bit_length() - 1
        tail.append((level, first >> level))
        first += 1 << level
    nodes = [np.array(part, dtype=np.int64).reshape(-1, 2) for part in (head, tail)]
    return np.concatenate([nodes[0], np.stack([np.full_like(middle, top), middle], axis=1), nodes[1]])


def starts(nodes: Index) -> Index:
    """Return the first block of each node: (q, 2) to (q,)."""
    return np.asarray(nodes[:, 1] << nodes[:, 0])


def merge(nodes: Index, moments: Array, n_blocks: int, top: int) -> tuple[Index, Array]:
    """Add halves to wholes up to level ``top``: nodes (q, 2) and moments (q, ...), in the order of blocks."""
    for level in range(int(nodes[:, 0].min(initial=top)), top):
        places = nodes[:, 1]
        here = nodes[:, 0] == level
        left = here & (places % 2 == 0)
        paired = left[:-1] & here[1:] & (places[1:] == places[:-1] + 1)
        # The right half of the last node may not exist: then the left one is all of it.
        alone = left & ((places + 1) << level >= n_blocks)
        firsts = np.flatnonzero(paired)
        if not firsts.size and not alone.any():
            continue
        nodes, moments = nodes.copy(), moments.copy()
        moments[firsts] += moments[firsts + 1]
        for risen in (firsts, np.flatnonzero(alone)):
            nodes[risen] = np.stack([nodes[risen, 0] + 1, nodes[risen, 1] // 2], axis=1)
        nodes, moments = np.delete(nodes, firsts + 1, axis=0), np.delete(moments, firsts + 1, axis=0)
    return nodes, moments


def add_up(moments: Array) -> Array:
    """Return the sum over the first axis, which begins at the first block of a node, as the tree has it: (m, ...)."""
    while len(moments) > 1:
        whole = len(moments) // 2 * 2
        moments = np.concatenate([moments[0:whole:2] + moments[1:whole:2], moments[whole:]])
    return np.asarray(moments[0])


@dataclass(frozen=True, slots=True)
class Part:
    """Values and moments of some blocks of one plan.

    Attributes
    ----------
    number : int
        Part of all data that the plan is for; 0 if there is only one.
    plan : Plan
        Layout of all blocks of this part, those still missing included.
    spans : ndarray
        Blocks that are present, as disjoint increasing ranges ``first .. last - 1``: (s, 2).
    values : ndarray
        Value of each present block, in the order of the blocks: (m,).
    nodes : ndarray
        Nodes of the summation tree that have been summed, level and place: (q, 2).
    moments : ndarray
        Sum of the moments of the blocks of each node, see :class:`btests.symmetries.Symmetry`: (q, *shape).
    """

    number: int
    plan: Plan
    spans: Index
    values: Array
    nodes: Index
    moments: Array

    @classmethod
    def join(cls, parts: Iterable[Part]) -> Part:
        """Return all blocks of ``parts``, which are of one plan and may come in any order."""
        found = [part for part in parts if part.values.size]
        one = found[0]
        if len(found) == 1 and len(one.spans) == 1:
            return one._grown()
        if any(part.plan != one.plan for part in found):
            raise ValueError(
                f"both summaries hold part {one.number}, of different blocks, and do not add; "
                "give every stream a part number of its own"
            )
        spans = np.concatenate([part.spans for part in found])
        pieces = [piece for part in found for piece in part._pieces()]
        order = np.argsort(spans[:, 0], kind="stable")
        spans = spans[order]
        if np.any(spans[1:, 0] < spans[:-1, 1]):
            raise ValueError("summaries that share a block do not add: it would count twice")
        values = np.concatenate([pieces[i] for i in order])
        first = np.flatnonzero(np.append(True, spans[1:, 0] > spans[:-1, 1]))  # the others touch the one before
        joined = np.stack([spans[first, 0], spans[np.append(first[1:] - 1, len(spans) - 1), 1]], axis=1)
        nodes = np.concatenate([part.nodes for part in found])
        places = np.argsort(starts(nodes), kind="stable")
        nodes, moments = nodes[places], np.concatenate([part.moments for part in found])[places]
        return replace(one, spans=joined, values=values, nodes=nodes, moments=moments)._grown()

    def _grown(self) -> Part:
        top = self.plan.stratum_level
        if np.all(self.nodes[:, 0] >= top):
            return self
        nodes, moments = merge(self.nodes, self.moments, self.plan.n_blocks, top)
        return replace(self, nodes=nodes, moments=moments)

    def _pieces(self) -> list[Array]:
        return np.split(self.values, np.cumsum(self.spans[:, 1] - self.spans[:, 0])[:-1])

    @property
    def is_complete(self) -> bool:
        """Whether every block is here."""
        return self.values.size == self.plan.n_blocks
