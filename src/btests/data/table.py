"""Whole tables from files, or from the contents of files."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

from btests.data import columnar
from btests.data.array_table import from_arrays, load_arrays
from btests.data.csv_dialect import default_delimiter
from btests.data.csv_table import read_csv
from btests.data.errors import DamagedError, reading
from btests.data.files import LONGEST, TABLES, check_magic, format_of_bytes, is_packed, open_input
from btests.data.json_table import check_lines, read_json
from btests.data.optional import arrow

# Rows of a record batch that are read at a time.
_ROWS = 2**20

# Bytes of JSON that types are inferred from at a time.
_JSON_BLOCK = 2**26


def read_table(path: str, delimiter: str | None = None) -> Any:
    """Return the table in a file."""
    form = TABLES.of(path)
    source: str | bytes = path
    if is_packed(path) or form in ("csv", "tsv", "json"):
        with reading(path), open_input(path) as file:
            source = bytes(file.read())
    return _table(source, path, form, delimiter or default_delimiter(path), guessed=delimiter is None)


def table_of_bytes(data: bytes, where: str, delimiter: str | None = None) -> Any:
    """Return the table in the contents of a file; its format is recognised by the first bytes."""
    if data.startswith(b"\x1f\x8b"):
        with reading(where):
            data = gzip.decompress(data)
    form = format_of_bytes(data)
    return _table(data, where, form, delimiter or ("\t" if form == "tsv" else ","), guessed=delimiter is None)


def _table(source: str | bytes, where: str, form: str, delimiter: str, *, guessed: bool) -> Any:
    if form in ("csv", "tsv"):
        assert isinstance(source, bytes), "text is read whole"
        return read_csv(source, where, delimiter, guessed=guessed)
    with reading(where):
        start, size = _start(source)
        if not size:
            raise DamagedError(f"{where!r} is empty")
        check_magic(start, where, form)
        if form in ("parquet", "arrow"):
            kind = columnar.layout(start) or form
            schema = columnar.header(source, kind, size)[0]
            return arrow().Table.from_batches(columnar.batches(source, kind, None, n_rows=_ROWS), schema)
        if form == "json":
            assert isinstance(source, bytes), "JSON is read whole"
            check_lines(source[:4096], where)
            return read_json(source, block_size=_JSON_BLOCK)
        file: Any = source if isinstance(source, str) else io.BytesIO(source)
        return from_arrays(load_arrays(file, where), where)


def _start(source: str | bytes) -> tuple[bytes, int]:
    """Return the first bytes, and the number of all."""
    if isinstance(source, bytes):
        return source[:LONGEST], len(source)
    with Path(source).open("rb") as file:
        return file.read(LONGEST), os.fstat(file.fileno()).st_size
