"""Sums over rows on a cluster: one task for each range of stored rows, and only sums come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from btests import pairwise_sum
from btests.data.row_permutation import Order
from btests.data.sample import Location, RowSlice
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.futures import failure, is_lost_worker, outcome, release, submitting, wait
from btests.execution.dask.range_tasks import RangeTasks, SharedValue
from btests.execution.dask.row_ranges import MEMORY_RATIO, RangeReader, RowRange
from btests.execution.out_of_core import Done, Found, OutOfCoreSample, divided
from btests.plan import Array, Plan
from btests.statistics import Statistic
from btests.summary import Summary
from btests.summary_part import Part

#: Maximum number of sums that are added by one task.
FAN_IN = 8

# Batches of all ranges at most, whose sums are fetched one by one for checkpoints and progress, and ranges for each
# thread in a batch at least, so that no thread is idle for long at its end.
_BATCHES, _RANGES = 32, 4

# Batches that are submitted at a time: one is computed while the next is added up.
_PENDING = 2

# Attempts to add the sums of a batch while workers are lost.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Side:
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
    def of(cls, sample: OutOfCoreSample, order: Order, other: OutOfCoreSample) -> Side:
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
    sides: tuple[Side, Side]
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


@dataclass(slots=True)
class _Leaf:
    """Range of rows of x (side 0) or y, and the future of its sums."""

    side: int
    rows: RowRange
    future: Any = None


@dataclass(slots=True)
class _Batch:
    """Blocks ``first .. last - 1``, the ranges that have their rows, and the future of the sum over all of them."""

    chunk: tuple[int, int]
    leaves: list[_Leaf]
    added: list[Any] = field(default_factory=list)
    total: Any = None
    attempts: int = 0

    def release(self) -> None:
        """Release all futures."""
        release([*(leaf.future for leaf in self.leaves if leaf.future is not None), *self.added])


@dataclass(frozen=True, slots=True)
class SumRun:
    """All rows of two samples, for one statistic whose moments are sums over rows, on a cluster."""

    cluster: Cluster
    statistic: Statistic
    sides: tuple[Side, Side]
    tasks: tuple[RangeTasks, RangeTasks]
    plan: Plan
    _shared: list[SharedValue] = field(default_factory=list, repr=False)

    def run(self, done: Done) -> Found:
        """Yield numbers of rows and the summaries of their blocks, as they are computed."""
        pending: list[_Batch] = []
        with submitting(self.cluster):
            try:
                self._shared.append(SharedValue(self.cluster, "btests_task", self._task()))
                yield from self._run(done, pending)
            finally:  # an error, or the caller has closed this generator
                for batch in pending:
                    batch.release()
                for shared in self._shared:
                    shared.release()

    def _task(self) -> SumTask:
        step = self.cluster.sizes.chunk
        if self.cluster.memory:
            step = min(step, self.cluster.memory // MEMORY_RATIO)
        n_rows = step // max(tasks.row_bytes for tasks in self.tasks) + 1
        return SumTask(self.statistic, self.plan, self.sides, self.cluster.instructions, n_rows)

    def _run(self, done: Done, pending: list[_Batch]) -> Found:
        todo = deque(self._batches(done))
        while todo or pending:
            while todo and len(pending) < _PENDING:
                pending.append(todo.popleft())
                self._submit(pending[-1], pending[-1].leaves)
            wait(self.cluster, [batch.total for batch in pending], first=True)
            for batch in [batch for batch in pending if batch.total.status != "pending"]:
                found, error = outcome(self.cluster, [batch.total])
                if error is not None:
                    self._recover(batch, error)
                    continue
                pending.remove(batch)
                batch.release()
                yield self._n_rows(batch.chunk), self._summaries(batch.chunk, found[0])

    def _batches(self, done: Done) -> list[_Batch]:
        """Return ranges of blocks that are not done, with the ranges of rows that have them."""
        ranges = [tasks.ranges(in_steps=True) for tasks in self.tasks]
        n, whole = self.plan.n_blocks, all(side.is_whole for side in self.sides)
        n_batches = min(n, _BATCHES, sum(map(len, ranges)) // (_RANGES * self.cluster.n_threads)) if whole else 1
        edges = [n * i // max(1, n_batches) for i in range(max(1, n_batches) + 1)]
        chunks = [left for first, last in pairwise(edges) for left in done.left_of(first, last)]
        found = []
        for chunk in chunks:
            leaves = []
            for side, own in enumerate(ranges):
                span = self._span(chunk, side) if whole else (0, self.tasks[side].source.n_rows)
                leaves += [_Leaf(side, part) for rows in own if (part := rows.within(*span)) is not None]
            found.append(_Batch(chunk, leaves))
        return found

    def _span(self, chunk: tuple[int, int], side: int) -> tuple[int, int]:
        return self.plan.start(chunk[0])[side], self.plan.start(chunk[1])[side]

    def _n_rows(self, chunk: tuple[int, int]) -> int:
        return sum(last - first for first, last in (self._span(chunk, side) for side in (0, 1)))

    def _submit(self, batch: _Batch, leaves: Sequence[_Leaf]) -> None:
        """Submit some ranges of a batch, and the tree of tasks that adds the sums of all of them."""
        for side, tasks in enumerate(self.tasks):
            own = [leaf for leaf in leaves if leaf.side == side]
            arguments = [self._arguments(batch, side)] * len(own)
            futures = tasks.submit("btests_sums", sum_rows, [leaf.rows for leaf in own], arguments)
            for leaf, future in zip(own, futures, strict=True):
                leaf.future = future
        release(batch.added)
        batch.added, level = [], [leaf.future for leaf in batch.leaves]
        while len(level) > 1:
            level = [
                self.cluster.submit("btests_add", add, level[i : i + FAN_IN], priority=1)
                for i in range(0, len(level), FAN_IN)
            ]
            batch.added += level
        batch.total = level[0]

    def _recover(self, batch: _Batch, error: Exception) -> None:
        """Submit the ranges of a failed batch again whose workers were lost, one by one, and then smaller ones."""
        if not is_lost_worker(error):
            raise error
        batch.attempts += 1
        wait(self.cluster, [leaf.future for leaf in batch.leaves])
        for leaf in list(batch.leaves):
            own = failure(self.cluster, leaf.future)
            if own is not None and not is_lost_worker(own):
                raise own
            if own is not None:
                i = batch.leaves.index(leaf)
                release([leaf.future])
                batch.leaves[i : i + 1] = self._retried(batch, leaf)
        if batch.attempts == _ATTEMPTS:
            raise ClusterError(
                f"workers were lost, {_ATTEMPTS} times, while adding sums, and a worker may take {self.cluster.limit}; "
                "give workers more"
            )
        self._submit(batch, [])

    def _retried(self, batch: _Batch, leaf: _Leaf) -> list[_Leaf]:
        def arguments(rows: RowRange) -> tuple[Any, ...]:
            self._shared[0].renew()
            return self._arguments(batch, leaf.side)

        found = self.tasks[leaf.side].retry("btests_sums", sum_rows, leaf.rows, arguments)
        return [_Leaf(leaf.side, rows, future) for rows, future in found]

    def _arguments(self, batch: _Batch, side: int) -> tuple[Any, ...]:
        return self._shared[0].future, side, self._span(batch.chunk, side)

    def _summaries(self, chunk: tuple[int, int], sums: Array) -> tuple[Summary, ...]:
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
