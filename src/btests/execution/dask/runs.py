"""Runs on a cluster: blocks of rows that are collected from shards, and sums over rows where they are stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from btests import pairwise_sum
from btests.data.row_permutation import Order, put
from btests.data.sample import Location, RowSlice
from btests.data.source import Rows
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.row_ranges import MEMORY_RATIO, RangeReader, RemoteSource, RowRange
from btests.execution.dask.sharded_sample import Shard, ShardedSample, concatenated
from btests.execution.dask.tasks import FAN_IN, Batches, SharedValue, Work, submitting
from btests.execution.out_of_core import Done, Found, OutOfCoreSample, chunks, divided, row_bytes
from btests.plan import Array, Plan
from btests.statistics import Statistic, adds_rows, summarize_blocks
from btests.summary import Part, Summary

# Batches of all ranges at most, whose sums are fetched one by one for checkpoints and progress, and ranges for each
# thread in a batch at least, so that no thread is idle for long at its end.
_BATCHES, _RANGES = 32, 4

# Batches that are submitted at a time, and pending tasks for each thread: one is computed while the next is added up,
# or its rows are collected.
_PENDING = 2

# Prefix of keys that dask's scheduler takes for short tasks and does not move between workers. One that is moved takes
# all shards of its worker along: without this name workers grew by 49 partitions, and not 12, in
# tests/dask/test_memory.py.
_PIECES = "split-shuffle"

#: Places of some rows, (m,), and the rows, (m, width).
Piece = tuple[Any, Rows]

#: Blocks ``first .. last - 1``.
Chunk = tuple[int, int]


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
    sides: tuple[Side, Side]
    sources: tuple[RemoteSource, RemoteSource]
    plan: Plan

    def summaries(self, done: Done) -> Found:
        """Yield numbers of rows and the summaries of their blocks, as they are computed."""
        with submitting(self.cluster), closing(SharedValue(self.cluster, "btests_task", self._task())) as task:
            submit, renew = partial(self._submit, task), partial(self._renew, task)
            work = Work(self.cluster, submit, renew, SideRange.halves, self._refusal)
            with closing(Batches(work, "btests_add", add, _PENDING).results(self._batches(done))) as results:
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


@dataclass(frozen=True, slots=True)
class ChunkRows:
    """Rows of a sample that the blocks of a chunk need.

    Attributes
    ----------
    start, n_rows : int
        Position of the first in the sample, and their number.
    width : int
        Coordinates of a row.
    dtype : numpy.dtype
        Of the rows.
    location : Location
        Location and scale of the sample.
    scales : array (width,), optional
        Divisors of the columns.
    """

    start: int
    n_rows: int
    width: int
    dtype: np.dtype[Any]
    location: Location
    scales: Array | None = None

    def window(self, pieces: Sequence[Piece]) -> RowSlice:
        """Return the rows in their order from pieces of several workers."""
        if sum(len(places) for places, _ in pieces) != self.n_rows:
            raise AssertionError(f"a chunk of {self.n_rows} rows got another number of rows")
        rows = np.empty((self.n_rows, self.width), dtype=self.dtype)
        for places, piece in pieces:
            if len(places):
                put(np.ascontiguousarray(piece, dtype=self.dtype), places, rows)
        return RowSlice(divided(rows, self.scales), self.start, self.location)


@dataclass(frozen=True, slots=True)
class BlockTask:
    """Kernels, plan and instruction set of all chunks."""

    statistic: Statistic
    plan: Plan
    instructions: str


def collect_pieces(shards: Sequence[Sequence[Shard]], ranges: Sequence[tuple[int, int]]) -> list[Piece]:
    """Return the rows of a chunk that are in shards of x, and of y; places count from the first of each range."""
    found = []
    for own, (first, last) in zip(shards, ranges, strict=True):
        positions, rows = concatenated([shard.between(first, last) for shard in own])
        found.append(((positions - first).astype(np.uint32 if last - first < 2**32 else np.int64), rows))
    return found


def summarize_chunk(
    pieces: Sequence[Sequence[Piece]], rows: Sequence[ChunkRows], task: BlockTask, chunk: Chunk
) -> tuple[Summary, ...]:
    """Return the summary of a chunk for each kernel, on one thread: a worker runs as many tasks as it has threads."""
    x, y = (one.window([of_both[i] for of_both in pieces]) for i, one in enumerate(rows))
    return summarize_blocks(task.statistic, x, y, task.plan, chunk, instructions=task.instructions)


def join(found: Sequence[tuple[Summary, ...]]) -> tuple[Summary, ...]:
    """Return the summaries of several chunks as one for each kernel."""
    return tuple(Summary.join(of_one) for of_one in zip(*found, strict=True))


def halves(chunk: Chunk) -> tuple[Chunk, Chunk] | None:
    """Return both halves of a chunk; None for a single block."""
    first, last = chunk
    middle = (first + last) // 2
    return None if last - first == 1 else ((first, middle), (middle, last))


@dataclass(frozen=True, slots=True)
class BlockRun:
    """All blocks of one plan, for one family of kernels, on a cluster."""

    statistic: Statistic
    x: OutOfCoreSample
    y: OutOfCoreSample
    plan: Plan

    @property
    def cluster(self) -> Cluster:
        """Where they run."""
        return _sharded(self.x).cluster

    def summaries(self, done: Done) -> Found:
        """Yield numbers of rows and the summaries of their blocks, as they are computed."""
        todo = [missing for chunk in self._chunks() for missing in done.left_of(*chunk)]
        n_tasks = _PENDING * self.cluster.n_threads
        size = max(1, min(FAN_IN, len(todo) // n_tasks))
        batches = [todo[i : i + size] for i in range(0, len(todo), size)]
        work = Work(self.cluster, self._submit_all, self._renew, halves, self._refusal)
        run = Batches(work, "btests_join", join, math.ceil(n_tasks / size))
        with closing(run.results(batches)) as results:
            for items, found in results:
                yield sum(sum(self.plan.start(last)) - sum(self.plan.start(first)) for first, last in items), found

    def _chunks(self) -> list[Chunk]:
        bytes_per_pair, cluster, sizes = row_bytes(self.x, self.y), self.cluster, self.cluster.sizes
        largest = max(_sharded(sample).largest_shard for sample in (self.x, self.y)) * bytes_per_pair // 2
        most = max(largest, sizes.chunk)
        if cluster.memory:
            most = min(most, cluster.memory // MEMORY_RATIO)
        total = max(len(self.x), len(self.y)) * bytes_per_pair
        budget = max(1, min(most, max(sizes.least, total // (4 * cluster.n_threads))))
        return chunks(self.plan, bytes_per_pair, budget, n_kernels=len(self.statistic.kernels))

    def _submit_all(self, some: Sequence[Chunk]) -> list[Any]:
        x, y = (_sharded(sample).by_worker() for sample in (self.x, self.y))
        by_worker = [(home, (x.get(home, []), y.get(home, []))) for home in {**x, **y}]
        return [self._submit(chunk, by_worker) for chunk in some]

    def _renew(self) -> None:
        for sample in (self.x, self.y):
            _sharded(sample).settle()

    def _refusal(self, chunk: Chunk) -> ClusterError:
        b_x, b_y = -(-self.plan.n_x // self.plan.n_blocks), -(-self.plan.n_y // self.plan.n_blocks)
        b = max(2, min(self.plan.block_size // 2, math.isqrt(self.cluster.memory // 288) or self.plan.block_size))
        return ClusterError(
            f"workers were lost while computing a single block of {b_x} and {b_y} rows, and a worker may take "
            f"{self.cluster.limit}; take block_size={b} or less, or give workers more"
        )

    def _submit(self, chunk: Chunk, by_worker: Sequence[tuple[str, Sequence[list[Any]]]]) -> Any:
        starts, ends = self.plan.start(chunk[0]), self.plan.start(chunk[1])
        rows, ranges = [], []
        same = self.x.permuted.dtype == self.y.permuted.dtype
        for sample, start, end in zip((self.x, self.y), starts, ends, strict=True):
            dtype = sample.permuted.dtype if same else np.dtype(np.float64)
            rows.append(ChunkRows(start, end - start, sample.width, dtype, sample.location, sample.scales))
            ranges.append((sample.begin + start, sample.begin + end))
        pieces, samples = [], (_sharded(self.x), _sharded(self.y))
        for home, of_both in by_worker:
            shards = [
                [shard for shard in own if sample.may_hold(shard, *wanted)]
                for sample, own, wanted in zip(samples, of_both, ranges, strict=True)
            ]
            if any(shards):
                pieces.append(self.cluster.submit(_PIECES, collect_pieces, shards, ranges, home=home))
        task, of = BlockTask(self.statistic, self.plan, self.cluster.instructions), f"{chunk[0]}-{chunk[1]}"
        return self.cluster.submit("btests_summarize", summarize_chunk, pieces, rows, task, chunk, of=of, priority=1)


def on_workers(
    statistic: Statistic, x: OutOfCoreSample, y: OutOfCoreSample, plan: Plan, done: Done, *, n_threads: int | None
) -> Found:
    """Yield the summaries of all blocks, computed by workers, one thread for each task.

    Blocks need rows of many partitions, which are moved to shards first; sums over rows do not.
    """
    of_x, of_y = _sharded(x), _sharded(y)
    if adds_rows(statistic):
        sides = Side.of(x, of_x.permuted.order, y), Side.of(y, of_y.permuted.order, x)
        return SumRun(of_x.cluster, statistic, sides, (of_x.source, of_y.source), plan).summaries(done)
    for sample in (of_x, of_y):
        sample.move()
    return BlockRun(statistic, x, y, plan).summaries(done)


def _sharded(sample: OutOfCoreSample) -> ShardedSample:
    found = sample.permuted
    assert isinstance(found, ShardedSample), "both samples are on the cluster, or none"
    return found
