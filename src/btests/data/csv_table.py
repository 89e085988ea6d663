"""Delimited text with a header as a table, with types inferred from all rows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from btests._imports import arrow
from btests.data.csv_parser import CsvParser, check_one_column, is_ragged, wrong_delimiter
from btests.data.csv_rows import check_quotes
from btests.data.errors import DamagedError
from btests.data.formats import what_it_is
from btests.data.text_format import TextFormat, comma_numbers

# Types that a column may be read as after its first type did not fit all rows.
_WIDER = {"null": "string", "int64": "double", "bool": "string", "double": "string"}

# Digits of whole numbers that are read exactly, and the first number that has more.
_DIGITS, _MOST = 37, 1e37

_COLUMN = re.compile(r"In CSV column #(\d+): .*conversion error to ([a-z0-9]+)")


def read_csv(
    data: bytes, where: str, delimiter: str, *, guessed: bool, is_all: bool = True, decimal: str | None = None
) -> Any:
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
    decimal : str or None
        Before the fraction of a number; None is a point, or a comma in columns that have it if ``;`` is the delimiter.
    """
    _check_text(data, where)
    if is_all:
        check_quotes(data, where, delimiter)
    parser = CsvParser(where, delimiter, decimal=decimal or ".")
    table, types = _parsed(data, parser, guessed=guessed)
    try:
        found = tuple(table.column_names)
    except UnicodeDecodeError:  # pyarrow does not check the header
        raise ValueError(f"the header of {where!r} is not UTF-8 text; save the file as UTF-8") from None
    if guessed:
        _check_delimiter(found, data, where, delimiter)
    _refuse_bytes(table, where)
    if TextFormat(decimal=decimal).has_commas(delimiter):
        table = comma_numbers(table, named=decimal is not None)
    return table if decimal == "," else _with_exact_numbers(table, data, replace(parser, types=types))


def _parsed(data: bytes, parser: CsvParser, *, guessed: bool) -> tuple[Any, dict[str, Any]]:
    """Return a table, and the types of columns that are wider than those of their first rows."""
    pa = arrow()
    types: dict[str, Any] = {}
    names: tuple[str, ...] = ()
    while True:
        try:
            # In one thread pyarrow numbers the rows that it refuses.
            return replace(parser, types=types).table(data, threads=not types), types
        except pa.ArrowInvalid as error:
            match = _COLUMN.search(str(error))
            if match is None:
                raise _complaint(data, parser, guessed, error) from None
            names = names or parser.names(data[: 2**20])
            column = names[int(match[1])]
            if types.get(column) == pa.string():
                raise ValueError(f"column {column!r} of {parser.where!r} is not UTF-8 text") from None
            types[column] = pa.type_for_alias(_WIDER.get(match[2], "string"))


def _with_exact_numbers(table: Any, data: bytes, parser: CsvParser) -> Any:
    """Return a table with whole numbers beyond 64 bits as decimals: as floats their last digits are lost."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    huge = {}
    for i, column in enumerate(table.columns):
        if pa.types.is_float64(column.type):
            ends = pc.min_max(column).as_py().values()
            if all(end is not None and 2.0**63 <= abs(end) < _MOST for end in ends):
                huge[table.field(i).name] = pa.decimal128(_DIGITS, 0)
    if not huge:
        return table
    try:
        exact = replace(parser, columns=tuple(huge), types={**parser.types, **huge}, decimal=".").table(data)
        for name in huge:
            table = table.set_column(table.column_names.index(name), name, exact[name])
        return table
    except pa.ArrowInvalid:  # not whole
        return table


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
    try:
        replace(parser, types={}, newlines=False).table(data, threads=False)
    except arrow().ArrowInvalid as again:
        error = again if is_ragged(again) else error
    other = wrong_delimiter(data, parser.where, parser.delimiter) if guessed and is_ragged(error) else None
    return other or parser.fault(error)


def _check_delimiter(names: tuple[str, ...], data: bytes, where: str, delimiter: str) -> None:
    check_one_column(names, where, delimiter)
    # A header and cells with commas in them: "length, cm;weight" above "1,5;2".
    error = wrong_delimiter(data, where, delimiter) if len(names) > 1 else None
    if error is not None and delimiter.join(names).count(error.delimiter) >= len(names) - 1:
        raise error


def _refuse_bytes(table: Any, where: str) -> None:
    """Raise if text is not UTF-8: pyarrow returns such columns as bytes."""
    pa = arrow()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_binary(column.type):
            continue
        for row, cell in enumerate(column.to_pylist(), start=1):
            try:
                (cell or b"").decode("utf-8")
            except UnicodeDecodeError:
                raise ValueError(
                    f"column {name!r} of {where!r} is not UTF-8 text in row {row}; save the file as UTF-8"
                ) from None
