"""The first line of a delimited text file, and what single cells are."""

from __future__ import annotations

import csv

from btests.data.cell_checks import DamagedError
from btests.data.csv_index import end_of_row
from btests.data.magic import what_it_is

_DELIMITERS = (",", ";", "\t", "|")


def numbers_columns(cells: tuple[str, ...]) -> bool:
    """Whether a line is 0, 1, 2 and on: names of columns, as data frames have them whose columns nobody has named."""
    return len(cells) > 1 and list(cells) == [str(j) for j in range(len(cells))]


def header_of(head: bytes, path: str, delimiter: str) -> tuple[tuple[str, ...], int]:
    """Return the cells of the first row, and where the second begins."""
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
    other = next((d for d in _DELIMITERS if d != delimiter and d in text), None)
    if len(cells) == 1 and other is not None:
        raise ValueError(f"{path!r} has one column, {cells[0][:60]!r}; if {other!r} separates its cells, name it")
    return cells, blank + len(line)


def is_number(cell: str) -> bool:
    """Whether a cell is a number, as the parser reads them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python's own 1_000


def is_boolean(cell: str) -> bool:
    """Whether a cell is true or false."""
    return cell.lower() in ("true", "false")
