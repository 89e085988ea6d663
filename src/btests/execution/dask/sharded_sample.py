"""Sample on a cluster: its rows are where they are stored, or in shards on the disks of workers."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from btests._memory import amount
from btests.data.arrays import ArraySource
from btests.data.permuted import PermutedRows, paths_of
from btests.data.row_permutation import Order, Permuted, gather, octets
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.row_ranges import RangeReader, RemoteSource, RowRange
from btests.execution.dask.tasks import TaskList, is_lost_worker, outcome, release, submitting
from btests.plan import Index

# Rows that are sorted and written at a time.
_STEP = 2**15

# Rows that are fetched at a time where a few are needed, from shards and from sources: callers that need the first need
# more, and units of a source are read as a whole for each of them.
_PREFETCH, _FROM_SOURCE = 512, 2048

# Rows whose positions are sent along with one graph, at 4 bytes each.
_POSITIONS = 2**20

# Attempts to fetch a few rows while workers are lost.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Shard:
    """Rows of a sample, sorted by position, in a file that is removed with this object.

    Pickles by value: rows are sent and written to disk again on the receiving worker. The file holds the positions,
    (n_rows,) of int64, and then the rows, (n_rows, width).

    Attributes
    ----------
    path : str
        Of the file.
    n_rows, width : int
        Shape of the rows.
    dtype : numpy.dtype
        Of the rows.
    """

    path: str
    n_rows: int
    width: int
    dtype: np.dtype[Any]
    _finalizer: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_finalizer", weakref.finalize(self, _remove, self.path))

    @classmethod
    def write(cls, positions: Index, rows: Rows) -> Shard:
        """Write rows (m, d) with their positions (m,), which may be in any order."""
        is_sorted = bool(np.all(positions[1:] > positions[:-1]))
        order = None if is_sorted else np.argsort(positions)
        worker, folder = _worker()
        path = ""
        try:
            descriptor, path = tempfile.mkstemp(prefix="btests-", suffix=".rows", dir=folder)
            with os.fdopen(descriptor, "wb") as file:
                for array in (positions, rows):
                    for first in range(0, len(rows), _STEP):
                        step = slice(first, first + _STEP)
                        some = array[step] if order is None else gather(array, order[step])
                        file.write(octets(np.ascontiguousarray(some)))
        except OSError as error:
            if path:
                _remove(path)  # other shards need the space
            raise ClusterError(
                f"{worker} cannot write {amount(rows.nbytes + positions.nbytes)} into its folder {folder!r} "
                f"({error.strerror}); give the workers a --local-directory with room for their share of the rows"
            ) from None
        return cls(path, len(rows), rows.shape[1], rows.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return Shard.write, (self._positions(0, self.n_rows), self._rows(0, self.n_rows))

    def between(self, first: int, last: int) -> tuple[Index, Rows]:
        """Return the positions in ``first .. last - 1`` and the rows at them: (m,) and (m, width)."""
        a, b = np.searchsorted(self._all_positions(), [first, last]).tolist()
        return self._positions(a, b), self._rows(a, b)

    def extent(self) -> tuple[int, int]:
        """Return the first position, and one more than the last."""
        if not self.n_rows:
            return 0, 0
        return int(self._positions(0, 1)[0]), int(self._positions(self.n_rows - 1, self.n_rows)[0]) + 1

    def at(self, positions: Index) -> tuple[Index, Rows]:
        """Return those of some increasing positions that are in this shard, and the rows: (m,) and (m, width)."""
        mine = self._all_positions()
        places = np.minimum(np.searchsorted(mine, positions), max(0, self.n_rows - 1))
        here = np.flatnonzero(mine[places] == positions) if self.n_rows else np.empty(0, dtype=np.int64)
        if not here.size:
            return positions[:0], np.empty((0, self.width), dtype=self.dtype)
        shape, start = (self.n_rows, self.width), 8 * self.n_rows
        rows = np.memmap(self.path, dtype=self.dtype, mode="r", shape=shape, offset=start)
        return positions[here], np.asarray(rows[places[here]])

    def _all_positions(self) -> Index:
        if not self.n_rows:
            return np.empty(0, dtype=np.int64)
        return np.memmap(self.path, dtype=np.int64, mode="r", shape=(self.n_rows,))

    def _positions(self, first: int, last: int) -> Index:
        return np.fromfile(self.path, dtype=np.int64, count=last - first, offset=8 * first)

    def _rows(self, first: int, last: int) -> Rows:
        size = self.width * self.dtype.itemsize
        start = 8 * self.n_rows + first * size
        cells = np.fromfile(self.path, dtype=self.dtype, count=(last - first) * self.width, offset=start)
        return cells.reshape(last - first, self.width)


def _remove(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def _worker() -> tuple[str, str]:
    """Return the name of the worker that runs this for messages, and its folder, which it removes in the end."""
    from distributed import get_worker

    try:
        found = get_worker()
    except ValueError:  # in no worker
        return "this process", tempfile.gettempdir()
    return f"the worker {found.address}", str(found.local_directory)


@dataclass(frozen=True, slots=True)
class RowPositions:
    """Positions of rows ``first .. last - 1`` of a sample in the order of the test.

    Either computed from ``order``, or given: of a permutation that is an array, a worker needs only its own part.
    """

    first: int
    last: int
    order: Order | None
    positions: Index | None

    def compute(self) -> Index:
        """Return the position of each row: (last - first,)."""
        if self.positions is not None:
            return self.positions.astype(np.int64)
        assert self.order is not None, "either positions or an order are given"
        return self.order.positions(np.arange(self.first, self.last, dtype=np.int64))


def write_shard(rows: RangeReader, where: RowPositions) -> Shard:
    """Write the rows of a range into a shard."""
    return Shard.write(where.compute(), rows.read())


def extents(shards: Sequence[Shard]) -> list[tuple[int, int]]:
    """Return the first position of each shard, and one more than its last."""
    return [shard.extent() for shard in shards]


def rows_at(positions: Index, shards: Sequence[Shard]) -> tuple[Index, Rows]:
    """Return those of some increasing positions that are in shards, and the rows: (m,) and (m, width)."""
    return concatenated([shard.at(positions) for shard in shards])


def concatenated(found: Sequence[tuple[Index, Rows]]) -> tuple[Index, Rows]:
    """Return several arrays of positions and of rows as one of each."""
    if not found:
        return np.empty(0, dtype=np.int64), np.empty((0, 1))
    return np.concatenate([positions for positions, _ in found]), np.concatenate([rows for _, rows in found])


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
