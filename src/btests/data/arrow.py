"""Numbers in the columns of a Parquet or Arrow (Feather) file, by row group or record batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.data.cell_checks import choose_columns, outcome, to_rows
from btests.data.columnar import Outline, batches, layout, outline
from btests.data.errors import DamagedError, reading
from btests.data.magic import LONGEST, refuse_misnamed
from btests.data.source import Rows
from btests.plan import Index

# Rows that are decoded at a time: a row group may be larger than memory.
_BATCH = 2**17


@dataclass(frozen=True, slots=True)
class ArrowSource:
    """Numbers and booleans in the columns of one Parquet or Arrow file; only the selected columns are read.

    Attributes
    ----------
    path : str
        A .parquet, .arrow or .feather file, or an Arrow stream.
    names, types : tuple of str
        Names and arrow types of the columns that are read.
    dtype : numpy.dtype
        Type of the rows.
    layout : str
        Of `btests.data.columnar`.
    outline : Outline
        Units of the file.
    """

    path: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    dtype: np.dtype[Any]
    layout: str = field(repr=False)
    outline: Outline = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.path

    @property
    def n_rows(self) -> int:
        """Number of rows, by the file's metadata."""
        return int(self.outline.edges[-1])

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        return len(self.names)

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was skipped."""
        return ()

    def units(self) -> Index:
        """Return the edges of the row groups or record batches: (n_units + 1,)."""
        return self.outline.edges

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        found = np.empty((last - first, self.width), dtype=self.dtype)
        edges = self.outline.edges
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
        cuts = np.searchsorted(rows, self.outline.edges)
        for i in np.flatnonzero(np.diff(cuts)).tolist():
            for start, piece in self._pieces(i, int(rows[cuts[i + 1] - 1]) + 1):
                a, b = np.searchsorted(rows, [start, start + len(piece)]).tolist()
                if a < b:
                    np.take(self._rows(piece, start), rows[a:b] - start, axis=0, out=found[a:b], mode="clip")
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        for i in range(len(self.outline.edges) - 1):
            for start, piece in self._pieces(i, self.n_rows, n_rows):
                yield self._rows(piece, start)

    def _pieces(self, i: int, end: int, n_rows: int = _BATCH) -> Iterator[tuple[int, Any]]:
        """Yield record batches of unit ``i`` up to row ``end``, each with its first row."""
        start, stop = self.outline.edges[i : i + 2].tolist()
        with reading(self.path):
            for piece in batches(
                self.path,
                self.layout,
                list(self.names),
                units=(i, i + 1),
                n_rows=min(n_rows, _BATCH),
                starts=self.outline.starts,
            ):
                yield start, piece
                start += len(piece)
                if end <= start <= stop:
                    return
        if start != stop:
            raise DamagedError(f"{self.path!r} has changed since it was opened")

    def _rows(self, piece: Any, first_row: int) -> Rows:
        """Return a record batch as checked rows (m, width)."""
        columns = [piece.column(piece.schema.get_field_index(column)) for column in self.names]
        return to_rows(columns, self.names, self.name, first_row, self.dtype)


def open_arrow(path: str | os.PathLike[str], columns: tuple[str, ...] | None = None) -> ArrowSource:
    """Return the source of a Parquet or Arrow file, recognised by its first bytes.

    Parameters
    ----------
    path : str or path-like
        The file.
    columns : tuple of str or None
        Names of the columns to read, in this order; None is all of them.
    """
    path = os.fspath(path)
    kind = _layout(path)
    found = outline(path, kind)
    names = choose_columns(tuple(found.schema.names), columns, path)
    types = [found.schema.field(name).type for name in names]
    dtype = outcome([_number(type_, column, path) for column, type_ in zip(names, types, strict=True)])
    return ArrowSource(path, names, tuple(map(str, types)), dtype, kind, found)


def _layout(path: str) -> str:
    with reading(path), Path(path).open("rb") as file:
        start = file.read(LONGEST)
    if not start:
        raise DamagedError(f"{path!r} is empty")
    found = layout(start)
    if found is None:
        refuse_misnamed(start, path, "neither a Parquet nor an Arrow file,")
        raise DamagedError(f"{path!r} is neither a Parquet nor an Arrow file: it does not begin as one")
    return found


def _number(kind: Any, column: str, path: str) -> np.dtype[Any]:
    types = arrow("pyarrow").types
    if types.is_boolean(kind) or types.is_decimal(kind):
        return np.dtype(np.float64)
    if types.is_integer(kind) or types.is_floating(kind):
        found: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return found
    raise ValueError(f"column {column!r} of {path!r} holds {kind}, not numbers; encode it or leave it out")
