"""The blocks of a test on the workers of a cluster: some at a time, and what their workers died of again, smaller."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from btests.execution.dask.chunking import shard_bytes
from btests.execution.dask.errors import ClusterError
from btests.execution.dask.spread import Part, Spread, homes_of
from btests.execution.dask.tasks import Job, Stretch, join, pieces_of, summarize
from btests.execution.dask.value import Cluster
from btests.execution.dask.waiting import is_death, let_go, outcome, settle, talking
from btests.execution.out_of_core import Done, Found, Stored, chunks, row_bytes
from btests.plan import Plan
from btests.statistics import Statistic

#: So many summaries are put together on the workers before they come here, at most.
FAN_IN = 8

# Tasks for each thread that are on the way: one is computed while the rows of the next are gathered.
_AHEAD = 2

Shard = tuple[int, int]


@dataclass(slots=True)
class _Batch:
    """Shards whose summaries come back as one."""

    shards: list[Shard]
    futures: list[Any]
    joined: Any

    def let_go(self) -> None:
        """Have the cluster forget it."""
        let_go([*self.futures, self.joined])


@dataclass(frozen=True, slots=True)
class Round:
    """All blocks of one plan, for one family of kernels, on a cluster."""

    cluster: Cluster
    statistic: Statistic
    x: Stored
    y: Stored
    plan: Plan
    _alone: list[Shard] = field(default_factory=list, repr=False)  # to be tried with nobody beside them
    _tried: set[Shard] = field(default_factory=set, repr=False)

    def run(self, done: Done) -> Found:
        """Yield numbers of rows and the summaries of their blocks, as they come."""
        flying: list[_Batch] = []
        with talking(self.cluster):
            try:
                yield from self._run(done, flying)
            finally:  # an error, or whoever asked does not want the rest
                for batch in flying:
                    batch.let_go()

    def _run(self, done: Done, flying: list[_Batch]) -> Found:
        todo = deque(stretch for shard in self._shards() for stretch in done.left_of(*shard))
        n_threads = self.cluster.n_threads
        size = max(1, min(FAN_IN, len(todo) // (_AHEAD * n_threads)))
        n_batches = max(1, math.ceil(_AHEAD * n_threads / size))
        while todo or flying or self._alone:
            while todo and len(flying) < n_batches:
                flying.append(self._submitted([todo.popleft() for _ in range(min(size, len(todo)))]))
            if not flying:
                flying.append(self._submitted([self._alone.pop()]))
            settle(self.cluster, [batch.joined for batch in flying], one=True)
            for batch in [batch for batch in flying if batch.joined.status != "pending"]:
                found, error = outcome(self.cluster, [batch.joined])
                if error is None:
                    yield self._rows(batch.shards), found[0]
                else:
                    yield from self._saved(batch, todo)
                flying.remove(batch)
                batch.let_go()

    def _shards(self) -> list[Shard]:
        n_bytes = row_bytes(self.x, self.y)
        parts = [(part.span.last - part.span.first) for s in (self.x, self.y) for part in _spread(s).parts]
        total = max(len(self.x), len(self.y)) * n_bytes
        budget = shard_bytes(total, max(parts) * n_bytes // 2, self.cluster.n_threads, self.cluster.memory)
        return chunks(self.plan, n_bytes, budget, n_kernels=len(self.statistic.kernels))

    def _submitted(self, shards: list[Shard]) -> _Batch:
        homes = self._homes()
        futures = [self._shard(shard, homes) for shard in shards]
        if len(futures) == 1:
            return _Batch(shards, futures, futures[0])
        return _Batch(shards, futures, self.cluster.submit("join", join, futures, priority=2))

    def _shard(self, shard: Shard, homes: Sequence[tuple[str, tuple[list[Part], list[Part]]]]) -> Any:
        starts, ends = self.plan.start(shard[0]), self.plan.start(shard[1])
        stretches, ranges = [], []
        same = self.x.dealt.dtype == self.y.dealt.dtype
        for sample, start, end in zip((self.x, self.y), starts, ends, strict=True):
            dtype = sample.dealt.dtype if same else np.dtype(np.float64)
            stretches.append(Stretch(start, end - start, sample.width, dtype, sample.frame, sample.scales))
            ranges.append((sample.begin + start, sample.begin + end))
        pieces = []
        for home, of_both in homes:
            parts = [
                [part.future for part in own if _reaches(part, *wanted)]
                for own, wanted in zip(of_both, ranges, strict=True)
            ]
            if any(parts):
                pieces.append(self.cluster.submit("split-shuffle", pieces_of, parts, ranges, home=home))
        job, of = Job(self.statistic, self.plan, self.cluster.instructions), f"{shard[0]}-{shard[1]}"
        return self.cluster.submit("summarize", summarize, pieces, stretches, job, shard, of=of, priority=1)

    def _homes(self) -> list[tuple[str, tuple[list[Part], list[Part]]]]:
        """Return for each worker what it has of x and of y."""
        x, y = (homes_of(self.cluster, _spread(sample).parts) for sample in (self.x, self.y))
        return [(home, (x.get(home, []), y.get(home, []))) for home in {**x, **y}]

    def _rows(self, shards: list[Shard]) -> int:
        return sum(sum(self.plan.start(last)) - sum(self.plan.start(first)) for first, last in shards)

    def _saved(self, batch: _Batch, todo: deque[Shard]) -> Found:
        """Yield what came of a batch that failed, and put the rest of it back, in halves."""
        settle(self.cluster, batch.futures)
        for shard, future in zip(batch.shards, batch.futures, strict=True):
            found, error = outcome(self.cluster, [future])
            if error is None:
                yield self._rows([shard]), found[0]
                continue
            if not is_death(error):
                raise error
            first, last = shard
            if last - first > 1:
                middle = (first + last) // 2
                todo.extendleft([(middle, last), (first, middle)])
            elif shard not in self._tried:
                self._tried.add(shard)
                self._alone.append(shard)
            else:
                self._refuse()
        for sample in (self.x, self.y):  # parts that were lost with a worker, too often
            _spread(sample).settle()

    def _refuse(self) -> NoReturn:
        b_x, b_y = -(-self.plan.n_x // self.plan.n_blocks), -(-self.plan.n_y // self.plan.n_blocks)
        b = max(2, min(self.plan.block_size // 2, math.isqrt(self.cluster.memory // 288) or self.plan.block_size))
        raise ClusterError(
            f"workers died of a single block of {b_x} and {b_y} rows, and a worker may take {self.cluster.limit}; "
            f"take block_size={b} or less, or give workers more"
        )


def on_workers(statistic: Statistic, x: Stored, y: Stored, plan: Plan, done: Done, *, n_threads: int | None) -> Found:
    """Yield the summaries of all blocks from the workers that hold the rows, one thread for each of their tasks."""
    return Round(_spread(x).cluster, statistic, x, y, plan).run(done)


def _spread(sample: Stored) -> Spread:
    spread = sample.dealt
    assert isinstance(spread, Spread), "both samples are on the cluster, or none"
    return spread


def _reaches(part: Part, first: int, last: int) -> bool:
    return part.reach is None or (part.reach[0] < last and first < part.reach[1])
