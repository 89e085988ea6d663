"""Index of the rows of a delimited text file, without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from btests.plan import Index

#: Bytes of a unit, about.
UNIT_BYTES = 2**24

# A row that does not end within so many units has a quote that is never closed.
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

    That is so for line ends that are no newline, and for quotes in the middle of a cell: whether they quote depends on
    all that was before.
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
    for found in re.finditer(rb"\r\n|\n|\r", data):
        if data.count(_QUOTE, 0, found.start()) % 2 == 0:
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
    n_quotes = data.count(_QUOTE)
    end = len(data)
    while (end := data.rfind(_NEWLINE, 0, end)) >= 0:
        if (n_quotes - data.count(_QUOTE, end)) % 2 == 0:
            return end + 1
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
