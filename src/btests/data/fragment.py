"""One file of a table, or a piece of it, as record batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.data import columnar
from btests.data.arrow_layout import refuse_large_batches
from btests.data.compression import codec_of, open_input
from btests.data.csv_parser import CsvParser, default_delimiter
from btests.data.csv_rows import QuoteScan, end_of_last_row
from btests.data.csv_table import read_csv
from btests.data.errors import DamagedError, reading
from btests.data.files import TABLES
from btests.data.formats import LONGEST, check_magic
from btests.data.json_table import is_array, json_batches, line_blocks, read_json
from btests.data.numpy_files import load_arrays
from btests.data.record_batches import plain, simplified
from btests.data.table import from_arrays
from btests.data.text_format import AS_FOUND, TextFormat, encoding_of, open_utf8

# Rows, and bytes of text, that are read at a time.
_ROWS = 2**16
_BYTES = 2**23

# Rows that the length of all is estimated from.
_FIRST_ROWS = 1000

# Bytes from the beginning of a text file that show its header and its delimiter.
_HEAD = 2**20

# Bytes that show whether JSON is an array.
_START = 4096

# Size of an uncompressed file in sizes of the compressed one, about: for the estimate of its rows.
_UNPACKED = 5

# Bytes of a number in an array, about.
_NUMBER = 8


@dataclass(frozen=True, slots=True)
class Fragment:
    """One file of a table, or a piece of it: CSV as text, anything else with its own types.

    Attributes
    ----------
    path : str
        The file.
    form : str
        Its format, of ``TABLES``; of Parquet and Arrow files the layout, of ``columnar``.
    schema : pyarrow.Schema
        Names and types of all columns; of CSV and its like all are text.
    delimiter : str
        Of text.
    n_rows_about : int
        Number of rows, or an estimate.
    encoding : str or None
        Of text that is not UTF-8.
    commas : str or None
        Of text, whether numbers have a decimal comma, of ``TextFormat.commas``; None where cells have types.
    missing : tuple of str
        Cells of text that are missing, besides empty ones and their like.
    texts : tuple of str
        Columns of JSON lines that are text, also where some of it looks like times.
    units : tuple of int or None
        First row group, record batch or row (.npy) of the piece, and the one after its last; None is the whole file.
    first_row : int
        Rows of the file before the piece.
    """

    path: str
    form: str
    schema: Any
    delimiter: str = ","
    n_rows_about: int = 0
    encoding: str | None = None
    commas: str | None = None
    missing: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    units: tuple[int, int] | None = None
    first_row: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.schema.names)

    def batches(self, columns: tuple[str, ...]) -> Iterator[Any]:
        """Yield these columns of the rows as record batches, without dictionaries."""
        with reading(self.path):
            for batch in _BATCHES.get(self.form, _columnar_batches)(self, list(columns)):
                if batch.num_rows:
                    yield plain(simplified(batch))

    def split(self, n_bytes: int) -> list[Fragment]:
        """Return the file in pieces of about ``n_bytes`` bytes, or unchanged if its format does not allow it."""
        return [
            replace(self, units=(first, last), first_row=start, n_rows_about=end - start)
            for (first, start), (last, end) in pairwise(_edges(self, n_bytes))
        ] or [self]


def open_fragment(path: str, text: TextFormat = AS_FOUND, most_bytes: int | None = None) -> Fragment:
    """Return a file as a fragment, or raise an error where it does not begin as one of its format.

    A record batch of an Arrow file, which is read as a whole, may have ``most_bytes`` bytes.
    """
    form = text.form or TABLES.of(path)
    with reading(path):
        size = os.stat(path).st_size
        if not size:
            raise DamagedError(f"{path!r} is empty")
        with Path(path).open("rb") as file:
            start = file.read(LONGEST)
        check_magic(start, path, form)
        layout = columnar.layout(start) if form in ("parquet", "arrow") else None  # a column may be called PAR1
        if layout in ("file", "stream"):
            refuse_large_batches(path, path, layout, most_batch=most_bytes)
        found = _OPENERS[form](path, layout or form, text, size)
    return replace(found, schema=simplified(found.schema))


def can_be_split(path: str, form: str | None = None) -> bool:
    """Return whether a file need not be read whole: no archive, no JSON array, and compressed only if it is text."""
    form = form or TABLES.find(path)
    if form in ("csv", "tsv") or form is None:
        return True
    if form == "json":
        return not _is_json_array(path)
    return form in _OPENERS and codec_of(path) is None


def _is_json_array(path: str) -> bool:
    try:
        with reading(path), open_input(path) as file:
            return is_array(bytes(file.read(_START)))
    except DamagedError:  # raises on reading
        return False


def _edges(fragment: Fragment, n_bytes: int) -> list[tuple[int, int]]:
    """Return units at which pieces of about ``n_bytes`` begin, each with the rows before it, and the end."""
    if fragment.form == "npy":
        n_rows = fragment.n_rows_about
        step = max(1, n_bytes // (_NUMBER * len(fragment.names)))
        return [(i, i) for i in [*range(0, n_rows, step), n_rows]]
    if fragment.form not in ("parquet", "file"):
        return []
    outline = columnar.outline(fragment.path, fragment.form)
    found, size = [0], 0
    for i, own in enumerate(outline.n_bytes.tolist()):
        if size and size + own > n_bytes:
            found.append(i)
            size = 0
        size += own
    return [(i, int(outline.edges[i])) for i in [*found, len(outline.n_bytes)]]


def _open_columnar(path: str, form: str, _: TextFormat, size: int) -> Fragment:
    schema, n_rows = columnar.header(path, form, size)
    return Fragment(path, form, schema, n_rows_about=n_rows)


def _columnar_batches(fragment: Fragment, columns: list[str]) -> Iterator[Any]:
    batches = partial(columnar.batches, fragment.path, fragment.form, columns, units=fragment.units)
    n_rows = _ROWS
    if fragment.form == "parquet":
        first = next(batches(n_rows=_FIRST_ROWS), None)
        row_bytes = 1 if first is None else plain(first).nbytes // first.num_rows + 1
        n_rows = max(_FIRST_ROWS, min(_ROWS, _BYTES // row_bytes))
    yield from batches(n_rows=n_rows)


def _open_text(path: str, form: str, text: TextFormat, size: int) -> Fragment:
    used = text.delimiter or default_delimiter(path, text.form)
    with open_input(path) as file:
        encoding = text.encoding or encoding_of(bytes(file.read(_HEAD)))
    head, whole = _first_rows(path, used, encoding)
    guessed = text.delimiter is None
    table = read_csv(whole, path, used, guessed=guessed, is_all=len(head) < _HEAD, text=text).cells
    about = _estimate(table.num_rows, len(whole), size, packed=codec_of(path) is not None and len(head) >= _HEAD)
    return Fragment(path, form, table.schema, used, about, encoding, text.commas(used), text.missing)


def _first_rows(path: str, delimiter: str, encoding: str | None) -> tuple[bytes, bytes]:
    """Return the first bytes of a text file, and the whole rows in them: a header and a row at least."""
    with open_utf8(path, encoding) as file:
        head = bytes(file.read(_HEAD))
        if len(head) == _HEAD and head[: end_of_last_row(head)].count(b"\n") < 2:
            head += bytes(file.read(_BYTES - _HEAD))
    if len(head) < _HEAD:
        return head, head
    whole = head[: end_of_last_row(head)]
    if len(head) == _BYTES and whole.count(b"\n") < 2:
        scan = QuoteScan(path, delimiter)
        scan.feed(head)
        quote = scan.open_quote() or "a quote"
        raise DamagedError(f"{path!r} has a row of more than {_BYTES / 1e6:.3g} MB, or {quote} that is not closed")
    return head, whole or head


def _text_batches(fragment: Fragment, columns: list[str]) -> Iterator[Any]:
    texts = dict.fromkeys(columns, arrow().string())
    own = fragment.path, fragment.delimiter, tuple(columns), texts
    parser = CsvParser(*own, n_bytes=_BYTES, missing=fragment.missing)
    with open_utf8(fragment.path, fragment.encoding) as file:
        yield from parser.batches(file)


def _open_json(path: str, form: str, _: TextFormat, size: int) -> Fragment:
    with open_input(path) as file:
        block = next(line_blocks(file, path, _BYTES), (1, b""))[1]
    table = read_json(block, path)
    about = _estimate(table.num_rows, len(block), size, packed=codec_of(path) is not None and len(block) >= _BYTES)
    return Fragment(path, form, table.schema, n_rows_about=about)


def _json_batches(fragment: Fragment, columns: list[str]) -> Iterator[Any]:
    with open_input(fragment.path) as file:
        found = json_batches(file, fragment.path, fragment.names, columns, fragment.texts, n_bytes=_BYTES)
        for table in found:
            yield from table.to_batches(max_chunksize=_ROWS)


def _estimate(n_rows: int, n_bytes: int, size: int, *, packed: bool) -> int:
    """Return the number of rows of a file by those in its first bytes."""
    return round(n_rows * max(size * (_UNPACKED if packed else 1), n_bytes) / max(1, n_bytes))


def _open_npy(path: str, form: str, _: TextFormat, __: int) -> Fragment:
    arrays = load_arrays(path, path, mapped=True)
    schema = from_arrays({name: array[:1] for name, array in arrays.items()}, path).schema
    return Fragment(path, form, schema, n_rows_about=max(map(len, arrays.values())))


def _npy_batches(fragment: Fragment, columns: list[str]) -> Iterator[Any]:
    start, end = fragment.units or (0, fragment.n_rows_about)
    for first in range(start, end, _ROWS):
        # A map for each batch: its pages leave memory with it.
        arrays = load_arrays(fragment.path, fragment.path, mapped=True)
        rows = {name: np.array(array[first : min(first + _ROWS, end)]) for name, array in arrays.items()}
        yield from from_arrays(rows, fragment.path).select(columns).combine_chunks().to_batches()


_OPENERS: dict[str, Callable[[str, str, TextFormat, int], Fragment]] = {
    "csv": _open_text,
    "tsv": _open_text,
    "parquet": _open_columnar,
    "arrow": _open_columnar,
    "json": _open_json,
    "npy": _open_npy,
}

_BATCHES: dict[str, Callable[[Fragment, list[str]], Iterator[Any]]] = {
    "csv": _text_batches,
    "tsv": _text_batches,
    "json": _json_batches,
    "npy": _npy_batches,
}
