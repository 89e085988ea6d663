"""Delimited text with a header as a table, with types that fit all rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from btests._imports import arrow
from btests.data.cell_checks import check_same_columns
from btests.data.column_type import ColumnType
from btests.data.csv_parser import CsvParser, check_one_column, is_ragged, wrong_delimiter
from btests.data.csv_rows import check_quotes
from btests.data.errors import DamagedError
from btests.data.formats import what_it_is
from btests.data.text_format import AS_FOUND, TextFormat

_COLUMN = re.compile(r"In CSV column #(\d+): .*conversion error")


@dataclass(frozen=True, slots=True)
class TextTable:
    """Table of text, whose types are still to be inferred.

    Attributes
    ----------
    where : str
        Name of the file in messages.
    cells : pyarrow.Table
        All columns as text.
    commas : str
        Whether numbers have a decimal comma, of ``TextFormat.commas``.
    """

    where: str
    cells: Any
    commas: str


def typed(parts: Sequence[TextTable]) -> Any:
    """Return parts of one table with the types that fit all their cells."""
    pa = arrow()
    for part in parts[1:]:
        check_same_columns(parts[0].where, parts[0].cells.column_names, part.where, part.cells.column_names)
    columns, fields = [], []
    for name in parts[0].cells.column_names:
        seen, found = ColumnType.nothing(), []
        for part in parts:
            for text in part.cells[name].chunks:
                seen, cells = seen.fitted(text, part.commas)
                found.append((text, seen.form, cells))
        chunks = [cells if form == seen.form else seen.read(text) for text, form, cells in found]
        columns.append(pa.chunked_array(chunks, seen.dtype))
        fields.append(seen.field(name))
    return pa.table(columns, schema=pa.schema(fields))


def read_csv(
    data: bytes, where: str, delimiter: str, *, guessed: bool, is_all: bool = True, text: TextFormat = AS_FOUND
) -> TextTable:
    """Return the table in the bytes of a file.

    Parameters
    ----------
    data : bytes
        UTF-8 text.
    where : str
        Name of the file in messages.
    delimiter : str
        One character.
    guessed : bool
        Whether the user has not named the delimiter; then another one that is likely is an error.
    is_all : bool
        Whether these are all rows; a quote that is not closed is then an error.
    text : TextFormat
        What the user has named.
    """
    _check_text(data, where)
    if is_all:
        check_quotes(data, where, delimiter)
    parser = CsvParser(where, delimiter, missing=text.missing)
    try:
        names = parser.names(data)
        table = replace(parser, types=dict.fromkeys(names, arrow().string())).table(data)
    except UnicodeDecodeError:  # pyarrow does not check the header
        raise ValueError(f"the header of {where!r} is not UTF-8 text; save the file as UTF-8") from None
    except arrow().ArrowInvalid as error:
        raise _complaint(data, parser, guessed, error) from None
    if guessed:
        _check_delimiter(names, data, where, delimiter)
    return TextTable(where, table, text.commas(delimiter))


def _check_text(data: bytes, where: str) -> None:
    what = what_it_is(data)
    if what is not None:
        raise ValueError(f"{where!r} is {what}")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:4096]:
        raise ValueError(f"{where!r} is not UTF-8 text; save it as UTF-8 first")
    if not data or data.isspace():
        raise DamagedError(f"{where!r} is empty")
    if len(data) < 2**16 and not re.search(rb"[\r\n]", data.strip()):
        raise ValueError(f"{where!r} has a header and no rows")


def _complaint(data: bytes, parser: CsvParser, guessed: bool, error: Exception) -> ValueError:
    """Return the error for text that pyarrow does not parse."""
    column = _COLUMN.search(str(error))
    if column is not None:
        return _not_text(data, parser, int(column[1]))
    try:
        replace(parser, newlines=False).table(data, threads=False)
    except arrow().ArrowInvalid as again:
        error = again if is_ragged(again) else error
    other = wrong_delimiter(data, parser.where, parser.delimiter) if guessed and is_ragged(error) else None
    return other or parser.fault(error)


def _not_text(data: bytes, parser: CsvParser, place: int) -> ValueError:
    """Return an error that names the first cell of a column that is not UTF-8 text."""
    name = parser.names(data)[place]
    cells = replace(parser, columns=(name,), types={name: arrow().binary()}).table(data)[name].to_pylist()
    row = next((row for row, cell in enumerate(cells, start=1) if not _is_text(cell or b"")), None)
    place_of = "" if row is None else f" in row {row}"
    return ValueError(f"column {name!r} of {parser.where!r} is not UTF-8 text{place_of}; save the file as UTF-8")


def _is_text(cell: bytes) -> bool:
    try:
        cell.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _check_delimiter(names: tuple[str, ...], data: bytes, where: str, delimiter: str) -> None:
    check_one_column(names, where, delimiter)
    # A header and cells with commas in them: "length, cm;weight" above "1,5;2".
    error = wrong_delimiter(data, where, delimiter) if len(names) > 1 else None
    if error is not None and delimiter.join(names).count(error.delimiter) >= len(names) - 1:
        raise error
