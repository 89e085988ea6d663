"""Sample on a cluster: its rows are where they are stored, or in shards on the disks of workers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests.data.arrays import ArraySource
from btests.data.permuted import PermutedRows, paths_of
from btests.data.row_permutation import Permuted
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.futures import is_lost_worker, outcome, release, submitting
from btests.execution.dask.row_ranges import RangeReader, RemoteSource, RowRange
from btests.execution.dask.shard import RowPositions, extents, rows_at, write_shard
from btests.execution.dask.tasks import TaskList
from btests.plan import Index

# Rows that are fetched at a time where a few are needed, from shards and from sources: callers that need the first need
# more, and units of a source are read as a whole for each of them.
_PREFETCH, _FROM_SOURCE = 512, 2048

# Rows whose positions are sent along with one graph, at 4 bytes each.
_POSITIONS = 2**20

# Attempts to fetch a few rows while workers are lost.
_ATTEMPTS = 3


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
    """

    cluster: Cluster
    permuted: PermutedRows
    label: str
    source: RemoteSource = field(init=False, repr=False)
    _shards: TaskList = field(init=False, repr=False)  # none before they are needed
    _extents: dict[str, tuple[int, int]] = field(init=False, repr=False, default_factory=dict)
    _prefetched: dict[int, Rows] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        source = RemoteSource(self.cluster, self.permuted.source, self.label)
        shards = TaskList(source.work("btests_shard", write_shard, lambda rows: (self._positions(rows),)))
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "_shards", shards)

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
        if self._shards.tasks:
            return
        some: list[RowRange] = []
        with submitting(self.cluster):
            try:
                for rows in self.source.ranges():
                    some.append(rows)
                    if sum(one.last - one.first for one in some) >= _POSITIONS:
                        self._shards.submit(some)
                        some = []
                self._shards.submit(some)
            except BaseException:
                self.close()
                raise

    @property
    def largest_shard(self) -> int:
        """Rows of the largest shard."""
        ranges: list[RowRange] = [task.item for task in self._shards.tasks]
        return max(rows.last - rows.first for rows in ranges)

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
            more = _PREFETCH if self._shards.tasks else _FROM_SOURCE
            end = min(len(self.permuted), first + max(more, len(positions)))
            self._prefetched[first] = self._fetch(np.arange(first, end, dtype=np.int64))
        return self._prefetched[first][: len(positions)]

    def close(self) -> None:
        """Release all shards, whose files are then removed."""
        self._shards.release()
        self._extents.clear()
        self.source.close()
        self._prefetched.clear()
        self.permuted.close()

    def settle(self) -> None:
        """Wait for all shards; those whose workers were lost are read again, alone or in smaller pieces."""
        self._shards.settle()
        if self.how != "exact":
            for shards, found in self._map_workers("btests_extents", lambda key: key not in self._extents, extents):
                self._extents.update(zip((shard.key for shard in shards), found, strict=True))

    def by_worker(self) -> dict[str, list[Any]]:
        """Return the futures of shards by the address of the worker that holds them; under "" those of pending ones."""
        return self._by_worker(lambda key: True)

    def may_hold(self, shard: Any, first: int, last: int) -> bool:
        """Return whether a shard may hold positions in ``first .. last - 1``."""
        extent = self._extents.get(shard.key)
        return extent is None or (extent[0] < last and first < extent[1])

    def _by_worker(self, which: Callable[[str], bool]) -> dict[str, list[Any]]:
        shards = [future for future in self._shards.futures if which(future.key)]
        holders = self.cluster.scheduler.who_has(shards) if shards else {}
        found: dict[str, list[Any]] = {}
        for shard in shards:
            found.setdefault(min(holders.get(shard.key) or ("",)), []).append(shard)
        return found

    def _fetch(self, positions: Index) -> Rows:
        if not self._shards.tasks:
            return self._fetch_stored(positions)
        wanted, back = np.unique(positions, return_inverse=True)
        rows = np.empty((len(wanted), self.width), dtype=self.dtype)

        def holds_any(key: str) -> bool:
            a, b = np.searchsorted(wanted, self._extents.get(key, (0, len(self.permuted))))
            return bool(a < b)

        with submitting(self.cluster):
            self.settle()
            for _, (places, own) in self._map_workers("btests_rows", holds_any, rows_at, wanted):
                rows[np.searchsorted(wanted, places)] = own
        return np.asarray(rows[back])

    def _fetch_stored(self, positions: Index) -> Rows:
        """Return rows that workers read from where they are stored."""
        if isinstance(self.permuted.source, ArraySource):
            return self.permuted.at(positions)
        numbers, back = np.unique(self.permuted.order.at(positions), return_inverse=True)

        def wanted(rows: RowRange) -> tuple[Index]:
            return (numbers[slice(*np.searchsorted(numbers, [rows.first, rows.last]))],)

        tasks = TaskList(self.source.work("btests_rows", take_rows, wanted))
        with submitting(self.cluster):
            try:
                tasks.submit([rows for rows in self.source.ranges() if wanted(rows)[0].size])
                tasks.settle()
                found, error = outcome(self.cluster, tasks.futures)
            finally:
                tasks.release()
        if error is not None:
            raise error
        return np.asarray(np.concatenate([np.empty((0, self.width), dtype=self.dtype), *found])[back])

    def _map_workers(
        self, prefix: str, which: Callable[[str], bool], function: Any, *arguments: Any
    ) -> list[tuple[list[Any], Any]]:
        """Return for each worker those of its shards that are wanted, and what a function of them returns there."""
        for _ in range(_ATTEMPTS):
            by_worker = self._by_worker(which)
            tasks = [
                self.cluster.submit(prefix, function, *arguments, shards, home=home)
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
            self._shards.settle()  # a shard may have been lost with its worker too often
        raise ClusterError(
            f"workers were lost, {_ATTEMPTS} times, while reading rows of {self.label} from their disks, and a worker "
            f"may take {self.cluster.limit}; give workers more"
        )

    def _positions(self, rows: RowRange) -> RowPositions:
        order = self.permuted.order
        if not isinstance(order, Permuted):
            return RowPositions(rows.first, rows.last, order, None)
        positions = order.positions(np.arange(rows.first, rows.last, dtype=np.int64))
        return RowPositions(rows.first, rows.last, None, positions.astype(np.uint32))


def take_rows(rows: RangeReader, numbers: Index) -> Rows:
    """Return rows of increasing numbers of a range: (m,) to (m, width)."""
    return rows.take(numbers)


def path_exists(path: str) -> bool:
    """Return whether a path exists for the process that runs this."""
    return os.path.exists(path)


def _check_files(cluster: Cluster, source: Source) -> None:
    for path in map(os.path.abspath, paths_of(source)[:1]):
        for address, exists in cluster.scheduler.run_on_workers(path_exists, path).items():
            if not exists:
                raise ClusterError(
                    f"the worker {address} does not see {path!r}; files must be where workers find them by the "
                    "same path, as on a shared file system"
                )
