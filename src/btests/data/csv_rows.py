"""Rows and quotes of delimited text, found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btests.data.errors import DamagedError, quoted
from btests.plan import Index

_NEWLINE, _RETURN, _QUOTE = b"\n", b"\r", b'"'

#: Bytes of a unit, about.
UNIT_BYTES = 2**24

# Maximum length of a row in units; a longer one has an unclosed quote.
_LONGEST = 4

# The rest of a quoted cell, in which a quote is written twice.
_REST = re.compile(rb'[^"]*+(?:""[^"]*+)*+"')

# Bytes of a text that are scanned at a time, and quotes one after another at most.
_PIECE, _MOST_QUOTES = 2**22, 2**16

# Characters of a cell that a message may quote.
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Lines:
    """Rows before each unit and bytes before it, both with the end: (n_units + 1,) each.

    Without bytes the file is one unit. Only without quotes, rows end at all line ends.
    """

    edges: Index
    starts: Index | None = None
    quoted: bool = True


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


class QuoteScan:
    """Whether text that is read in pieces is inside a quoted cell, by the rules of pyarrow.

    A quote opens at the beginning of a cell, and nowhere else; two quotes inside are one that is part of the cell.

    Parameters
    ----------
    where : str
        Name of the file in messages.
    delimiter : str
        One character.
    """

    __slots__ = ("_allowed", "_before", "_behind", "_cell", "_fault", "_line", "_opened", "_opening", "_rest", "_where")

    def __init__(self, where: str, delimiter: str) -> None:
        self._where = where
        self._allowed = delimiter.encode() + b"\r\n"
        self._behind = {b" ", *(bytes([letter]) for letter in self._allowed)}
        self._opening = re.compile(b"[" + re.escape(self._allowed) + b']"')
        self._line, self._opened, self._cell = 1, 0, b""
        self._before, self._rest = b"\n", b""
        self._fault: str | None = None

    def feed(self, piece: bytes) -> None:
        """Scan the next piece."""
        if self._line == 1 and self._before == b"\n" and not self._rest:
            piece = piece.removeprefix(b"\xef\xbb\xbf")
        data = self._rest + piece
        whole = data.rstrip(_QUOTE)  # quotes at its end may go on
        self._rest = data[len(whole) :]
        if len(self._rest) > _MOST_QUOTES:
            self._fault = f"{self._where!r} has more than {_MOST_QUOTES} quotes one after another"
            self._rest = b""
        if whole:
            self._scan(whole)

    def check(self) -> None:
        """Raise where the text so far cannot be right."""
        if self._fault is not None:
            raise DamagedError(self._fault)

    def finish(self) -> None:
        """Raise if the text so far, which is all, is not right."""
        self._scan(self._rest + b"\n")
        self.check()
        if self._opened:
            raise DamagedError(f"{self._where!r} has a quote in {self._place()} that is not closed")

    def open_quote(self) -> str:
        """Return the place of the quote that is open, in words; empty outside quotes."""
        return f"a quote in {self._place()}" if self._opened else ""

    def _place(self) -> str:
        return f"line {self._opened}, before {quoted(self._cell.decode('utf-8', 'replace'))},"

    def _scan(self, piece: bytes) -> None:
        data = self._before + piece
        if _QUOTE in data and not self._is_regular(data):
            self._parse(data)
        self._line += piece.count(b"\n")
        self._before = data[-1:]

    def _is_regular(self, data: bytes) -> bool:
        """Return whether quotes are in pairs that begin and end cells, or stand together, and none is open then."""
        cells = np.frombuffer(data, dtype=np.uint8)
        quotes = np.flatnonzero(cells == _QUOTE[0])
        if self._opened or len(quotes) % 2:
            return False
        around = np.concatenate([cells[quotes[::2] - 1], cells[quotes[1::2] + 1]])
        return bool(np.isin(around, np.frombuffer(self._allowed + _QUOTE, dtype=np.uint8)).all())

    def _parse(self, data: bytes) -> None:
        """Scan cell by cell; the first byte is the last of the piece before."""
        place, line, counted = (1 if self._opened else 0), self._line, 1
        while True:
            if not self._opened:
                found = self._opening.search(data, place)
                if found is None:
                    return
                place = found.end()
                line, counted = line + data.count(b"\n", counted, place), place
                self._opened, self._cell = line, data[place : place + _SHOWN]
            end = _REST.match(data, place)
            if end is None:
                return
            place = end.end()
            line, counted = line + data.count(b"\n", counted, place), place
            if line > self._opened and data[place : place + 1] not in self._behind:
                self._fault = self._fault or (
                    f"{self._where!r} has a quote in {self._place()} that is closed in line {line}, where text "
                    "follows; close it, or write quotes inside a cell twice"
                )
            self._opened = 0


def check_quotes(data: bytes, where: str, delimiter: str) -> None:
    """Raise if a quote in the bytes of a file is not closed."""
    if _QUOTE in data:
        scan = QuoteScan(where, delimiter)
        for start in range(0, len(data), _PIECE):
            scan.feed(data[start : start + _PIECE])
        scan.finish()


class ScannedFile:
    """An open file whose quotes are scanned as it is read.

    Parameters
    ----------
    file : file object
        The file.
    scan : QuoteScan
        Is fed with what is read.
    """

    __slots__ = ("_file", "_scan", "closed")

    def __init__(self, file: Any, scan: QuoteScan) -> None:
        self._file, self._scan = file, scan
        self.closed = False

    def read(self, n_bytes: int = -1) -> bytes:
        """Return the next bytes."""
        piece = bytes(self._file.read(None if n_bytes < 0 else n_bytes))
        self._scan.feed(piece)
        return piece

    def close(self) -> None:
        """Leave the file to its owner."""
        self.closed = True

    def readable(self) -> bool:
        """Return True."""
        return True

    def checked(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield record batches that are read from the file; raise at a quote that is not closed."""
        for batch in batches:
            self._scan.check()
            yield batch
        self._scan.finish()
