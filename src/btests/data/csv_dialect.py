"""Dialect of a delimited text file, and the index of its rows without parsing."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.data.errors import DamagedError
from btests.data.files import TABLES
from btests.data.magic import what_it_is
from btests.plan import Index

#: Bytes of a unit, about.
UNIT_BYTES = 2**24

# Maximum length of a row in units; a longer one has an unclosed quote.
_LONGEST = 4

_NEWLINE, _RETURN, _QUOTE = b"\n", b"\r", b'"'


@dataclass(frozen=True, slots=True)
class Lines:
    """Rows before each unit and bytes before it, both with the end: (n_units + 1,) each."""

    edges: Index
    starts: Index
    quoted: bool


def count_lines(path: str, offset: int, delimiter: str) -> Lines | None:
    """Return the units of a file from ``offset`` on, or None where only a parser can separate its rows.

    That is the case for line ends other than newlines, and for quotes in the middle of a cell, whose meaning depends on
    everything before them.
    """
    edges, starts, quoted = [0], [offset], False
    for unit in _units(path, offset):
        n_rows = None if unit is None else _rows_in(unit, delimiter)
        if unit is None or n_rows is None:
            return None
        edges.append(edges[-1] + n_rows)
        starts.append(starts[-1] + len(unit))
        quoted = quoted or _QUOTE in unit
    return Lines(np.asarray(edges, dtype=np.int64), np.asarray(starts, dtype=np.int64), quoted)


def end_of_row(data: bytes) -> int:
    """Return the end of the first row, with its line end, or -1; line ends within quotes do not count."""
    n_quotes = done = 0
    for found in re.finditer(rb"\r\n|\n|\r", data):
        n_quotes += data.count(_QUOTE, done, found.start())
        done = found.start()
        if n_quotes % 2 == 0:
            return found.end()
    return -1


def _units(path: str, offset: int) -> Iterator[bytes | None]:
    """Yield whole rows, about a unit at a time; None where no row ends."""
    rest = b""
    with Path(path).open("rb") as file:
        file.seek(offset)
        while block := file.read(UNIT_BYTES):
            rest += block
            end = end_of_last_row(rest)
            if end:
                yield rest[:end]
                rest = rest[end:]
            elif len(rest) > _LONGEST * UNIT_BYTES:
                yield None
                return
    if rest:
        yield None if rest.count(_QUOTE) % 2 else rest


def end_of_last_row(data: bytes) -> int:
    """Return the end of the last complete row in ``data``, which begins with a row; 0 for none."""
    n_before = data.count(_QUOTE)
    last = len(data)
    while (end := data.rfind(_NEWLINE, 0, last)) >= 0:
        n_before -= data.count(_QUOTE, end, last)
        if n_before % 2 == 0:
            return end + 1
        last = end
    return 0


def _rows_in(unit: bytes, delimiter: str) -> int | None:
    """Return the number of rows of a unit without blank lines, or None where only a parser can separate them."""
    n_returns = unit.count(_RETURN)
    if n_returns and n_returns != unit.count(b"\r\n"):
        return None
    cells = np.frombuffer(unit, dtype=np.uint8)
    ends = np.flatnonzero(cells == _NEWLINE[0])
    if _QUOTE in unit:
        quotes = np.flatnonzero(cells == _QUOTE[0])
        opening = quotes[::2]
        before = cells[opening[opening > 0] - 1]
        # After a quote: a quote within quotes is written twice, which closes and opens again.
        if not np.isin(before, np.frombuffer(delimiter.encode() + b'\n"', dtype=np.uint8)).all():
            return None
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    if not unit.endswith(_NEWLINE):
        ends = np.append(ends, len(unit))
    begins = np.append(0, ends[:-1] + 1)
    lengths = ends - begins
    blank = np.count_nonzero(lengths == 0)
    if n_returns:
        blank += np.count_nonzero(cells[begins[lengths == 1]] == _RETURN[0])
    return int(len(ends) - blank)


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
    """Return the delimiter of a file a tab for .tsv, .tab and files that look like them, a comma for others."""
    return "\t" if TABLES.find(path) == "tsv" else ","


def check_one_column(names: tuple[str, ...], path: str, delimiter: str) -> None:
    """Raise if there is one column and its name holds another delimiter."""
    other = next((d for d in _DELIMITERS if d != delimiter and d in names[0]), None)
    if len(names) == 1 and other is not None:
        raise DelimiterError(
            f"{path!r} has one column, {names[0][:60]!r}; if {_DELIMITERS[other]} separates its cells,", other
        )


def wrong_delimiter(data: bytes, path: str, delimiter: str) -> DelimiterError | None:
    """Return an error if another delimiter has the same count in each of the first lines, else None."""
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


def too_long(text: str, n_bytes: int, quote: str = "") -> str | None:
    """Return what is wrong where pyarrow's message is on a row longer than the bytes that it parses at a time.

    ``quote`` is the place of a quote that is open there, in words.
    """
    if "straddling object" not in text:
        return None
    return f"has a row of more than {n_bytes / 1e6:.3g} MB, or {quote or 'a quote'} that is not closed"


def convert_options(columns: list[str], types: dict[str, Any], decimal: str = ".") -> Any:
    """Return pyarrow's options to convert cells: these columns, or all for none of them, with these types."""
    return arrow("pyarrow.csv").ConvertOptions(
        include_columns=columns,
        column_types=types,
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        null_values=MISSING,
        decimal_point=decimal,
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


def all_digits(column: Any) -> bool:
    """Return whether all cells of an arrow column of text are whole numbers, missing ones aside."""
    pc = arrow("pyarrow.compute")
    return bool(pc.all(pc.match_substring_regex(column, r"^[+-]?\d+$")).as_py())


def is_boolean(cell: str) -> bool:
    """Return whether a cell is true or false."""
    return cell.lower() in ("true", "false")
