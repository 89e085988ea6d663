"""Whole tables from files, or from the contents of files."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from btests._imports import arrow
from btests._memory import amount
from btests.data import columnar
from btests.data.array_table import from_arrays, load_arrays
from btests.data.arrow_layout import refuse_large_batches
from btests.data.arrow_types import simplified
from btests.data.csv_dialect import default_delimiter
from btests.data.csv_table import read_csv
from btests.data.errors import DamagedError, LargeError, reading
from btests.data.files import LONGEST, TABLES, check_magic, format_of_bytes, is_packed, open_input, unpacked
from btests.data.json_table import check_lines, read_json_blocks
from btests.data.text_limits import plain_bytes

# Rows of a record batch that are read at a time.
_ROWS = 2**20

# Bytes of JSON that types are inferred from at a time.
_JSON_BLOCK = 2**26


def read_table(path: str, delimiter: str | None = None, most_bytes: int | None = None) -> Any:
    """Return the table in a file; raise a `LargeError` where its cells take more than ``most_bytes`` bytes."""
    form = TABLES.of(path)
    source: str | bytes = path
    if is_packed(path) or form in ("csv", "tsv", "json"):
        with reading(path), open_input(path) as file:
            source = unpacked(file, path, most_bytes if is_packed(path) else None)
    guessed = delimiter is None
    return _table(source, path, form, delimiter or default_delimiter(path), guessed=guessed, most_bytes=most_bytes)


def table_of_bytes(data: bytes, where: str, delimiter: str | None = None, most_bytes: int | None = None) -> Any:
    """Return the table in the contents of a file; its format is recognised by the first bytes."""
    if data.startswith(b"\x1f\x8b"):
        with reading(where), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            data = unpacked(file, where, most_bytes)
    form = format_of_bytes(data)
    used = delimiter or ("\t" if form == "tsv" else ",")
    return _table(data, where, form, used, guessed=delimiter is None, most_bytes=most_bytes)


def _table(source: str | bytes, where: str, form: str, delimiter: str, *, guessed: bool, most_bytes: int | None) -> Any:
    if form in ("csv", "tsv"):
        assert isinstance(source, bytes), "text is read whole"
        return read_csv(source, where, delimiter, guessed=guessed)
    with reading(where):
        start, size = _start(source)
        if not size:
            raise DamagedError(f"{where!r} is empty")
        check_magic(start, where, form)
        if form in ("parquet", "arrow"):
            return _columnar_table(source, where, columnar.layout(start) or form, size, most_bytes)
        if form == "json":
            assert isinstance(source, bytes), "JSON is read whole"
            check_lines(source[:4096], where)
            return read_json_blocks(source, where, _JSON_BLOCK)
        return simplified(from_arrays(load_arrays(source, where, most_bytes=most_bytes), where))


def _columnar_table(source: str | bytes, where: str, kind: str, size: int, most_bytes: int | None) -> Any:
    """Return the table in a Parquet or Arrow file."""
    pa = arrow()
    if kind in ("file", "stream"):
        refuse_large_batches(source, where, kind, most_all=most_bytes)
    schema = columnar.header(source, kind, size)[0]
    batches = columnar.batches(source, kind, None, n_rows=_ROWS)
    return simplified(pa.Table.from_batches(_bounded(batches, where, most_bytes), schema))


def _bounded(batches: Iterator[Any], where: str, most_bytes: int | None) -> Iterator[Any]:
    """Yield record batches; raise where they take more memory than ``most_bytes``."""
    done = 0
    for batch in batches:
        done += plain_bytes(batch)
        if most_bytes is not None and done > most_bytes:
            raise LargeError(f"{where!r} takes more than {amount(most_bytes)} in memory, which is what it may take")
        yield batch


def _start(source: str | bytes) -> tuple[bytes, int]:
    """Return the first bytes, and the number of all."""
    if isinstance(source, bytes):
        return source[:LONGEST], len(source)
    with Path(source).open("rb") as file:
        return file.read(LONGEST), os.fstat(file.fileno()).st_size
