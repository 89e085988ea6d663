"""Numbers in the columns of a delimited text file (CSV, TSV), by units of some megabytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._option_checks import check_delimiter
from btests._text import ENCODING
from btests.data.cell_checks import beyond_whole, choose_columns
from btests.data.column_source import ColumnSource
from btests.data.compression import codec_of, open_input
from btests.data.csv_parser import BLOCK, CsvParser, default_delimiter, header_of, is_number, numbers_columns
from btests.data.csv_rows import Lines, count_lines, end_of_last_row
from btests.data.errors import DamagedError, quoted, reading
from btests.data.formats import UTF_8
from btests.data.text_format import AS_FOUND, comma_floats, encoding_of, is_comma_number, open_utf8
from btests.plan import Index

# Bytes that the header and the types of the columns are inferred from, and that are parsed at a time in a unit.
_HEAD = 2**20

# Bytes that are parsed at a time in a file that is one unit.
_BLOCK = BLOCK


@dataclass(frozen=True, slots=True)
class CsvUnits:
    """Some columns of a delimited text file, as floats and booleans, in units of some megabytes.

    A compressed file, one in UTF-16, or one whose quotes do not allow that, is one unit, and parsed from its beginning
    each time.

    Attributes
    ----------
    path : str
        The file.
    delimiter : str
        One character.
    names : tuple of str or None
        Names of the columns that are read; None without a header.
    chosen : tuple of int
        Their places in the file.
    n_columns : int
        Columns of the file.
    offset : int
        Bytes before the rows, in UTF-8 if the file is in UTF-16.
    encoding : str or None
        ``"utf-16"``, or None for text in which digits and delimiters are bytes.
    lines : Lines or None
        Units; None before they are known.
    booleans, commas : frozenset of int
        Places of columns of booleans, and of numbers with a decimal comma.
    """

    path: str
    delimiter: str
    names: tuple[str, ...] | None
    chosen: tuple[int, ...]
    n_columns: int
    offset: int
    encoding: str | None = None
    lines: Lines | None = None
    booleans: frozenset[int] = frozenset()
    commas: frozenset[int] = frozenset()

    @property
    def edges(self) -> Index:
        """Rows before each unit, and all rows: (n_units + 1,)."""
        return np.zeros(1, dtype=np.int64) if self.lines is None else self.lines.edges

    def batches(self, unit: int, n_rows: int) -> Iterator[Any]:
        """Yield the record batches of a unit, at most ``n_rows`` rows at a time."""
        done = int(self.edges[unit])
        starts = None if self.lines is None else self.lines.starts
        for batch in self.stream() if starts is None else self._unit(unit, starts):
            numbers = self._numbers(batch, done)
            yield from (numbers.slice(start, n_rows) for start in range(0, len(batch), n_rows))
            done += len(batch)

    def stream(self, *, as_text: bool = False) -> Iterator[Any]:
        """Yield all rows from the beginning, in batches of the parser; its errors name row and column."""
        with open_utf8(self.path, self.encoding) as file:
            if not file.read(self.offset + 1)[self.offset :]:
                return  # a header and nothing else
        with open_utf8(self.path, self.encoding) as file:
            before = bytes(file.read(self.offset))
            parser = self.parser(_BLOCK, as_text=as_text)
            try:
                yield from parser.batches(file, before=before, threads=not as_text)
            except DamagedError as error:
                raise error if as_text else self._explained(self.stream(as_text=True), 0, error) from None

    def parser(self, n_bytes: int, *, as_text: bool = False, inferred: bool = False) -> CsvParser:
        """Return the parser of the rows: cells have their types, or are bytes, or are inferred."""
        pa = arrow()
        # Columns are named by their numbers: names in the file need not be unique.
        columns = tuple(map(str, self.chosen))
        types = {} if inferred else dict.fromkeys(columns, pa.binary() if as_text else pa.float64())
        if not (as_text or inferred):
            types |= {str(j): pa.bool_() for j in self.booleans} | {str(j): pa.string() for j in self.commas}
        quoted = self.lines is None or self.lines.quoted
        return CsvParser(self.path, self.delimiter, columns, types, self.n_columns, newlines=quoted, n_bytes=n_bytes)

    def refuse_text(self, batch: Any, first_row: int) -> None:
        """Raise a `ValueError` that names the first cell of columns of bytes that is none of its type."""
        for place, column in enumerate(batch.columns):
            self._refuse_cells(place, column.to_pylist(), first_row)

    def _refuse_cells(self, place: int, cells: list[bytes | None], first_row: int) -> None:
        for row, cell in enumerate(cells, start=first_row):
            text = "" if cell is None else cell.decode("utf-8", "replace")
            if cell is not None and not self._is_of_type(text, self.chosen[place]):
                where = f"row {row}, column {self.chosen[place] if self.names is None else repr(self.names[place])}"
                raise ValueError(
                    f"{self.path!r} has text in {where}: {quoted(text)}; encode the column or leave it out{ENCODING}"
                )

    def _is_of_type(self, cell: str, j: int) -> bool:
        if j in self.commas:
            return is_comma_number(cell)
        return is_number(cell) or (j in self.booleans and cell.lower() in ("true", "false"))

    def _unit(self, i: int, starts: Index) -> Iterator[Any]:
        start, end = starts[i : i + 2].tolist()
        first, last = self.edges[i : i + 2].tolist()
        with Path(self.path).open("rb") as file:
            file.seek(start)
            data = file.read(end - start)
        if len(data) < end - start:
            raise DamagedError(f"{self.path!r} was cut off while it was read")
        if first == last:
            return
        parser = self.parser(_HEAD)
        try:
            table = parser.table(data)
        except arrow().ArrowException as error:
            raise self._explained(self._texts(data, first), first, parser.fault(error, first_row=first)) from None
        if len(table) != last - first:
            raise DamagedError(f"{self.path!r} has changed since it was opened, or its quotes hide where rows end")
        yield from table.to_batches()

    def _texts(self, data: bytes, first_row: int) -> Iterator[Any]:
        """Yield the rows in some bytes as one table of bytes."""
        parser = self.parser(len(data) + 1, as_text=True)
        try:
            yield parser.table(data, threads=False)
        except arrow().ArrowException as error:
            raise parser.fault(error, first_row=first_row) from None

    def _explained(self, texts: Iterator[Any], first_row: int, error: ValueError) -> ValueError:
        """Return an error that names row and column, from the same rows read as text; ``error`` if there is none."""
        try:
            for batch in texts:
                self.refuse_text(batch, first_row)
                first_row += len(batch)
        except ValueError as found:
            return found
        return error

    def _numbers(self, batch: Any, first_row: int) -> Any:
        """Return a record batch in which numbers with a decimal comma are floats."""
        for place, j in enumerate(self.chosen):
            if j in self.commas:
                found = comma_floats(batch.column(place))
                if found is None:
                    self._refuse_cells(place, batch.column(place).cast(arrow().binary()).to_pylist(), first_row)
                batch = batch.set_column(place, str(j), found)
        return batch


def open_csv(
    path: str | os.PathLike[str], columns: tuple[str, ...] | None = None, delimiter: str | None = None
) -> ColumnSource:
    """Return the source of a delimited text file, after a pass over it that counts its rows.

    All columns come out as float64. A first line of numbers alone is a row, unless they are 0, 1, 2, ...; any other is
    the header.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, Latin-1, or UTF-16 with its mark; compressed if it ends with .gz or its like.
    columns : tuple of str or None
        Names of the columns to read, in this order; None is all of them.
    delimiter : str or None
        Separates cells; None is a tab for .tsv and .tab files and a comma for others. Beside ``";"`` columns of numbers
        may have decimal commas.
    """
    path = os.fspath(path)
    delimiter = check_delimiter(delimiter) or default_delimiter(path)
    head, encoding = _head(path)
    wide = encoding if encoding == "utf-16" else None
    header, offset = header_of(head, path, delimiter, None if wide else encoding)
    has_commas = bool(AS_FOUND.commas(delimiter))
    names: tuple[str, ...] | None = None
    chosen = tuple(range(len(header)))
    if numbers_columns(header) or not all(is_number(c) or (has_commas and is_comma_number(c)) for c in header):
        names = choose_columns(header, columns, path)
        chosen = tuple(header.index(column) for column in names)
    elif columns is not None:
        raise ValueError(f"the columns of {path!r} have no names: its first line is a row of numbers")
    else:
        offset = len(UTF_8) if head.startswith(UTF_8) else 0
    units, whole = _with_types(CsvUnits(path, delimiter, names, chosen, len(header), offset, wide), head, has_commas)
    lines = None if wide or codec_of(path) else count_lines(path, offset, delimiter)
    units = replace(units, lines=lines or Lines(np.array([0, sum(map(len, units.stream()))])))
    places = frozenset(i for i, j in enumerate(chosen) if j in whole)
    return ColumnSource(path, names, (), np.dtype(np.float64), len(chosen), units, delimiter, places)


def _head(path: str) -> tuple[bytes, str | None]:
    """Return the first bytes of a file, uncompressed, and their encoding; those in UTF-16 as UTF-8."""
    if Path(path).is_file() and not Path(path).stat().st_size:
        raise DamagedError(f"{path!r} is empty")
    with reading(path):
        with open_input(path) as file:
            head = bytes(file.read(_HEAD))
        encoding = encoding_of(head)
        if encoding == "utf-16":
            with open_utf8(path, encoding) as file:
                head = bytes(file.read(_HEAD))
    return head, encoding


def _with_types(units: CsvUnits, head: bytes, has_commas: bool) -> tuple[CsvUnits, frozenset[int]]:
    """Return units with the types of their columns, and the columns of whole numbers; raise if first rows hold text."""
    rows = head[units.offset : end_of_last_row(head) if len(head) >= _HEAD else None]
    if not rows.strip():
        return units, frozenset()
    pa = arrow()
    try:
        table = units.parser(_HEAD, inferred=True).table(rows)
    except pa.ArrowException:
        return units, frozenset()  # reading the unit raises an error with the position
    is_type = pa.types
    kinds = dict(zip(units.chosen, table.schema.types, strict=True))
    booleans = frozenset(j for j, kind in kinds.items() if is_type.is_boolean(kind))
    found = zip(units.chosen, table.columns, strict=True) if has_commas else ()
    commas = frozenset(j for j, column in found if is_type.is_string(column.type) and comma_floats(column) is not None)
    units = replace(units, booleans=booleans, commas=commas)
    texts = units.parser(len(rows) + 1, as_text=True)
    if not all(j in commas or _is_numeric(kind) for j, kind in kinds.items()):
        units.refuse_text(texts.table(rows), 0)
    whole = {j for j, kind in kinds.items() if is_type.is_integer(kind)}
    floats = [i for i, j in enumerate(units.chosen) if is_type.is_floating(kinds[j])]
    if any(beyond_whole(table.column(i)) for i in floats):
        # Beyond 2^63 pyarrow takes whole numbers for floats.
        cells = texts.table(rows)
        whole |= {units.chosen[i] for i in floats if _has_long(cells.column(i))}
    return units, frozenset(whole)


def _is_numeric(kind: Any) -> bool:
    """Return whether cells of a type are numbers, booleans, or all missing."""
    types = arrow().types
    return any(is_type(kind) for is_type in (types.is_integer, types.is_floating, types.is_boolean, types.is_null))


def _has_long(column: Any) -> bool:
    """Return whether a column of bytes has whole numbers with more digits than floats hold."""
    pc = arrow("pyarrow.compute")
    return bool(pc.any(pc.match_substring_regex(column, r"^\s*[+-]?\d{16,}\s*$")).as_py())
