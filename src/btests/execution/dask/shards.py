"""Shards: rows of a sample on the disk of a worker, sorted by position, and the tasks that write and read them."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from btests._memory import amount
from btests.data.cell_checks import check_cells
from btests.data.dask_source import DaskSource, Outline
from btests.data.row_permutation import Order, gather, octets
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.plan import Index

#: Minimum ratio of the memory of a worker to the rows of one task: it holds them twice, and intermediate arrays.
MEMORY_RATIO = 16

# Shards of fewer rows are not divided when their worker is lost.
_MIN_ROWS = 256

# Rows that are sorted and written at a time.
_STEP = 2**15


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


def shard_of_range(source: Source, where: RowPositions) -> Shard:
    """Read rows of a source, whose files the worker must find by the same path, into a shard."""
    return Shard.write(where.compute(), source.read(where.first, where.last))


def shard_of_array(rows: Rows, name: str, where: RowPositions) -> Shard:
    """Write rows that were sent with the task into a shard."""
    return Shard.write(where.compute(), check_cells(rows, name, None, lambda i: where.first + i))


def shard_of_partitions(
    partitions: Sequence[Any], outline: Outline, numbers: tuple[int, int], where: RowPositions
) -> Shard:
    """Write the rows of partitions ``numbers[0] .. numbers[1] - 1`` of a dask collection into a shard."""
    first, pieces = where.first, []
    for number, partition in enumerate(partitions, numbers[0]):
        pieces.append(outline.rows(partition, number, first))
        first += len(pieces[-1])
    if first != where.last:
        raise ValueError(
            f"{outline.name} has {first - where.first} rows in partitions {numbers[0]} to {numbers[1] - 1}, and had "
            f"{where.last - where.first} before; a dask graph must give the same rows whenever it is computed"
        )
    return Shard.write(where.compute(), pieces[0] if len(pieces) == 1 else np.concatenate(pieces))


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


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows ``first .. last - 1`` of a sample; of a dask collection, also the numbers of its first and last partition.

    The end of ``partitions`` is excluded.
    """

    first: int
    last: int
    partitions: tuple[int, int] | None = None

    def halves(self) -> tuple[RowRange, RowRange] | None:
        """Return both halves, None for a range that is not divided: partitions are as dask makes them."""
        if self.partitions is not None or self.last - self.first < 2 * _MIN_ROWS:
            return None
        middle = (self.first + self.last) // 2
        return RowRange(self.first, middle), RowRange(middle, self.last)


def row_ranges(source: Source, row_bytes: int, cluster: Cluster) -> list[RowRange]:
    """Return all rows of a source as ranges that are read as one shard each."""
    edges, n, sizes = source.units(), source.n_rows, cluster.sizes
    if isinstance(source, DaskSource):
        assert edges is not None, "partitions are units"
        cuts = _merged(edges, sizes.merged // row_bytes)
        return [RowRange(int(edges[a]), int(edges[b]), (a, b)) for a, b in pairwise(cuts)]
    share = min(sizes.shard, cluster.memory // MEMORY_RATIO or sizes.shard)
    most = max(1, min(share, max(sizes.least, n * row_bytes // (2 * cluster.n_threads))) // row_bytes)
    if edges is None:
        edges = np.append(np.arange(0, n, most), n).astype(np.int64)
        cuts = list(range(len(edges)))
    else:
        cuts = _merged(edges, most)
    return [RowRange(int(edges[a]), int(edges[b])) for a, b in pairwise(cuts) if edges[a] < edges[b]]


def _merged(edges: Index, most: int) -> list[int]:
    """Return cuts between units so that those between two cuts have ``most`` rows at most, or are one unit."""
    cuts = [0]
    for i in range(1, len(edges)):
        if edges[i] - edges[cuts[-1]] > most and i - 1 > cuts[-1]:
            cuts.append(i - 1)
    return [*cuts, len(edges) - 1]
