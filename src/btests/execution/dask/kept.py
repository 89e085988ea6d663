"""Rows of one part of a sample, on the disk of the worker that read them, in the order in which they are dealt."""

from __future__ import annotations

import os
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from btests.data.protocol import Rows
from btests.data.take import gather, octets
from btests.execution.dask.errors import ClusterError, amount
from btests.plan import Index

# Rows that are put in order and written at a time.
_STEP = 2**15


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kept:
    """Rows of one part, sorted by their positions, in a file that goes away with this object.

    It travels to another worker as its rows, and is a file there again: whoever computes from it may be anywhere. The
    file holds the positions, (n,) of int64, and then the rows, (n, width).
    """

    path: str
    n_rows: int
    width: int
    dtype: np.dtype[Any]
    _gone: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_gone", weakref.finalize(self, _remove, self.path))

    @classmethod
    def write(cls, positions: Index, rows: Rows) -> Kept:
        """Write rows (m, d) with their positions (m,), which may come in any order."""
        in_order = bool(np.all(positions[1:] > positions[:-1]))
        turn = None if in_order else np.argsort(positions)
        worker, folder = _worker()
        path = ""
        try:
            descriptor, path = tempfile.mkstemp(prefix="btests-", suffix=".rows", dir=folder)
            with os.fdopen(descriptor, "wb") as file:
                for part in (positions, rows):
                    for first in range(0, len(rows), _STEP):
                        step = slice(first, first + _STEP)
                        file.write(
                            octets(np.ascontiguousarray(part[step] if turn is None else gather(part, turn[step])))
                        )
        except OSError as error:
            if path:
                _remove(path)  # what was written takes room that others need
            raise ClusterError(
                f"{worker} cannot write {amount(rows.nbytes + positions.nbytes)} into its folder {folder!r} "
                f"({error.strerror}); give the workers a --local-directory with room for their share of the rows"
            ) from None
        return cls(path, len(rows), rows.shape[1], rows.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept.write, (self._positions(0, self.n_rows), self._rows(0, self.n_rows))

    def between(self, first: int, last: int) -> tuple[Index, Rows]:
        """Return the rows at positions ``first .. last - 1`` and these positions: (m,) and (m, width)."""
        a, b = np.searchsorted(self._all_positions(), [first, last]).tolist()
        return self._positions(a, b), self._rows(a, b)

    def extent(self) -> tuple[int, int]:
        """Return the first position and the end of the last."""
        if not self.n_rows:
            return 0, 0
        return int(self._positions(0, 1)[0]), int(self._positions(self.n_rows - 1, self.n_rows)[0]) + 1

    def at(self, positions: Index) -> tuple[Index, Rows]:
        """Return the rows at those of some positions, in increasing order, that are here: (m,) and (m, width)."""
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
    """Return what to call the worker that this runs on, and its folder, which it removes in the end."""
    from distributed import get_worker

    try:
        found = get_worker()
    except ValueError:  # in no worker
        return "this process", tempfile.gettempdir()
    return f"the worker {found.address}", str(found.local_directory)
