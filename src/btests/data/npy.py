"""Rows of a .npy file of any size, with random access."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from btests._text import shortly
from btests._validation import warn_of_huge_whole_numbers
from btests.data.cell_checks import check_cells, outcome
from btests.data.errors import DamagedError, reading
from btests.data.formats import LONGEST, NUMPY, ZIP, refuse_misnamed
from btests.data.numpy_files import NpyHeader, read_header
from btests.data.source import Rows
from btests.plan import Index

# Bytes of the file that are read at a time where many scattered rows are wanted.
_SWEEP = 2**24

# Cost of a page fault, which a row of a memory map takes, in bytes of a sequential read.
_BYTES_A_FAULT = 2**11

# Rows that are taken from a memory map before its pages are released: up to 16 pages, 64 kB, for each.
_ROWS_A_MAP = 2**10


@dataclass(frozen=True, slots=True)
class NpySource:
    """Rows (n, d) or (n,) in a .npy file.

    Ranges are read, not mapped: the pages of a memory map would count as memory of this process as long as it lives.
    """

    path: str
    n_rows: int
    width: int
    dtype: np.dtype[Any]
    _stored: np.dtype[Any] = field(repr=False)
    _by_column: bool = field(repr=False)
    _offset: int = field(repr=False)

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.path

    @property
    def names(self) -> None:
        """Columns have no names."""
        return

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was skipped."""
        return ()

    def units(self) -> None:
        """Any row can be read by itself."""
        return

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        return self._checked(self._range(first, last), lambda i: first + i)

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        if not rows.size:
            return np.empty((0, self.width), dtype=self.dtype)
        span = (int(rows[-1]) - int(rows[0]) + 1) * self._stored.itemsize
        faults = len(rows) * (self.width if self._by_column else 1)
        # In Fortran order columns are far apart: a row costs one page fault per cell.
        swept = span * self.width <= _BYTES_A_FAULT * faults
        return self._checked(self._swept(rows) if swept else self._mapped(rows), lambda i: int(rows[i]))

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        for first in range(0, self.n_rows, n_rows):
            yield self.read(first, min(first + n_rows, self.n_rows))

    def _range(self, first: int, last: int) -> Rows:
        count = last - first
        if not self._by_column:
            found = self._cells(first * self.width, count * self.width)
            return found.reshape(count, self.width)
        rows = np.empty((count, self.width), dtype=self._stored)
        for j in range(self.width):
            rows[:, j] = self._cells(j * self.n_rows + first, count)
        return rows

    def _cells(self, start: int, count: int) -> Rows:
        offset = self._offset + start * self._stored.itemsize
        with reading(self.path):
            found = np.fromfile(self.path, dtype=self._stored, count=count, offset=offset)
        if len(found) < count:
            raise DamagedError(f"{self.path!r} was cut off while it was read")
        return found

    def _swept(self, rows: Index) -> Rows:
        found = np.empty((len(rows), self.width), dtype=self._stored)
        step = max(1, _SWEEP // (self.width * self._stored.itemsize))
        edges = np.arange(int(rows[0]), int(rows[-1]) + 1 + step, step)
        cuts = np.searchsorted(rows, edges)
        for first, a, b in zip(edges[:-1].tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            if a < b:
                last = int(rows[b - 1]) + 1
                np.take(self._range(first, last), rows[a:b] - first, axis=0, out=found[a:b], mode="clip")
        return found

    def _mapped(self, rows: Index) -> Rows:
        found = np.empty((len(rows), self.width), dtype=self._stored)
        for start in range(0, len(rows), _ROWS_A_MAP):
            # A map for a few rows: its pages leave memory with it.
            self._pick(rows[start : start + _ROWS_A_MAP], found[start : start + _ROWS_A_MAP])
        return found

    def _pick(self, rows: Index, found: Rows) -> None:
        try:
            with Path(self.path).open("rb") as file:
                pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise DamagedError(f"{self.path!r} cannot be read: {shortly(error)}") from None
        # The map is not closed but freed with the last array that refers to it: a profiler, such as that of dask's
        # workers, may hold the frames of functions that got one, and closing would then raise BufferError.
        if len(pages) < self._offset + self.n_rows * self.width * self._stored.itemsize:
            raise DamagedError(f"{self.path!r} was cut off while it was read")
        if hasattr(pages, "madvise"):
            pages.madvise(mmap.MADV_RANDOM)  # a row, not the megabyte around it
        cells = np.frombuffer(pages, self._stored, self.n_rows * self.width, self._offset)
        if self._by_column:
            found[:] = cells.reshape(self.width, self.n_rows)[:, rows].T
        else:
            np.take(cells.reshape(self.n_rows, self.width), rows, axis=0, out=found, mode="clip")

    def _checked(self, found: Rows, number: Any) -> Rows:
        warn_of_huge_whole_numbers(found, repr(self.name))
        return check_cells(np.ascontiguousarray(found, dtype=self.dtype), repr(self.name), None, number)


def open_npy(path: str | os.PathLike[str]) -> NpySource:
    """Return the source of a .npy file."""
    path = os.fspath(path)
    header = _header(path)
    n_rows, width = header.shape[0], header.shape[1] if len(header.shape) == 2 else 1
    by_column = header.by_column and width > 1
    return NpySource(path, n_rows, width, outcome([header.dtype]), header.dtype, by_column, header.offset)


def _header(path: str) -> NpyHeader:
    """Return the header of an array of numbers."""
    with reading(path), Path(path).open("rb") as file:
        start = file.read(LONGEST)
        if start.startswith(ZIP):
            raise ValueError(f"{path!r} is an archive of arrays (.npz); save the array that is meant as .npy")
        refuse_misnamed(start, path, "not a readable numpy file", NUMPY)
        file.seek(0)
        header = read_header(file, path, os.fstat(file.fileno()).st_size)
    stored = header.dtype
    if stored.names or stored.subdtype or stored.kind not in "biuf":
        raise ValueError(f"{path!r} holds {stored}, not one kind of numbers; save them as an array (n, d) of floats")
    return header
