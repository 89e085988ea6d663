"""Delimiters and headers of delimited text."""

from __future__ import annotations

import csv

from btests.data.csv_rows import end_of_row
from btests.data.errors import DamagedError
from btests.data.files import TABLES
from btests.data.magic import what_it_is
from btests.data.text_format import as_utf8

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


def header_of(head: bytes, path: str, delimiter: str, encoding: str | None) -> tuple[tuple[str, ...], int]:
    """Return the cells of the first row of text in an encoding, and the byte at which the second begins."""
    what = what_it_is(head)
    if what is not None:
        raise DamagedError(f"{path!r} is {what}")
    blank = len(head) - len(head.lstrip(b"\r\n"))
    end = end_of_row(head[blank:])
    line = head[blank:] if end < 0 else head[blank : blank + end]
    try:
        text = as_utf8(line, path, encoding).decode("utf-8-sig")
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
