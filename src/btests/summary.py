"""What blocks leave behind: a small value that adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from btests import pairwise_sum
from btests.plan import MOMENT_BUDGET, MOST_SHARES, Array, Index, Plan

_EPS = float(np.finfo(np.float64).eps)

#: A kernel whose values are not that much more than what they are known to has nothing to say.
MIN_SNR = 1e3

#: Intervals are from the values of the blocks where there are at least this many, and from groups of rows or single
#: rows otherwise: variance and skewness of fewer values are poor estimates.
ENOUGH_BLOCKS = 40


@dataclass(frozen=True, slots=True)
class Part:
    """Values and cores of some blocks of one plan.

    Attributes
    ----------
    number
        Which part of all data the plan is for; 0 where there is only one.
    blocks
        How the rows of this part are dealt, the blocks that are still missing included.
    spans
        The blocks that are here, as stretches ``first .. last - 1``, increasing and apart: (s, 2).
    values
        The unbiased MMD^2 of each of them, in the order of the blocks: (m,).
    nodes
        The nodes of the tree over the blocks that have been summed, level and place: (q, 2).
    cores
        For each node the sum over its blocks of the part of the block values that lies between groups u and v, zero for
        u = v: (q, k, k). Swapping x and y in group u flips the sign of row and column u, which is all that a sign flip
        needs. k is the number of groups; one more, for what never swaps, where the samples differ in length.
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


class RowMoments(NamedTuple):
    """Variance and third cumulant of one block value, estimated from rows.

    Attributes
    ----------
    unit
        Of block values, whose powers the other moments are in: squares of tiny numbers vanish.
    variance
        Variance of the value of one block.
    linear
        Part of its third cumulant that is due to the skewness of the projections.
    interaction
        Part of its third cumulant that is due to pairs of rows.
    degrees
        Degrees of freedom of ``variance``.
    """

    unit: float
    variance: float
    linear: float
    interaction: float
    degrees: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Block values and folded cores, as far as they are known; ``a + b`` joins those of different blocks.

    Adding puts values side by side in the order of their numbers, and sums cores along a fixed tree. So the result does
    not depend, to the last bit, on how the blocks were chunked, ordered or spread over workers.

    Attributes
    ----------
    parts
        The blocks of one plan, or of several whose blocks have the same size, by the number of the part.
    typical
        The typical size of a kernel value, 0 where nobody has asked.
    grain
        What kernel values are known to, however small they are; 0 where they are known to a rounding of themselves.
    moments
        Function that estimates the moments of a block value from some rows, for intervals; None where groups of rows
        or values of blocks serve. Not kept by sums and in files.
    blocks
        The plan of all parts together.
    values
        The unbiased MMD^2 of each block: (m,).
    cores
        What sign flips need of each fold (see :class:`Part`): (f, k, k).
    """

    parts: tuple[Part, ...]
    kernel_scale: float = 0.0
    abs_error: float = 0.0
    row_moments: Callable[[], RowMoments] | None = None
    plan: Plan = field(init=False)
    values: Array = field(init=False)
    moments: Array = field(init=False)

    def __post_init__(self) -> None:
        one = self.parts[0]
        plan, values, moments = one.plan, one.values, one.moments
        if len(self.parts) > 1:
            plans = [part.plan for part in self.parts]
            plan = replace(
                one.plan,
                n_x=sum(plan.n_x for plan in plans),
                n_y=sum(plan.n_y for plan in plans),
                n_blocks=sum(plan.n_blocks for plan in plans),
            )
            values = np.concatenate([part.values for part in self.parts])
            moments = _within_budget(np.concatenate([part.moments for part in self.parts]), plan)
        for name, value in (("plan", plan), ("values", values), ("moments", moments)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, plan: Plan, values: Array, moments: Array, kernel_scale: float = 0.0) -> Summary:
        """Return the summary of all blocks of a plan from their values (m,) and the cores of its folds (f, k, k)."""
        spans = np.array([[0, plan.n_blocks]], dtype=np.int64)
        nodes = pairwise_sum.cover(0, plan.n_blocks, plan.n_blocks, plan.stratum_level)
        return cls((Part(0, plan, spans, values, nodes, moments),), kernel_scale)

    def __add__(self, other: Summary) -> Summary:
        """Return the summary of both sets of blocks."""
        if not isinstance(other, Summary):
            return NotImplemented
        return Summary.join([self, other])

    @classmethod
    def join(cls, summaries: Iterable[Summary]) -> Summary:
        """Return the summary of all blocks of ``summaries``, which may come in any order."""
        summaries = list(summaries)
        of: dict[int, list[Part]] = {}
        for summary in summaries:
            for part in summary.parts:
                of.setdefault(part.number, []).append(part)
        parts = tuple(Part.join(of[number]) for number in sorted(of))
        if len(parts) > 1:
            check_alike([part.plan for part in parts])
        return cls(
            parts, *(max(getattr(summary, name) for summary in summaries) for name in ("kernel_scale", "abs_error"))
        )

    @property
    def is_complete(self) -> bool:
        """Whether every block is here."""
        return all(part.is_complete for part in self.parts)

    @property
    def rounding(self) -> float:
        """By how much rounding may have moved the average of all block values, 0 where nobody has asked."""
        # Sums over the pairs of a block, in float64, are off by this much of a kernel value (measured; B up to 20,000).
        largest = max(self.plan.n_x, self.plan.n_y) / self.plan.n_blocks
        sums = _EPS * (4.0 + largest / 64.0) / math.sqrt(self.plan.n_blocks) * self.kernel_scale
        # A block averages over b (b - 1) / 2 pairs h, of four values each, whose errors are independent.
        b = self.plan.block_size
        return max(sums, self.abs_error * math.sqrt(8.0 / (b * (b - 1) * self.plan.n_blocks)))

    def deviation(self) -> float:
        """Return the standard deviation of the average block value over all sign flips."""
        unit = float(np.abs(self.moments).max(initial=0.0))
        if unit == 0.0 or not math.isfinite(unit):
            return 0.0
        return unit * math.sqrt(2.0 * float(np.sum((self.moments / unit) ** 2))) / self.plan.n_blocks

    def moving(self) -> float:
        """Return the part of the average block value that sign flips move."""
        return float(self.moments.sum()) / self.plan.n_blocks

    def flip_skewness(self) -> float:
        """Return the skewness of the average block value over all sign flips, ``8 tr C^3`` over the variance^1.5.

        0 for a kernel that no flip moves.
        """
        unit = float(np.abs(self.moments).max(initial=0.0))
        if unit == 0.0 or not math.isfinite(unit):
            return 0.0
        moments = self.moments / unit  # cubes of tiny kernels underflow
        third, variance = 8.0 * float(np.sum((moments @ moments) * moments)), 2.0 * float(np.sum(moments**2))
        return third / math.pow(variance, 1.5)

    def n_effective_pairs(self) -> float:
        """Return how many pairs of rows (or of groups) carry the statistic: k where k of them weigh as much as another.

        It is ``(sum C^2)^2 / sum C^4``: 1 where one outweighs all others, a third of all where they are normal.
        """
        unit = float(np.abs(self.moments).max(initial=0.0))
        if unit == 0.0 or not math.isfinite(unit):
            return 0.0
        squares = (self.moments / unit) ** 2
        return 0.5 * float(squares.sum()) ** 2 / float(np.sum(squares**2))  # each is there twice

    def resolved(self) -> Summary:
        """Return this summary, or zeros where its kernel sees nothing but values that are not known well enough."""
        return self if self.abs_error == 0.0 or self.deviation() > MIN_SNR * self.rounding else self.zeroed()

    def zeroed(self) -> Summary:
        """Return the summary of a kernel that sees nothing in these blocks: zeros."""
        return replace(
            self,
            row_moments=None if self.row_moments is None else _no_row_moments,
            parts=tuple(
                replace(part, values=np.zeros_like(part.values), moments=np.zeros_like(part.moments))
                for part in self.parts
            ),
        )

    def stratum_sizes(self) -> Array:
        """Return the number of blocks behind each of the cores of a complete summary: (f,)."""
        sizes = [np.diff(np.append(pairwise_sum.starts(part.nodes), part.plan.n_blocks)) for part in self.parts]
        joined = np.concatenate(sizes).astype(np.float64)
        return joined if len(self.parts) == 1 else _within_budget(joined, self.plan)

    def mean(self) -> float:
        """Return the average of the block values (Zaremba et al. 2013, eq. 4)."""
        return float(self.values.mean())

    def standard_deviation(self) -> float:
        """Return the sample standard deviation of the block values, of one block against the others."""
        return sample_sd(self.values)


def _no_row_moments() -> RowMoments:
    return RowMoments(0.0, 0.0, 0.0, 0.0, 1.0)


def check_alike(plans: list[Plan]) -> None:
    """Raise unless all blocks of several plans have the same size."""
    sizes = {(plan.n_x / plan.n_blocks, plan.n_y / plan.n_blocks, plan.n_kernels) for plan in plans}
    if len(sizes) > 1 or any(plan.n_x % plan.n_blocks or plan.n_y % plan.n_blocks for plan in plans):
        raise ValueError("summaries of blocks of different sizes do not add")


def _within_budget(moments: Array, plan: Plan) -> Array:
    """Add neighbours until the folds of many parts are as few as those of one may be: (f, ...)."""
    most = max(1, MOMENT_BUDGET // min(plan.n_kernels, MOST_SHARES) // plan.moment_size**2)
    while len(moments) > most:
        whole = len(moments) // 2 * 2
        moments = np.concatenate([moments[0:whole:2] + moments[1:whole:2], moments[whole:]])
    return moments


def sample_sd(values: Array) -> float:
    """Return the sample standard deviation: (m,) to a number, NaN for one value alone."""
    if values.size < 2:
        return float("nan")
    # From the first value: the mean of equal numbers may be rounded apart from them.
    deviations = values - values[0]
    deviations -= deviations.mean()
    # Squares of numbers beyond 1e154 overflow, and below 1e-154 vanish: measure in units of the largest.
    unit = float(np.abs(deviations).max())
    return 0.0 if unit == 0.0 else unit * float(np.sqrt(np.sum((deviations / unit) ** 2) / (values.size - 1)))
