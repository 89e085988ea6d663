"""Sample on a cluster: its rows are where they are stored, or in shards on the disks of workers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests.data.permuted import PermutedRows, paths_of
from btests.data.row_permutation import Permuted
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.environment import path_exists
from btests.execution.dask.futures import failure, is_lost_worker, outcome, release, submitting, wait
from btests.execution.dask.range_tasks import RangeTasks
from btests.execution.dask.row_ranges import RowRange
from btests.execution.dask.row_sampling import rows_of_source
from btests.execution.dask.shards import RowPositions, extents, rows_at, write_shard
from btests.plan import Index

# Rows that are fetched at a time where a few are needed, from shards and from sources: callers that need the first need
# more, and units of a source are read as a whole for each of them.
_PREFETCH, _FROM_SOURCE = 512, 2048

# Rows whose positions are sent along with one graph, at 4 bytes each.
_POSITIONS = 2**20

# Attempts to fetch a few rows while workers are lost.
_ATTEMPTS = 3


@dataclass(slots=True)
class ShardFuture:
    """Rows of a sample and the future of the shard that holds them.

    ``extent`` is the first position of the shard and one more than its last, None if any position is possible.
    """

    rows: RowRange
    future: Any = None
    extent: tuple[int, int] | None = None

    def overlaps(self, first: int, last: int) -> bool:
        """Return whether the shard may hold positions in ``first .. last - 1``."""
        return self.extent is None or (self.extent[0] < last and first < self.extent[1])

    def holds_any(self, positions: Index) -> bool:
        """Return whether the shard may hold one of some increasing positions."""
        if self.extent is None:
            return True
        a, b = np.searchsorted(positions, self.extent)
        return bool(a < b)


@dataclass(frozen=True, slots=True, eq=False)
class ShardedSample:
    """Rows of a sample in permuted order on the workers of a cluster: in shards, for blocks, or as they are stored.

    Attributes
    ----------
    cluster : Cluster
        Where the rows are.
    permuted : PermutedRows
        The source, and the permutation of its rows.
    label : str
        x or y.
    shards : list of ShardFuture
        All shards, none before they are needed; one whose worker was lost is replaced.
    """

    cluster: Cluster
    permuted: PermutedRows
    label: str
    shards: list[ShardFuture] = field(default_factory=list, repr=False)
    tasks: RangeTasks = field(init=False, repr=False)
    _prefetched: dict[int, Rows] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", RangeTasks(self.cluster, self.permuted.source, self.label))

    @classmethod
    def submit(cls, cluster: Cluster, permuted: PermutedRows, label: str, *, moves_rows: bool = True) -> ShardedSample:
        """Return a sample; with ``moves_rows`` submit the tasks that read all of its rows into shards."""
        sample = cls(cluster, permuted, label)
        with submitting(cluster):
            _check_files(cluster, permuted.source)
        if moves_rows:
            sample.move()
        return sample

    def move(self) -> None:
        """Submit the tasks that read all rows into shards, unless they are there."""
        if self.shards:
            return
        with submitting(self.cluster):
            self.shards.extend(map(ShardFuture, self.tasks.ranges()))
            try:
                self._submit(self.shards)
            except BaseException:
                self.close()
                raise

    @property
    def how(self) -> str:
        """Kind of shuffle: ``"exact"``, ``"buffered"`` or ``"as stored"``."""
        return self.permuted.how

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return self.permuted.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.permuted.dtype

    @property
    def identity(self) -> str:
        """Text that differs for other rows or another order; it does not depend on the cluster."""
        return self.permuted.identity

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.permuted.n_rows

    def stored(self, first: int, last: int) -> None:
        """Return None: rows were moved to the workers that have their blocks."""
        return

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``, of which there are few: (last - first, width)."""
        return self.at(np.arange(first, last, dtype=np.int64))

    def at(self, positions: Index) -> Rows:
        """Return the rows at a few positions, in the order given: (m,) to (m, width)."""
        positions = np.asarray(positions, dtype=np.int64)
        first = int(positions[0]) if len(positions) else 0
        if np.any(positions != np.arange(first, first + len(positions))):
            return self._fetch(positions)
        if len(self._prefetched.get(first, ())) < len(positions):
            more = _PREFETCH if self.shards else _FROM_SOURCE
            end = min(len(self.permuted), first + max(more, len(positions)))
            self._prefetched[first] = self._fetch(np.arange(first, end, dtype=np.int64))
        return self._prefetched[first][: len(positions)]

    def close(self) -> None:
        """Release all shards, whose files are then removed."""
        release(shard.future for shard in self.shards)
        self.shards.clear()
        self.tasks.close()
        self._prefetched.clear()
        self.permuted.close()

    def settle(self) -> None:
        """Wait for all shards; those whose workers were lost are read again, alone or in smaller pieces."""
        self._wait()
        if self.how != "exact":
            for shards, found in self._map_workers("btests_extents", lambda shard: shard.extent is None, extents):
                for shard, extent in zip(shards, found, strict=True):
                    shard.extent = extent

    def by_worker(self, which: Callable[[ShardFuture], bool] = lambda shard: True) -> dict[str, list[ShardFuture]]:
        """Return shards by the address of the worker that holds them; under "" those that are pending."""
        shards = list(filter(which, self.shards))
        holders = self.cluster.scheduler.who_has([shard.future for shard in shards]) if shards else {}
        found: dict[str, list[ShardFuture]] = {}
        for shard in shards:
            addresses = holders.get(shard.future.key) or ("",)
            found.setdefault(min(addresses), []).append(shard)
        return found

    def _fetch(self, positions: Index) -> Rows:
        if not self.shards:
            return rows_of_source(self.tasks, self.permuted, positions)
        wanted, back = np.unique(positions, return_inverse=True)
        rows = np.empty((len(wanted), self.width), dtype=self.dtype)
        with submitting(self.cluster):
            self.settle()
            for _, (places, own) in self._map_workers(
                "btests_rows", lambda shard: shard.holds_any(wanted), rows_at, wanted
            ):
                rows[np.searchsorted(wanted, places)] = own
        return np.asarray(rows[back])

    def _wait(self) -> None:
        wait(self.cluster, [shard.future for shard in self.shards])
        for shard in list(self.shards):
            error = failure(self.cluster, shard.future)
            if error is None:
                continue
            if not is_lost_worker(error):
                raise error
            self._retry(shard)

    def _map_workers(
        self, prefix: str, which: Callable[[ShardFuture], bool], function: Any, *arguments: Any
    ) -> list[tuple[list[ShardFuture], Any]]:
        """Return for each worker those of its shards that are wanted, and what a function of them returns there."""
        for _ in range(_ATTEMPTS):
            by_worker = self.by_worker(which)
            tasks = [
                self.cluster.submit(prefix, function, *arguments, [shard.future for shard in shards], home=home)
                for home, shards in by_worker.items()
            ]
            try:
                found, error = outcome(self.cluster, tasks)
            finally:
                release(tasks)
            if error is None:
                return list(zip(by_worker.values(), found, strict=True))
            if not is_lost_worker(error):
                raise error
            self._wait()  # a shard may have been lost with its worker too often
        raise ClusterError(
            f"workers were lost, {_ATTEMPTS} times, while reading rows of {self.label} from their disks, and a worker "
            f"may take {self.cluster.limit}; give workers more"
        )

    def _retry(self, shard: ShardFuture) -> None:
        """Read a shard again whose workers were lost, alone or in smaller pieces."""
        release([shard.future])
        found = self.tasks.retry("btests_shard", write_shard, shard.rows, lambda rows: (self._positions(rows),))
        i = self.shards.index(shard)
        self.shards[i : i + 1] = [ShardFuture(rows, future) for rows, future in found]

    def _submit(self, shards: list[ShardFuture]) -> None:
        """Submit the tasks of shards; positions that are sent along make no graph too large."""
        some: list[ShardFuture] = []
        for i, shard in enumerate(shards):
            some.append(shard)
            if i + 1 < len(shards) and sum(one.rows.last - one.rows.first for one in some) < _POSITIONS:
                continue
            where = [(self._positions(one.rows),) for one in some]
            futures = self.tasks.submit("btests_shard", write_shard, [one.rows for one in some], where)
            for one, future in zip(some, futures, strict=True):
                one.future = future
            some = []

    def _positions(self, rows: RowRange) -> RowPositions:
        order = self.permuted.order
        if not isinstance(order, Permuted):
            return RowPositions(rows.first, rows.last, order, None)
        positions = order.positions(np.arange(rows.first, rows.last, dtype=np.int64))
        return RowPositions(rows.first, rows.last, None, positions.astype(np.uint32))


def _check_files(cluster: Cluster, source: Source) -> None:
    for path in map(os.path.abspath, paths_of(source)[:1]):
        for address, exists in cluster.scheduler.run_on_workers(path_exists, path).items():
            if not exists:
                raise ClusterError(
                    f"the worker {address} does not see {path!r}; files must be where workers find them by the "
                    "same path, as on a shared file system"
                )
