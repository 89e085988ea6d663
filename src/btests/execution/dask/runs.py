"""Runs on a cluster: blocks of rows that are collected from shards, or sums over rows (see `sum_run`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.data.row_permutation import put
from btests.data.sample import Location, RowSlice
from btests.data.source import Rows
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.row_ranges import MEMORY_RATIO
from btests.execution.dask.shard import Shard, concatenated
from btests.execution.dask.sharded_sample import ShardedSample
from btests.execution.dask.sum_run import Chunk, OrderedRows, SumRun
from btests.execution.dask.tasks import FAN_IN, N_PENDING, TaskBatches, Work
from btests.execution.out_of_core import Done, Found, chunks
from btests.execution.out_of_core_sample import OutOfCoreSample, divided, row_bytes
from btests.plan import Array, Plan
from btests.statistics import Statistic, adds_rows, summarize_blocks
from btests.summary import Summary

# Prefix of keys that dask's scheduler takes for short tasks and does not move between workers. One that is moved takes
# all shards of its worker along: without this name workers grew by 49 partitions, and not 12, in
# tests/dask/test_memory.py.
_PIECES = "split-shuffle"

#: Places of some rows, (m,), and the rows, (m, width).
Piece = tuple[Any, Rows]


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
        n_tasks = N_PENDING * self.cluster.n_threads
        size = max(1, min(FAN_IN, len(todo) // n_tasks))
        batches = [todo[i : i + size] for i in range(0, len(todo), size)]
        work = Work(self.cluster, self._submit_all, self._renew, halves, self._refusal)
        run = TaskBatches(work, "btests_join", join, math.ceil(n_tasks / size))
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
        sides = OrderedRows.of(x, of_x.permuted.order, y), OrderedRows.of(y, of_y.permuted.order, x)
        return SumRun(of_x.cluster, statistic, sides, (of_x.source, of_y.source), plan).summaries(done)
    for sample in (of_x, of_y):
        sample.move()
    return BlockRun(statistic, x, y, plan).summaries(done)


def _sharded(sample: OutOfCoreSample) -> ShardedSample:
    found = sample.permuted
    assert isinstance(found, ShardedSample), "both samples are on the cluster, or none"
    return found
