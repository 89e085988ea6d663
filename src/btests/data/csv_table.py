"""Delimited text with a header as tables: whole, with types inferred from all rows, or in batches of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from btests._imports import arrow
from btests._text import shortly
from btests.data.csv_dialect import check_one_column, convert_options, ragged, too_long, wrong_delimiter
from btests.data.csv_quotes import QuoteScan, ScannedFile, check_quotes
from btests.data.errors import DamagedError
from btests.data.magic import what_it_is
from btests.data.text_format import TextFormat, comma_numbers, without_commas

# Types that a column may be read as after its first type did not fit all rows.
_WIDER = {"null": "string", "int64": "double", "bool": "string", "double": "string"}

# Digits of whole numbers that are read exactly, and the first number that has more.
_DIGITS, _MOST = 37, 1e37

# Bytes that are parsed at a time; a row is not longer.
_BLOCK = 2**22

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
    pa, csv = arrow(), arrow("pyarrow.csv")
    _check_text(data, where)
    if is_all:
        check_quotes(data, where, delimiter)
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    types: dict[str, Any] = {}
    names: list[str] = []
    while True:
        # In one thread pyarrow numbers the rows that it refuses.
        options = csv.ReadOptions(block_size=_BLOCK, use_threads=not types)
        try:
            table = csv.read_csv(pa.BufferReader(data), options, parse, convert_options([], types, decimal or "."))
            break
        except pa.ArrowInvalid as error:
            match = _COLUMN.search(str(error))
            if match is None:
                raise _complaint(data, where, delimiter, guessed, error) from None
            names = names or csv.open_csv(pa.BufferReader(data[: 2**20]), parse_options=parse).schema.names
            column = names[int(match[1])]
            if types.get(column) == pa.string():
                raise ValueError(f"column {column!r} of {where!r} is not UTF-8 text") from None
            types[column] = pa.type_for_alias(_WIDER.get(match[2], "string"))
    try:
        found = tuple(table.column_names)
    except UnicodeDecodeError:  # pyarrow does not check the header
        raise ValueError(f"the header of {where!r} is not UTF-8 text; save the file as UTF-8") from None
    if guessed:
        _check_delimiter(found, data, where, delimiter)
    _refuse_bytes(table, where)
    if TextFormat(decimal=decimal).has_commas(delimiter):
        table = comma_numbers(table, named=decimal is not None)
    return table if decimal == "," else _with_exact_numbers(table, data, parse, types)


def _with_exact_numbers(table: Any, data: bytes, parse: Any, types: dict[str, Any]) -> Any:
    """Return a table with whole numbers beyond 64 bits as decimals: as floats their last digits are lost."""
    pa, csv, pc = arrow(), arrow("pyarrow.csv"), arrow("pyarrow.compute")
    huge = {}
    for i, column in enumerate(table.columns):
        if pa.types.is_float64(column.type):
            ends = pc.min_max(column).as_py().values()
            if all(end is not None and 2.0**63 <= abs(end) < _MOST for end in ends):
                huge[table.field(i).name] = pa.decimal128(_DIGITS, 0)
    if not huge:
        return table
    try:
        read = csv.ReadOptions(block_size=_BLOCK)
        exact = csv.read_csv(pa.BufferReader(data), read, parse, convert_options(list(huge), types | huge))
        for name in huge:
            table = table.set_column(table.column_names.index(name), name, exact[name])
        return table
    except pa.ArrowInvalid:  # not whole
        return table


def text_batches(
    file: Any, where: str, columns: list[str], delimiter: str, *, n_bytes: int, commas: bool = False
) -> Iterator[Any]:
    """Yield columns of an open file as text, ``n_bytes`` bytes of the file at a time; numbers without ``commas``."""
    pa, csv = arrow(), arrow("pyarrow.csv")
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    options = convert_options(columns, {name: pa.string() for name in columns})
    scan = QuoteScan(where, delimiter)
    scanned = ScannedFile(file, scan)
    try:
        batches = scanned.checked(csv.open_csv(scanned, csv.ReadOptions(block_size=n_bytes), parse, options))
        for batch in batches:
            yield _points(batch) if commas else batch
    except pa.ArrowInvalid as error:
        counts = ragged(str(error))
        if counts is not None:
            raise DamagedError(_ragged(where, *counts)) from None
        if "invalid UTF8" in str(error):
            raise DamagedError(f"{where!r} is not UTF-8 text: {shortly(error)}") from None
        what = too_long(str(error), n_bytes, scan.open_quote()) or f"is not a readable CSV file: {shortly(error)}"
        raise DamagedError(f"{where!r} {what}") from None


def _points(batch: Any) -> Any:
    return arrow().record_batch([without_commas(column) for column in batch.columns], names=batch.schema.names)


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


def _complaint(data: bytes, where: str, delimiter: str, guessed: bool, error: Exception) -> ValueError:
    csv, pa = arrow("pyarrow.csv"), arrow()
    text = str(error)
    try:
        csv.read_csv(pa.BufferReader(data), csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter=delimiter))
    except pa.ArrowInvalid as again:
        text = str(again)
    counts = ragged(text)
    if counts is None:
        what = too_long(str(error), _BLOCK) or f"is not a readable CSV file: {shortly(error)}"
        return DamagedError(f"{where!r} {what}")
    other = wrong_delimiter(data, where, delimiter) if guessed else None
    return other or DamagedError(_ragged(where, *counts))


def _ragged(where: str, line: int | None, n_cells: int, n_header: int) -> str:
    place = "a line" if line is None else f"line {line}"
    cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
    return f"{where!r} is ragged: {place} has {cells} and the header has {n_header}"


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
