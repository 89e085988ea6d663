"""Values and moments of some blocks of one plan, which summaries are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from btests import pairwise_sum
from btests.plan import MOMENT_BUDGET, MOST_SHARES, Array, Index, Plan


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
        places = np.argsort(pairwise_sum.starts(nodes), kind="stable")
        nodes, moments = nodes[places], np.concatenate([part.moments for part in found])[places]
        return replace(one, spans=joined, values=values, nodes=nodes, moments=moments)._grown()

    def _grown(self) -> Part:
        top = self.plan.stratum_level
        if np.all(self.nodes[:, 0] >= top):
            return self
        nodes, moments = pairwise_sum.merge(self.nodes, self.moments, self.plan.n_blocks, top)
        return replace(self, nodes=nodes, moments=moments)

    def _pieces(self) -> list[Array]:
        return np.split(self.values, np.cumsum(self.spans[:, 1] - self.spans[:, 0])[:-1])

    @property
    def is_complete(self) -> bool:
        """Whether every block is here."""
        return self.values.size == self.plan.n_blocks


def check_block_sizes(plans: list[Plan]) -> None:
    """Raise unless all blocks of several plans have the same size, or their moments are sums over rows."""
    if len({(plan.adds_rows, plan.moment_shape if plan.adds_rows else None) for plan in plans}) > 1:
        raise ValueError("summaries of blocks and of features do not add")
    if plans[0].adds_rows:
        return
    sizes = {(plan.n_x / plan.n_blocks, plan.n_y / plan.n_blocks, plan.n_kernels) for plan in plans}
    if len(sizes) > 1 or any(plan.n_x % plan.n_blocks or plan.n_y % plan.n_blocks for plan in plans):
        raise ValueError("summaries of blocks of different sizes do not add")


def within_budget(moments: Array, plan: Plan) -> Array:
    """Add neighbours until the strata of many parts are as few as those of one may be: (s, ...)."""
    most = max(1, MOMENT_BUDGET // min(plan.n_kernels, MOST_SHARES) // plan.moment_numbers)
    while len(moments) > most:
        whole = len(moments) // 2 * 2
        moments = np.concatenate([moments[0:whole:2] + moments[1:whole:2], moments[whole:]])
    return moments
