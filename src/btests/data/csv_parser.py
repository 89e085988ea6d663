"""Delimited text as all readers have it parsed: delimiter, header, missing cells, options, and errors."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from btests._imports import arrow
from btests._text import shortly
from btests.data.csv_rows import QuoteScan, ScannedFile, end_of_row
from btests.data.errors import DamagedError
from btests.data.files import TABLES
from btests.data.formats import what_it_is
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


def default_delimiter(path: str, form: str | None = None) -> str:
    """Return the delimiter of a file, a tab for .tsv, .tab and files that look like them, a comma for others."""
    return "\t" if (form or TABLES.find(path)) == "tsv" else ","


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


def numbers_columns(cells: Sequence[str]) -> bool:
    """Return whether a line is 0, 1, 2, ...: the default names of columns in data frames."""
    return len(cells) > 1 and list(cells) == [str(j) for j in range(len(cells))]


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, as pyarrow parses them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python's own 1_000


def note_on_header(names: Sequence[str], where: str) -> list[str]:
    """Return a remark if the first line of a text, which names its columns, is one of numbers, as rows are.

    Examples
    --------
    >>> note_on_header(["1.5", "2"], "a.csv")
    ["the first line of a.csv, '1.5', ..., names its columns; if it is a row, write a line of names above it"]
    >>> note_on_header(["0", "1"], "a.csv"), note_on_header(["id", "2019"], "a.csv")
    ([], [])
    """
    if numbers_columns(names) or not all(map(is_number, names)):
        return []
    rest = ", ..." if len(names) > 1 else ""
    return [
        f"the first line of {where}, {names[0]!r}{rest}, names its columns; if it is a row, write a line of names "
        "above it"
    ]


#: Cells that are missing, in columns of any type, quoted or not; `compare` takes more as ``missing``.
MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

#: Bytes that are parsed at a time; a row is not longer.
BLOCK = 2**22

# Bytes that hold the header, unless it is longer.
_HEAD = 2**20

_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True, slots=True)
class CsvParser:
    """Parser of delimited text in UTF-8, by pyarrow.

    Attributes
    ----------
    where : str
        Name of the file in messages.
    delimiter : str
        One character.
    columns : tuple of str
        Names of the columns to read; none is all.
    types : mapping of str to pyarrow.DataType
        Types of columns that are not inferred.
    n_columns : int or None
        Columns of text without its first line, which are named by their numbers; None takes their names from it.
    newlines : bool
        Whether cells in quotes may have several lines.
    missing : tuple of str
        Cells that are missing, besides those of ``MISSING``.
    n_bytes : int
        Bytes that are parsed at a time.
    """

    where: str
    delimiter: str
    columns: tuple[str, ...] = ()
    types: Mapping[str, Any] = field(default_factory=dict)
    n_columns: int | None = None
    newlines: bool = True
    missing: tuple[str, ...] = ()
    n_bytes: int = BLOCK

    def table(self, data: bytes, *, threads: bool = True) -> Any:
        """Return the rows in some bytes as a table; in one thread errors of pyarrow have numbers of lines."""
        return arrow("pyarrow.csv").read_csv(arrow().BufferReader(data), **self._options(threads))

    def batches(self, file: Any, *, before: bytes = b"", threads: bool = True) -> Iterator[Any]:
        """Yield the rows in an open file as record batches; raise a `DamagedError` where it cannot be parsed.

        ``before`` is what has been read of the file.
        """
        scan = QuoteScan(self.where, self.delimiter)
        scan.feed(before)
        scanned = ScannedFile(file, scan)
        try:
            yield from scanned.checked(arrow("pyarrow.csv").open_csv(scanned, **self._options(threads)))
        except arrow().ArrowInvalid as error:
            scan.check()
            if scan.open_quote() and not file.read(1):
                scan.finish()
            raise self.fault(error, quote=scan.open_quote()) from None

    def names(self, data: bytes) -> tuple[str, ...]:
        """Return the names of all columns by the first row of a text; later ones may be cut off."""
        head = data[:_HEAD].lstrip(b"\r\n")
        end = end_of_row(head)
        first = data if end < 0 else head[:end]
        return tuple(arrow("pyarrow.csv").open_csv(arrow().BufferReader(first), **self._options(True)).schema.names)

    def fault(self, error: Exception, *, first_row: int = 0, quote: str = "") -> DamagedError:
        """Return an error for a message of pyarrow.

        Parameters
        ----------
        error : Exception
            Of pyarrow.
        first_row : int
            Number of the first row, in text without its first line.
        quote : str
            Place of a quote that is open there, in words.
        """
        text = str(error)
        counts = _RAGGED.search(text)
        if counts is not None:
            what = f"is ragged: {self._counted(first_row, *counts.groups())}"
        elif "straddling object" in text:
            what = f"has a row of more than {self.n_bytes / 1e6:.3g} MB, or {quote or 'a quote'} that is not closed"
        elif "invalid UTF8" in text:
            what = f"is not UTF-8 text: {shortly(error)}"
        else:
            what = f"is not a readable CSV file: {shortly(error)}"
        return DamagedError(f"{self.where!r} {what}")

    def _counted(self, first_row: int, line: str | None, n_wanted: str, n_cells: str) -> str:
        cells = "1 cell" if n_cells == "1" else f"{n_cells} cells"
        if self.n_columns is None:
            return f"{'a line' if line is None else f'line {line}'} has {cells} and the header has {n_wanted}"
        row = "a row" if line is None else f"row {first_row + int(line) - 1}"
        return f"{row} has {cells} and the first line has {n_wanted}"

    def _options(self, threads: bool) -> dict[str, Any]:
        text = arrow("pyarrow.csv")
        names = None if self.n_columns is None else [str(j) for j in range(self.n_columns)]
        return {
            "read_options": text.ReadOptions(column_names=names, block_size=self.n_bytes, use_threads=threads),
            "parse_options": text.ParseOptions(delimiter=self.delimiter, newlines_in_values=self.newlines),
            "convert_options": text.ConvertOptions(
                include_columns=list(self.columns),
                column_types=dict(self.types),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                null_values=(*MISSING, *self.missing),
            ),
        }


def is_ragged(error: Exception) -> bool:
    """Return whether an error of pyarrow is on a line with another number of cells than the first."""
    return _RAGGED.search(str(error)) is not None
