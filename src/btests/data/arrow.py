"""Rows in a Parquet or Arrow (Feather) file: row groups or record batches are read as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from btests.data.arrow_columns import to_rows
from btests.data.cell_checks import DamagedError, arrow, choose_columns, outcome, shortly
from btests.data.ipc_stream import stream_batch, stream_outline
from btests.data.magic import ARROW, LONGEST, PARQUET, STREAM, refuse_misnamed
from btests.data.protocol import Rows
from btests.plan import Index

Found = TypeVar("Found")

# Rows of a row group that are decoded at a time where they are read one after another.
_BATCH = 2**17

# Bytes of a row group that is decoded as a whole.
_LARGE_UNIT = 2**26

# What a stream of pages reads ahead, so that a large row group is never in memory as a whole.
_READ_AHEAD = 2**20


@dataclass(frozen=True, slots=True)
class ArrowSource:
    """Numbers and booleans in the columns of one Parquet or Arrow file; only the columns asked for are read.

    Attributes
    ----------
    path
        A .parquet, .arrow or .feather file, or an Arrow stream; what it is is told by how it begins.
    columns
        Names of the columns to read, in this order; None is all of them.
    """

    path: str
    columns: tuple[str, ...] | None = None
    name: str = field(init=False)
    names: tuple[str, ...] = field(init=False)
    types: tuple[str, ...] = field(init=False)
    dtype: np.dtype[Any] = field(init=False)
    _edges: Index = field(init=False, repr=False, compare=False)
    _starts: Index | None = field(init=False, repr=False, compare=False)
    _is_parquet: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        path = os.fspath(self.path)
        start = _begins(path)
        outline = {PARQUET: _parquet_outline, ARROW: _arrow_outline, STREAM: stream_outline}[start]
        schema, counts, starts = _guarded(path, lambda: outline(path))
        wanted = None if self.columns is None else tuple(self.columns)
        names = choose_columns(tuple(schema.names), wanted, path)
        types = [schema.field(name).type for name in names]
        for key, value in (
            ("path", path),
            ("columns", wanted),
            ("name", path),
            ("names", names),
            ("types", tuple(map(str, types))),
            ("dtype", outcome([_number(kind, column, path) for column, kind in zip(names, types, strict=True)])),
            ("_edges", np.append(0, np.cumsum(counts)).astype(np.int64)),
            ("_starts", starts),
            ("_is_parquet", start == PARQUET),
        ):
            object.__setattr__(self, key, value)

    @property
    def n_rows(self) -> int:
        """Number of rows, as the file's own outline has it."""
        return int(self._edges[-1])

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        return len(self.names)

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was left out."""
        return ()

    def units(self) -> Index:
        """Return the edges of the row groups or record batches: (n_units + 1,)."""
        return self._edges

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        found = np.empty((last - first, self.width), dtype=self.dtype)
        units = np.flatnonzero((self._edges[1:] > first) & (self._edges[:-1] < last)) if first < last else ()
        for i in units:
            for start, piece in self._pieces(int(i), last):
                low, high = max(first, start), min(last, start + len(piece))
                if low < high:
                    found[low - first : high - first] = self._rows(piece.slice(low - start, high - low), low)
        return found

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        cuts = np.searchsorted(rows, self._edges)
        for i in np.flatnonzero(np.diff(cuts)).tolist():
            for start, piece in self._pieces(i, int(rows[cuts[i + 1] - 1]) + 1):
                a, b = np.searchsorted(rows, [start, start + len(piece)]).tolist()
                if a < b:
                    np.take(self._rows(piece, start), rows[a:b] - start, axis=0, out=found[a:b], mode="clip")
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        done = 0
        for i in range(len(self._edges) - 1):
            for piece in self._stream(i, min(n_rows, _BATCH) if self._is_parquet else n_rows):
                rows = self._rows(piece, done)
                done += len(rows)
                yield rows
        if done != self.n_rows:
            raise DamagedError(f"{self.path!r} says that it has {self.n_rows} rows and has {done}")

    def _pieces(self, i: int, end: int) -> Iterator[tuple[int, Any]]:
        """Yield unit ``i`` up to row ``end``, as a whole or, where it is large, in pieces, each with its first row."""
        start, stop = self._edges[i : i + 2].tolist()
        if (stop - start) * self.width * self.dtype.itemsize <= _LARGE_UNIT or not self._is_parquet:
            yield start, self._unit(i)
            return
        for piece in self._stream(i, _BATCH):
            yield start, piece
            start += len(piece)
            if start >= end:
                return

    def _unit(self, i: int) -> Any:
        """Return the columns of one row group or record batch."""
        names = list(self.names)
        if self._is_parquet:
            unit = _guarded(self.path, lambda: _parquet(self.path).read_row_group(i, columns=names))
        elif self._starts is not None:
            start = int(self._starts[i])
            unit = _guarded(self.path, lambda: stream_batch(self.path, start, names))
        else:
            unit = _guarded(self.path, lambda: _batch(self.path, i, names))
        if len(unit) != self._edges[i + 1] - self._edges[i]:
            raise DamagedError(f"{self.path!r} has changed since it was opened")
        return unit

    def _stream(self, i: int, n_rows: int) -> Iterator[Any]:
        if not self._is_parquet:
            unit = self._unit(i)
            yield from (unit.slice(start, n_rows) for start in range(0, len(unit), n_rows))
            return
        # A file of its own: pages are read as they are needed, and one row group may be larger than memory.
        open_file = arrow("pyarrow.parquet").ParquetFile
        with _guarded(self.path, lambda: open_file(self.path, pre_buffer=False, buffer_size=_READ_AHEAD)) as file:
            batches = file.iter_batches(n_rows, row_groups=[i], columns=list(self.names))
            while (piece := _guarded(self.path, lambda: next(batches, None))) is not None:
                yield piece

    def _rows(self, piece: Any, first_row: int) -> Rows:
        """Return a piece of the table as rows (m, width), and check them."""
        columns = [piece.column(piece.schema.get_field_index(column)) for column in self.names]
        return to_rows(columns, self.names, self.name, first_row, self.dtype)


def _begins(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            start = file.read(LONGEST)
    except OSError as error:
        raise DamagedError(f"{path!r} cannot be read: {error.strerror or shortly(error)}") from None
    if not start:
        raise DamagedError(f"{path!r} is empty")
    found = next((known for known in (PARQUET, ARROW, STREAM) if start.startswith(known)), None)
    if found is None:
        refuse_misnamed(start, path, "neither a Parquet nor an Arrow file,")
        raise DamagedError(f"{path!r} is neither a Parquet nor an Arrow file: it does not begin as one")
    return found


def _guarded(path: str, reading: Callable[[], Found]) -> Found:
    """Return what a reader finds, or say in one sentence that the file is not readable."""
    try:
        return reading()
    except (arrow("pyarrow").ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise DamagedError(f"{path!r} is damaged or cut off: {shortly(error)}") from None


def _number(kind: Any, column: str, path: str) -> np.dtype[Any]:
    types = arrow("pyarrow").types
    if types.is_boolean(kind) or types.is_decimal(kind):
        return np.dtype(np.float64)
    if types.is_integer(kind) or types.is_floating(kind):
        found: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return found
    raise ValueError(f"column {column!r} of {path!r} holds {kind}, not numbers; encode it or leave it out")


@lru_cache(maxsize=16)  # the outline of a file with many row groups takes as long to read as one of them
def _outline_of(path: str, _size: int, _changed: int) -> Any:
    return arrow("pyarrow.parquet").read_metadata(path)


def _parquet(path: str) -> Any:
    stat = Path(path).stat()
    outline = _outline_of(path, stat.st_size, stat.st_mtime_ns)
    return arrow("pyarrow.parquet").ParquetFile(
        path, metadata=outline, pre_buffer=False, page_checksum_verification=True
    )


def _parquet_outline(path: str) -> tuple[Any, list[int], None]:
    with _parquet(path) as file:
        outline = file.metadata
        return file.schema_arrow, [outline.row_group(i).num_rows for i in range(outline.num_row_groups)], None


def _arrow_outline(path: str) -> tuple[Any, list[int], None]:
    ipc = arrow("pyarrow.ipc")
    # One column of a memory map: of what is not compressed, the numbers themselves are not read.
    with arrow("pyarrow").memory_map(path) as file:
        schema = ipc.open_file(file).schema
        reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=[0]))
        return schema, [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)], None


def _batch(path: str, i: int, names: list[str]) -> Any:
    ipc = arrow("pyarrow.ipc")
    with arrow("pyarrow").OSFile(path) as file:
        schema = ipc.open_file(file).schema
        fields = [schema.get_field_index(name) for name in names]
        return ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=fields)).get_batch(i)
