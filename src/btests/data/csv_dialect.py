"""Dialect of delimited text: delimiter, header, missing values, and the types of single cells."""

from __future__ import annotations

import csv
import re
from typing import Any

from btests.data.csv_index import end_of_row
from btests.data.errors import DamagedError
from btests.data.files import TABLES
from btests.data.magic import what_it_is
from btests.data.optional import arrow

#: Cells that are missing, in columns of any type, quoted or not; `compare` takes more as ``missing``.
MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

_DELIMITERS = {";": "';'", "\t": "a tab", "|": "'|'", ",": "','"}


class DelimiterError(ValueError):
    """Text that is read with the wrong delimiter.

    Attributes
    ----------
    what : str
        The message without its remedy.
    delimiter : str
        The one that seems right.
    """

    def __init__(self, what: str, delimiter: str) -> None:
        super().__init__(f"{what} name it")
        self.what, self.delimiter = what, delimiter


def default_delimiter(path: str) -> str:
    """Return the delimiter of a file by its name: a tab for .tsv and .tab, a comma for others."""
    return "\t" if TABLES.get(path) == "tsv" else ","


def check_one_column(names: tuple[str, ...], path: str, delimiter: str) -> None:
    """Raise where there is one column and its name holds another delimiter."""
    other = next((d for d in _DELIMITERS if d != delimiter and d in names[0]), None)
    if len(names) == 1 and other is not None:
        raise DelimiterError(
            f"{path!r} has one column, {names[0][:60]!r}; if {_DELIMITERS[other]} separates its cells,", other
        )


def wrong_delimiter(data: bytes, path: str, delimiter: str) -> DelimiterError | None:
    """Return an error if each of the first lines has as many of another delimiter, else None."""
    other = _other_delimiter(data, delimiter)
    if other is None:
        return None
    what = f"seems to have {_DELIMITERS[other]} between its cells, and was read with {_DELIMITERS[delimiter]};"
    return DelimiterError(f"{path!r} {what}", other)


def _other_delimiter(data: bytes, delimiter: str) -> str | None:
    lines = [line for line in data[: 2**16].decode("utf-8", "replace").splitlines()[:50] if line.strip()]
    lines = lines[:-1] if len(data) > 2**16 and len(lines) > 1 else lines  # the last one may be cut off
    for other in _DELIMITERS:
        counts = {line.count(other) for line in lines}
        if other != delimiter and len(counts) == 1 and counts != {0}:
            return other
    return None


def ragged(text: str) -> tuple[int | None, int, int] | None:
    """Return line, cells and cells of the header from pyarrow's message on a line of another length, else None."""
    found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", text)
    return None if found is None else (int(found[1]) if found[1] else None, int(found[3]), int(found[2]))


def convert_options(columns: list[str], types: dict[str, Any]) -> Any:
    """Return pyarrow's options to convert cells: these columns, or all for none of them, with these types."""
    return arrow("pyarrow.csv").ConvertOptions(
        include_columns=columns,
        column_types=types,
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        null_values=MISSING,
    )


def numbers_columns(cells: tuple[str, ...]) -> bool:
    """Return whether a line is 0, 1, 2, ...: the default names of columns in data frames."""
    return len(cells) > 1 and list(cells) == [str(j) for j in range(len(cells))]


def header_of(head: bytes, path: str, delimiter: str) -> tuple[tuple[str, ...], int]:
    """Return the cells of the first row, and the byte at which the second begins."""
    what = what_it_is(head)
    if what is not None:
        raise DamagedError(f"{path!r} is {what}")
    blank = len(head) - len(head.lstrip(b"\r\n"))
    end = end_of_row(head[blank:])
    line = head[blank:] if end < 0 else head[blank : blank + end]
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DamagedError(f"the first line of {path!r} is not UTF-8 text; save the file as UTF-8") from None
    try:
        cells = tuple(next(csv.reader([text], delimiter=delimiter), ()))
    except csv.Error:
        cells = ()
    if "\x00" in text or not cells:
        raise DamagedError(f"{path!r} is not a delimited text file")
    check_one_column(cells, path, delimiter)
    return cells, blank + len(line)


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, as pyarrow parses them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python's own 1_000


def is_boolean(cell: str) -> bool:
    """Return whether a cell is true or false."""
    return cell.lower() in ("true", "false")
