"""Sums over rows on a cluster, where the rows are stored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from btests import pairwise_sum
from btests.data.row_permutation import Order
from btests.data.sample import Location, RowSlice
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.futures import submitting
from btests.execution.dask.row_ranges import MEMORY_RATIO, RangeReader, RemoteSource, RowRange
from btests.execution.dask.tasks import N_PENDING, SharedValue, TaskBatches, Work
from btests.execution.out_of_core import Done, Found
from btests.execution.out_of_core_sample import OutOfCoreSample, divided
from btests.pairwise_sum import Part
from btests.plan import Array, Plan
from btests.statistics import Statistic
from btests.summary import Summary

# Batches of all ranges at most, whose sums are fetched one by one for checkpoints and progress, and ranges for each
# thread in a batch at least, so that no thread is idle for long at its end.
_BATCHES, _RANGES = 32, 4

#: Blocks ``first .. last - 1``.
Chunk = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OrderedRows:
    """Rows of a sample and their order, for tasks on some of its rows.

    Attributes
    ----------
    order : Order
        Order of all rows of the source.
    begin, end : int
        Positions of the sample in that order.
    scales : array (width,), optional
        Divisors of the columns.
    location : Location
        Location and scale of the sample.
    widened : bool
        Whether rows are converted to float64.
    """

    order: Order
    begin: int
    end: int
    scales: Array | None
    location: Location
    widened: bool

    @classmethod
    def of(cls, sample: OutOfCoreSample, order: Order, other: OutOfCoreSample) -> OrderedRows:
        """Return a sample, whose source has an order, beside the other one: rows of both are of one type."""
        widened = sample.permuted.dtype != other.permuted.dtype
        return cls(order, sample.begin, sample.end, sample.scales, sample.location, widened)

    @property
    def is_whole(self) -> bool:
        """Whether the sample has all rows of its source, which are then counted as they are stored."""
        return self.begin == 0 and self.end == self.order.n

    def chosen(self, first: int, rows: Any, span: tuple[int, int]) -> RowSlice:
        """Return those of the rows from number ``first`` on that a span of the sample has, with their positions."""
        numbers = np.arange(first, first + len(rows), dtype=np.int64)
        if self.is_whole:
            a, b = np.searchsorted(numbers, span).tolist()
            positions, rows = self.order.positions(numbers[a:b]), rows[a:b]
        else:
            positions = self.order.positions(numbers) - self.begin
            here = (span[0] <= positions) & (positions < span[1])
            positions, rows = positions[here], rows[here]
        rows = rows.astype(np.float64) if self.widened else rows
        return RowSlice(np.ascontiguousarray(divided(rows, self.scales)), 0, self.location, positions)


@dataclass(frozen=True, slots=True)
class SumTask:
    """Statistic, plan and samples of all ranges; rows are read so many at a time."""

    statistic: Any
    plan: Plan
    sides: tuple[OrderedRows, OrderedRows]
    instructions: str
    step: int


def sum_rows(rows: RangeReader, task: SumTask, side: int, span: tuple[int, int]) -> Array:
    """Return the sums over those rows of a range that a span of a sample has, on one thread."""
    total: Array | None = None
    for first, some in rows.steps(task.step):
        chosen = task.sides[side].chosen(first, some, span)
        sums = task.statistic.side_sums(chosen, (0, len(chosen)), task.plan, side, instructions=task.instructions)
        total = sums if total is None else total + sums
    assert total is not None, "there is a step even without rows"
    return total


def add(sums: Sequence[Array]) -> Array:
    """Return the sum of arrays. It is exact, so their order does not matter."""
    total = sums[0].copy()
    for other in sums[1:]:
        total += other
    return total


@dataclass(frozen=True, slots=True)
class SideRange:
    """Range of rows of x (side 0) or y that has rows of the blocks of a chunk."""

    chunk: Chunk
    side: int
    rows: RowRange

    def halves(self) -> tuple[SideRange, SideRange] | None:
        """Return both halves; None for a range that is not divided."""
        found = self.rows.halves()
        return found and (replace(self, rows=found[0]), replace(self, rows=found[1]))


@dataclass(frozen=True, slots=True)
class SumRun:
    """All rows of two samples, for one statistic whose moments are sums over rows, on a cluster."""

    cluster: Cluster
    statistic: Statistic
    sides: tuple[OrderedRows, OrderedRows]
    sources: tuple[RemoteSource, RemoteSource]
    plan: Plan

    def summaries(self, done: Done) -> Found:
        """Yield numbers of rows and the summaries of their blocks, as they are computed."""
        with submitting(self.cluster), closing(SharedValue(self.cluster, "btests_task", self._task())) as task:
            submit, renew = partial(self._submit, task), partial(self._renew, task)
            work = Work(self.cluster, submit, renew, SideRange.halves, self._refusal)
            with closing(TaskBatches(work, "btests_add", add, N_PENDING).results(self._batches(done))) as results:
                for items, sums in results:
                    spans = [self._span(items[0].chunk, side) for side in (0, 1)]
                    yield sum(last - first for first, last in spans), self._of_chunk(items[0].chunk, sums)

    def _task(self) -> SumTask:
        step = self.cluster.sizes.chunk
        if self.cluster.memory:
            step = min(step, self.cluster.memory // MEMORY_RATIO)
        n_rows = step // max(source.row_bytes for source in self.sources) + 1
        return SumTask(self.statistic, self.plan, self.sides, self.cluster.instructions, n_rows)

    def _batches(self, done: Done) -> list[list[SideRange]]:
        """Return chunks of the blocks that are not done, as the ranges of rows that have them."""
        ranges = [source.ranges(in_steps=True) for source in self.sources]
        n, whole = self.plan.n_blocks, all(side.is_whole for side in self.sides)
        n_batches = min(n, _BATCHES, sum(map(len, ranges)) // (_RANGES * self.cluster.n_threads)) if whole else 1
        edges = [n * i // max(1, n_batches) for i in range(max(1, n_batches) + 1)]
        found = []
        for chunk in [left for first, last in pairwise(edges) for left in done.left_of(first, last)]:
            items = []
            for side, own in enumerate(ranges):
                span = self._span(chunk, side) if whole else (0, self.sources[side].source.n_rows)
                items += [SideRange(chunk, side, part) for rows in own if (part := rows.within(*span)) is not None]
            found.append(items)
        return found

    def _span(self, chunk: Chunk, side: int) -> tuple[int, int]:
        return self.plan.start(chunk[0])[side], self.plan.start(chunk[1])[side]

    def _submit(self, task: SharedValue, items: Sequence[SideRange]) -> list[Any]:
        found: dict[SideRange, Any] = {}
        for side, source in enumerate(self.sources):
            own = [item for item in items if item.side == side]
            arguments = [(task.future, side, self._span(item.chunk, side)) for item in own]
            futures = source.submit("btests_sums", sum_rows, [item.rows for item in own], arguments)
            found |= zip(own, futures, strict=True)
        return [found[item] for item in items]

    def _renew(self, task: SharedValue) -> None:
        task.renew()
        for source in self.sources:
            source.renew()

    def _refusal(self, item: SideRange) -> ClusterError:
        return self.sources[item.side].refusal(item.rows)

    def _of_chunk(self, chunk: Chunk, sums: Array) -> tuple[Summary, ...]:
        """Return the summary of some blocks for each level of the sums (groups, levels, 2 f).

        Only the total of all blocks counts, and it is exact: the first node of the tree has the sum over all.
        """
        nodes = pairwise_sum.cover(*chunk, self.plan.n_blocks, self.plan.stratum_level)
        span, values = np.array([chunk], dtype=np.int64), np.zeros(chunk[1] - chunk[0])
        found = []
        for level in range(sums.shape[1]):
            moments = np.zeros((len(nodes), *sums[:, level].shape))
            moments[0] = sums[:, level]
            part = Part(0, self.plan, span, values, nodes, moments)
            found.append(Summary((part,), symmetry=self.statistic.symmetry))
        return tuple(found)
