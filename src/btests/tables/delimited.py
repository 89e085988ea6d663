"""CSV files to arrow tables."""

from __future__ import annotations

import io
import re
from importlib import import_module
from typing import Any

from btests.tables.need import arrow
from btests.tables.words import counted

# Types that a column may be read as after its first type did not fit all rows.
_WIDER = {"null": "string", "int64": "double", "bool": "string", "double": "string"}

_PLACE = re.compile(r"Row #(\d+)")
_COLUMN = re.compile(r"In CSV column #(\d+): .*conversion error to ([a-z0-9]+)")

_DELIMITERS = {";": "';'", "\t": "a tab", "|": "'|'", ",": "','"}


def read_csv(data: bytes, where: str, delimiter: str, guessed: bool) -> Any:
    """Return the table in the bytes of a file with a header; ``guessed`` if nobody named the delimiter."""
    pa = arrow()
    csv = import_module("pyarrow.csv")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:4096]:
        raise ValueError(f"{where!r} is not UTF-8 text; save it as UTF-8 first")
    if not data.strip():
        raise ValueError(f"{where!r} is empty")
    types: dict[str, Any] = {}
    names: list[str] = []
    while True:
        options = csv.ConvertOptions(
            strings_can_be_null=True, quoted_strings_can_be_null=False, column_types=types, include_columns=None
        )
        parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        try:
            # In one thread the reader knows the number of a row that it refuses.
            table = csv.read_csv(
                io.BytesIO(data), csv.ReadOptions(block_size=2**22, use_threads=not types), parse, options
            )
            break
        except pa.ArrowInvalid as error:
            match = _COLUMN.search(str(error))
            if match is None:
                raise ValueError(_complaint(data, where, delimiter, error)) from None
            names = names or csv.open_csv(io.BytesIO(data[: 2**20]), parse_options=parse).schema.names
            column = names[int(match[1])]
            if types.get(column) == pa.string():
                raise ValueError(f"column {column!r} of {where!r} is not UTF-8 text") from None
            wider = _WIDER.get(match[2], "string")
            types[column] = pa.string() if wider == "string" else pa.float64()
    try:
        table.column_names  # noqa: B018  the reader does not look at the header, its names are decoded here
    except UnicodeDecodeError:
        raise ValueError(f"the header of {where!r} is not UTF-8 text; save the file as UTF-8") from None
    _refuse_other_delimiter(table, where, delimiter, guessed)
    _refuse_bytes(table, where, pa)
    return table


def _complaint(data: bytes, where: str, delimiter: str, error: Exception) -> str:
    csv, pa = import_module("pyarrow.csv"), arrow()
    text = str(error)
    try:
        csv.read_csv(io.BytesIO(data), csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter=delimiter))
    except pa.ArrowInvalid as again:
        text = str(again)
    row = _PLACE.search(text)
    counts = re.search(r"Expected (\d+) columns, got (\d+)", text)
    if counts:
        line = f"line {row[1]}" if row else "a line"
        return f"{where!r} is ragged: {line} has {counted(int(counts[2]), 'cell')} and the header has {counts[1]}"
    return f"{where!r} is not a readable CSV file: {shortly(error)}"


def _refuse_other_delimiter(table: Any, where: str, delimiter: str, guessed: bool) -> None:
    if table.num_columns != 1 or not guessed:
        return
    header = table.column_names[0]
    other = next((d for d in _DELIMITERS if d != delimiter and d in header), None)
    if other is not None:
        shown = "$'\\t'" if other == "\t" else repr(other)
        raise ValueError(
            f"{where!r} has one column, {header[:60]!r}; if {_DELIMITERS[other]} separates its cells, "
            f"add --delimiter {shown}"
        )


def _refuse_bytes(table: Any, where: str, pa: Any) -> None:
    """Raise where text is no UTF-8: the reader hands such columns over as bytes."""
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


def shortly(error: Exception) -> str:
    """Return the first sentence of a reader's complaint, short enough to be part of one."""
    text = str(error).strip() or type(error).__name__
    text = re.split(r"\n|\. (?=[A-Z])", text)[0].rstrip(". ")
    return text if len(text) <= 160 else text[:159] + "\u2026"
