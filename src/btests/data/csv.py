"""Rows in delimited text files (CSV, TSV), parsed a unit at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._option_checks import check_delimiter
from btests._text import shortly
from btests.data.cell_checks import beyond_whole, choose_columns, to_rows, warn_of_huge_whole_numbers
from btests.data.compression import codec_of, open_input
from btests.data.csv_dialect import (
    UNIT_BYTES,
    Lines,
    all_digits,
    convert_options,
    count_lines,
    default_delimiter,
    end_of_last_row,
    header_of,
    is_boolean,
    is_number,
    numbers_columns,
    ragged,
    too_long,
)
from btests.data.csv_quotes import check_quotes_of_file
from btests.data.errors import DamagedError, quoted, reading
from btests.data.source import Rows
from btests.plan import Index

# Bytes that the header and the types of the columns are inferred from.
_HEAD = 2**20

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class CsvSource:
    """Numbers and booleans in the columns of one delimited text file; all come out as float64.

    Units of some megabytes are parsed by themselves. A compressed file (.gz), or one whose quotes do not allow that, is
    one unit, and parsed from its beginning each time. A first line of numbers alone is a row, unless they are 0, 1, 2,
    ...; any other is the header.

    Attributes
    ----------
    path : str
        A text file in UTF-8; compressed if it ends with .gz.
    delimiter : str
        One character.
    names : tuple of str or None
        Names of the columns that are read; None without a header.
    n_rows : int
        Number of rows.
    """

    path: str
    delimiter: str
    names: tuple[str, ...] | None
    _chosen: tuple[int, ...] = field(repr=False)
    _n_columns: int = field(repr=False)
    _offset: int = field(repr=False)
    _booleans: frozenset[int] = field(repr=False, default=frozenset())
    _whole: frozenset[int] = field(repr=False, default=frozenset())
    _lines: Lines | None = field(repr=False, compare=False, default=None)
    n_rows: int = 0

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.path

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        return len(self._chosen)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Text is read as float64."""
        return np.dtype(np.float64)

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was skipped."""
        return ()

    def units(self) -> Index:
        """Return the edges of the units that are parsed by themselves: (n_units + 1,)."""
        return self._lines.edges if self._lines else np.array([0, self.n_rows])

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        return self.take(np.arange(first, last, dtype=np.int64))

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        if self._lines is not None:
            cuts = np.searchsorted(rows, self._lines.edges)
            for i in np.flatnonzero(np.diff(cuts)).tolist():
                a, b = int(cuts[i]), int(cuts[i + 1])
                np.take(self._unit(i), rows[a:b] - self._lines.edges[i], axis=0, out=found[a:b], mode="clip")
            return found
        start = 0
        for piece in self._stream() if rows.size else ():
            a, b = np.searchsorted(rows, [start, start + len(piece)]).tolist()
            found[a:b] = piece[rows[a:b] - start]
            start += len(piece)
            if start > rows[-1]:
                break
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        n_units = 0 if self._lines is None else len(self._lines.edges) - 1
        pieces = self._stream() if self._lines is None else (self._unit(i) for i in range(n_units))
        for piece in pieces:
            for start in range(0, len(piece), n_rows):
                yield piece[start : start + n_rows]

    def _types(self, head: bytes) -> tuple[frozenset[int], frozenset[int]]:
        """Return which columns are booleans, and which whole numbers; raise if the first rows hold text."""
        end = end_of_last_row(head) if len(head) + self._offset >= _HEAD else len(head)
        if not head[:end].strip():
            return frozenset(), frozenset()
        pa = arrow("pyarrow")
        try:
            table = self._parsed(head[:end], {})
        except pa.ArrowException:
            return frozenset(), frozenset()  # reading the unit raises an error with the position
        kinds = {j: table.column(i).type for i, j in enumerate(self._chosen)}
        for i, (j, kind) in enumerate(kinds.items()):
            is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            if not (is_number or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
                self._refuse_text(table.column(i).cast(pa.string()), j, 0)
        whole = {j for j, kind in kinds.items() if pa.types.is_integer(kind)}
        floats = [i for i, kind in enumerate(kinds.values()) if pa.types.is_floating(kind)]
        if any(beyond_whole(table.column(i)) for i in floats):
            # Beyond 2^63 pyarrow takes whole numbers for floats.
            texts = next(self._text(head[:end]))
            whole |= {self._chosen[i] for i in floats if all_digits(texts.column(i))}
        return frozenset(j for j, kind in kinds.items() if pa.types.is_boolean(kind)), frozenset(whole)

    def _unit(self, i: int) -> Rows:
        assert self._lines is not None
        start, end = self._lines.starts[i : i + 2].tolist()
        first, last = self._lines.edges[i : i + 2].tolist()
        with reading(self.path), Path(self.path).open("rb") as file:
            file.seek(start)
            data = file.read(end - start)
        if len(data) < end - start:
            raise DamagedError(f"{self.path!r} was cut off while it was read")
        if first == last:
            return np.empty((0, self.width))
        pa = arrow("pyarrow")
        try:
            table = self._parsed(data, self._column_types())
        except pa.ArrowException as error:
            raise self._complaint(self._text(data), first, error) from None
        if len(table) != last - first:
            raise DamagedError(f"{self.path!r} has changed since it was opened, or its quotes hide where rows end")
        return self._rows(table.columns, first)

    def _rows(self, columns: list[Any], first: int) -> Rows:
        """Return parsed columns as checked rows (m, width)."""
        found = to_rows(columns, self.names, self.name, first, self.dtype)
        for i, j in enumerate(self._chosen):
            if j in self._whole:
                label = j if self.names is None else self.names[i]
                warn_of_huge_whole_numbers(found[:, i], f"column {label!r} of {self.name!r}", whole=True)
        return found

    def _stream(self) -> Iterator[Rows]:
        """Yield all rows from the beginning, in batches of the parser."""
        done = 0
        try:
            for batch in self._batches(self._column_types()):
                yield self._rows(batch.columns, done)
                done += len(batch)
        except (arrow("pyarrow").ArrowException, OSError) as error:
            raise self._complaint(self._texts(), done, error) from None

    def _texts(self) -> Iterator[Any]:
        return self._batches({str(j): arrow("pyarrow").string() for j in self._chosen})

    def _batches(self, types: dict[str, Any]) -> Iterator[Any]:
        with open_input(self.path) as file:
            if not file.read(self._offset + 1)[self._offset :]:
                return  # a header and nothing else
        with open_input(self.path) as file:
            file.read(self._offset)
            options = self._options(types, block_size=UNIT_BYTES // 4)
            yield from (batch for batch in arrow("pyarrow.csv").open_csv(file, **options) if len(batch))

    def _parsed(self, data: bytes, types: dict[str, Any]) -> Any:
        file = arrow("pyarrow").BufferReader(data)
        return arrow("pyarrow.csv").read_csv(file, **self._options(types, block_size=_HEAD))

    def _text(self, data: bytes) -> Iterator[Any]:
        pa = arrow("pyarrow")
        options = self._options({str(j): pa.string() for j in self._chosen}, len(data) + 1, one_thread=True)
        yield arrow("pyarrow.csv").read_csv(pa.BufferReader(data), **options)

    def _column_types(self) -> dict[str, Any]:
        pa = arrow("pyarrow")
        return {str(j): pa.bool_() if j in self._booleans else pa.float64() for j in self._chosen}

    def _options(self, types: dict[str, Any], block_size: int, *, one_thread: bool = False) -> dict[str, Any]:
        text = arrow("pyarrow.csv")
        # Columns are named by their numbers: names in the file need not be unique.
        numbers = [str(j) for j in range(self._n_columns)]
        quoted = self._lines is None or self._lines.quoted
        return {
            "read_options": text.ReadOptions(column_names=numbers, block_size=block_size, use_threads=not one_thread),
            "parse_options": text.ParseOptions(delimiter=self.delimiter, newlines_in_values=quoted),
            "convert_options": convert_options([str(j) for j in self._chosen], types),
        }

    def _complaint(self, texts: Iterator[Any], first_row: int, error: Exception) -> ValueError:
        """Return an error that names row and column, from the same rows read as text."""
        done = 0 if self._lines is None else first_row
        try:
            for batch in texts:
                for column, j in zip(batch.columns, self._chosen, strict=True):
                    self._refuse_text(column, j, done)
                done += len(batch)
        except (arrow("pyarrow").ArrowException, OSError) as again:
            place = ragged(str(again))
            if place is not None:
                # The parser counts rows from the beginning of the unit, and gives no number for a stream.
                row = f"row {first_row + place[0] - 1}" if place[0] and self._lines else f"a row from {done} on"
                counts = f"has {place[1]} cells and the first line has {place[2]}"
                return DamagedError(f"{self.path!r} is ragged: {row} {counts}")
            long = too_long(str(again), UNIT_BYTES // 4)
            what = long or f"is damaged or no delimited text after row {done}: {shortly(again)}"
            return DamagedError(f"{self.path!r} {what}")
        except ValueError as found:
            return found
        return ValueError(f"{self.path!r} cannot be read after row {first_row}: {shortly(error)}")

    def _refuse_text(self, column: Any, j: int, first_row: int) -> None:
        for row, cell in enumerate(column.to_pylist(), start=first_row):
            if cell is not None and not is_number(cell) and not (j in self._booleans and is_boolean(cell)):
                where = f"row {row}, column {j if self.names is None else repr(self.names[self._chosen.index(j)])}"
                raise ValueError(
                    f"{self.path!r} has text in {where}: {quoted(cell)}; encode the column or leave it out"
                )


def open_csv(
    path: str | os.PathLike[str], columns: tuple[str, ...] | None = None, delimiter: str | None = None
) -> CsvSource:
    """Return the source of a delimited text file, after a pass over it that counts its rows.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8; compressed if it ends with .gz.
    columns : tuple of str or None
        Names of the columns to read, in this order; None is all of them.
    delimiter : str or None
        Separates cells; None is a tab for .tsv and .tab files and a comma for others.
    """
    path = os.fspath(path)
    delimiter = check_delimiter(delimiter) or default_delimiter(path)
    head = _head(path)
    header, offset = header_of(head, path, delimiter)
    names: tuple[str, ...] | None = None
    chosen = tuple(range(len(header)))
    if not all(map(is_number, header)) or numbers_columns(header):
        names = choose_columns(header, columns, path)
        chosen = tuple(header.index(column) for column in names)
    elif columns is not None:
        raise ValueError(f"the columns of {path!r} have no names: its first line is a row of numbers")
    else:
        offset = len(_BOM) if head.startswith(_BOM) else 0
    source = CsvSource(path, delimiter, names, chosen, len(header), offset)
    booleans, whole = source._types(head[offset:])
    lines = None if codec_of(path) else count_lines(path, offset, delimiter)
    source = replace(source, _booleans=booleans, _whole=whole, _lines=lines)
    if lines is None:
        check_quotes_of_file(path, delimiter)
    return replace(source, n_rows=int(lines.edges[-1]) if lines else sum(map(len, source._stream())))


def _head(path: str) -> bytes:
    """Return the first bytes of a file, uncompressed."""
    if Path(path).is_file() and not Path(path).stat().st_size:
        raise DamagedError(f"{path!r} is empty")
    with reading(path), open_input(path) as file:
        return bytes(file.read(_HEAD))
