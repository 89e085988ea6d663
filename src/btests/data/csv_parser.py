"""Delimited text as all readers have it parsed: options, missing cells, and errors that say what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from btests._imports import arrow
from btests._text import shortly
from btests.data.csv_rows import QuoteScan, ScannedFile
from btests.data.errors import DamagedError

#: Cells that are missing, in columns of any type, quoted or not; `compare` takes more as ``missing``.
MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

#: Bytes that are parsed at a time; a row is not longer.
BLOCK = 2**22

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
    decimal : str
        Before the fraction of a number.
    n_bytes : int
        Bytes that are parsed at a time.
    """

    where: str
    delimiter: str
    columns: tuple[str, ...] = ()
    types: Mapping[str, Any] = field(default_factory=dict)
    n_columns: int | None = None
    newlines: bool = True
    decimal: str = "."
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
        """Return the names of all columns by the first bytes of a text."""
        return tuple(arrow("pyarrow.csv").open_csv(arrow().BufferReader(data), **self._options(True)).schema.names)

    def fault(self, error: Exception, *, first_row: int = 0, quote: str = "") -> DamagedError:
        """Return an error that says what is wrong by a message of pyarrow.

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
        csv = arrow("pyarrow.csv")
        names = None if self.n_columns is None else [str(j) for j in range(self.n_columns)]
        return {
            "read_options": csv.ReadOptions(column_names=names, block_size=self.n_bytes, use_threads=threads),
            "parse_options": csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=self.newlines),
            "convert_options": csv.ConvertOptions(
                include_columns=list(self.columns),
                column_types=dict(self.types),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                null_values=MISSING,
                decimal_point=self.decimal,
            ),
        }


def is_ragged(error: Exception) -> bool:
    """Return whether an error of pyarrow is on a line with another number of cells than the first."""
    return _RAGGED.search(str(error)) is not None
