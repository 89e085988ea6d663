"""Shards: rows of a sample with their positions, in files on the disks of workers."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from btests._memory import amount
from btests.data.row_permutation import Order, gather, octets
from btests.data.source import Rows
from btests.execution.dask.cluster import ClusterError
from btests.execution.dask.row_ranges import RangeReader
from btests.plan import Index

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
