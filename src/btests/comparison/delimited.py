"""CSV files to arrow tables."""

from __future__ import annotations

import io
import re
from importlib import import_module
from typing import Any

from btests.comparison.format import counted, option
from btests.comparison.need import arrow
from btests.data.cell_checks import DamagedError
from btests.data.magic import what_it_is

# Types that a column may be read as after its first type did not fit all rows.
_WIDER = {"null": "string", "int64": "double", "bool": "string", "double": "string"}

_PLACE = re.compile(r"Row #(\d+)")
_COLUMN = re.compile(r"In CSV column #(\d+): .*conversion error to ([a-z0-9]+)")

#: Cells of CSV files that are missing, in columns of any kind, quoted or not; more by the option ``missing``.
MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

_DELIMITERS = {";": "';'", "\t": "a tab", "|": "'|'", ",": "','"}


def read_csv(data: bytes, where: str, delimiter: str, guessed: bool) -> Any:
    """Return the table in the bytes of a file with a header; ``guessed`` if nobody named the delimiter."""
    pa = arrow()
    csv = import_module("pyarrow.csv")
    what = what_it_is(data)
    if what is not None:
        raise ValueError(f"{where!r} is {what}")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:4096]:
        raise ValueError(f"{where!r} is not UTF-8 text; save it as UTF-8 first")
    if not data or data.isspace():
        raise DamagedError(f"{where!r} is empty")
    if len(data) < 2**16 and not re.search(rb"[\r\n]", data.strip()):
        raise ValueError(f"{where!r} has a header and no rows")
    types: dict[str, Any] = {}
    names: list[str] = []
    while True:
        options = csv.ConvertOptions(
            strings_can_be_null=True, quoted_strings_can_be_null=True, null_values=MISSING, column_types=types
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
                raise DamagedError(_complaint(data, where, delimiter, guessed, error)) from None
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
    if guessed:
        _refuse_other_delimiter(table, data, where, delimiter)
    _refuse_bytes(table, where, pa)
    return table


def _complaint(data: bytes, where: str, delimiter: str, guessed: bool, error: Exception) -> str:
    csv, pa = import_module("pyarrow.csv"), arrow()
    text = str(error)
    try:
        csv.read_csv(io.BytesIO(data), csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter=delimiter))
    except pa.ArrowInvalid as again:
        text = str(again)
    row = _PLACE.search(text)
    counts = re.search(r"Expected (\d+) columns, got (\d+)", text)
    other = _other_delimiter(data, delimiter) if guessed else None
    if counts and other is not None:
        return _wrong_delimiter(where, delimiter, other)
    if counts:
        line = f"line {row[1]}" if row else "a line"
        return f"{where!r} is ragged: {line} has {counted(int(counts[2]), 'cell')} and the header has {counts[1]}"
    return f"{where!r} is not a readable CSV file: {shortly(error)}"


def _other_delimiter(data: bytes, delimiter: str) -> str | None:
    """Return what separates cells if the first lines all have as many of it, and not as many of the delimiter."""
    lines = [line for line in data[: 2**16].decode("utf-8", "replace").splitlines()[:50] if line.strip()]
    lines = lines[:-1] if len(data) > 2**16 and len(lines) > 1 else lines  # the last one may be cut off
    for other in _DELIMITERS:
        counts = {line.count(other) for line in lines}
        if other != delimiter and len(counts) == 1 and counts != {0}:
            return other
    return None


def _refuse_other_delimiter(table: Any, data: bytes, where: str, delimiter: str) -> None:
    names = table.column_names
    if len(names) > 1:
        # A header and cells with commas in them: "length, cm;weight" above "1,5;2".
        other = _other_delimiter(data, delimiter)
        if other is not None and delimiter.join(names).count(other) >= len(names) - 1:
            raise ValueError(_wrong_delimiter(where, delimiter, other))
        return
    other = next((d for d in _DELIMITERS if d != delimiter and d in names[0]), None)
    if other is not None:
        raise ValueError(
            f"{where!r} has one column, {names[0][:60]!r}; if {_DELIMITERS[other]} separates its cells, "
            f"add {option('delimiter', other)}"
        )


def _wrong_delimiter(where: str, delimiter: str, other: str) -> str:
    return (
        f"{where!r} seems to have {_DELIMITERS[other]} between its cells, and was read with {_DELIMITERS[delimiter]}; "
        f"add {option('delimiter', other)}"
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
