"""Numbers in the columns of one file, read unit by unit: row groups, record batches, or megabytes of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from btests.data.cell_checks import to_rows
from btests.data.errors import DamagedError, reading
from btests.data.source import Rows
from btests.plan import Index

# Rows that are decoded at a time: a row group may be larger than memory.
_BATCH = 2**17


class Units(Protocol):
    """Columns of a file in units of rows, each of which is read by itself."""

    @property
    def edges(self) -> Index:
        """Rows before each unit, and all rows: (n_units + 1,)."""
        ...

    def batches(self, unit: int, n_rows: int) -> Iterator[Any]:
        """Yield the record batches of a unit, at most ``n_rows`` rows at a time."""
        ...


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """Numbers and booleans in the columns of one Parquet, Arrow or delimited text file, read unit by unit.

    Attributes
    ----------
    path : str
        The file.
    names : tuple of str or None
        Names of the columns that are read; None without names.
    types : tuple of str
        Their arrow types; empty for text.
    dtype : numpy.dtype
        Type of the rows.
    width : int
        Number of columns that are read.
    file : Units
        Those columns, in units.
    delimiter : str or None
        Between the cells of text.
    whole : frozenset of int
        Places of columns whose floats were whole numbers in text.
    """

    path: str
    names: tuple[str, ...] | None
    types: tuple[str, ...]
    dtype: np.dtype[Any]
    width: int
    file: Units = field(repr=False, compare=False)
    delimiter: str | None = None
    whole: frozenset[int] = field(repr=False, default=frozenset())

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.path

    @property
    def n_rows(self) -> int:
        """Number of rows, without reading them."""
        return int(self.file.edges[-1])

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was skipped."""
        return ()

    def units(self) -> Index:
        """Return the edges of the row groups or record batches: (n_units + 1,)."""
        return self.file.edges

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        found = np.empty((last - first, self.width), dtype=self.dtype)
        edges = self.file.edges
        for i in np.flatnonzero((edges[1:] > first) & (edges[:-1] < last)).tolist() if first < last else ():
            for start, piece in self._pieces(i, last):
                low, high = max(first, start), min(last, start + len(piece))
                if low < high:
                    found[low - first : high - first] = self._rows(piece.slice(low - start, high - low), low)
        return found

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        cuts = np.searchsorted(rows, self.file.edges)
        for i in np.flatnonzero(np.diff(cuts)).tolist():
            for start, piece in self._pieces(i, int(rows[cuts[i + 1] - 1]) + 1):
                a, b = np.searchsorted(rows, [start, start + len(piece)]).tolist()
                if a < b:
                    np.take(self._rows(piece, start), rows[a:b] - start, axis=0, out=found[a:b], mode="clip")
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        for i in range(len(self.file.edges) - 1):
            for start, piece in self._pieces(i, self.n_rows, n_rows):
                yield self._rows(piece, start)

    def _pieces(self, i: int, end: int, n_rows: int = _BATCH) -> Iterator[tuple[int, Any]]:
        """Yield record batches of unit ``i`` up to row ``end``, each with its first row."""
        start, stop = self.file.edges[i : i + 2].tolist()
        with reading(self.path):
            for piece in self.file.batches(i, min(n_rows, _BATCH)):
                yield start, piece
                start += len(piece)
                if end <= start <= stop:
                    return
        if start != stop:
            raise DamagedError(f"{self.path!r} has changed since it was opened")

    def _rows(self, piece: Any, first_row: int) -> Rows:
        """Return a record batch as checked rows (m, width)."""
        return to_rows(piece.columns, self.names, self.name, first_row, self.dtype, whole=self.whole)
