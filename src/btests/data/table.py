"""Whole tables from files, or from the contents of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._memory import amount
from btests._text import shortly
from btests.data import columnar
from btests.data.arrow_layout import refuse_large_batches
from btests.data.compression import codec_of, codec_of_bytes, open_bytes, open_input, unpacked
from btests.data.containers import read_member, sheet_text, sqlite_table
from btests.data.csv_parser import default_delimiter, note_on_header
from btests.data.csv_table import read_csv
from btests.data.duckdb_table import duckdb_table
from btests.data.errors import DamagedError, LargeError, check_memory, reading
from btests.data.files import TABLES
from btests.data.formats import CONTAINERS, INSIDE, LONGEST, SOME, check_magic, file_of, format_of_bytes, inside_of
from btests.data.images import image_table
from btests.data.json_table import is_array, read_json_blocks
from btests.data.numpy_files import load_arrays
from btests.data.record_batches import plain_bytes, simplified
from btests.data.text_format import AS_FOUND, TextFormat, as_utf8, encoding_of, spoken

# Columns of a table at most: each takes a kilobyte of its own, and a test.
_MOST_COLUMNS = 100_000

# Bytes of the longest floats that pyarrow has.
_DOUBLE = 8


def from_arrays(arrays: Mapping[str, np.ndarray[Any, Any]], where: str) -> Any:
    """Return named arrays as a table: vectors are columns, the columns of a matrix are numbered."""
    names: list[str] = []
    columns: list[np.ndarray[Any, Any]] = []
    for name, array in arrays.items():
        if array.dtype.names:
            names += array.dtype.names
            columns += [array[field] for field in array.dtype.names]
        elif array.ndim == 2 and array.shape[1] > _MOST_COLUMNS:
            most = f"a table has {_MOST_COLUMNS} at most"
            raise ValueError(f"{where!r} has {array.shape[1]} columns, and {most}; take some of them, or btest")
        elif array.ndim == 2:
            names += [f"{name or 'x'}{j}" for j in range(array.shape[1])]
            columns += list(array.T)
        elif array.ndim == 1:
            names.append(name or "x0")
            columns.append(array)
        else:
            raise ValueError(f"{where!r} has an array of {array.ndim} dimensions; .reshape(n, -1) makes n rows")
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        such = (
            f"; name one of them, such as {f'{where}{INSIDE}{next(iter(arrays))}'!r}" if where.endswith(".npz") else ""
        )
        raise ValueError(f"{where!r} has arrays of different lengths, {min(lengths)} to {max(lengths)}{such}")
    made = [_from_array(name, column, where) for name, column in zip(names, columns, strict=True)]
    return arrow().table(made, names)


def _from_array(name: str, column: np.ndarray[Any, Any], where: str) -> Any:
    pa = arrow()
    what = f"column {name!r} of {where!r} holds"
    if column.dtype.kind == "c":
        raise ValueError(f"{what} complex numbers; give their real and imaginary parts as columns")
    if column.dtype.kind == "V" or column.ndim > 1:
        held = "several values in each cell" if column.ndim > 1 or column.dtype.names else "cells of raw bytes"
        raise ValueError(f"{what} {held}; columns are of numbers, texts, times or booleans")
    mask = np.ma.getmaskarray(column) if np.ma.isMaskedArray(column) else None
    column = np.ma.getdata(column)
    if column.dtype.kind == "f" and column.dtype.itemsize > _DOUBLE:
        column = column.astype(np.float64)  # as btest has it
    if not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))
    try:
        return pa.array(column, from_pandas=True, mask=mask)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{where!r} has a column, {name!r}, that is no column of a table: {shortly(error)}") from None


# Rows of a record batch that are read at a time.
_ROWS = 2**20

# Bytes of JSON that types are inferred from at a time.
_JSON_BLOCK = 2**26

# Names of databases, and what reads a table of one.
_DATABASES: dict[str, tuple[str, Callable[[str, str | None, int | None], Any]]] = {
    "sqlite": ("SQLite", sqlite_table),
    "duckdb": ("DuckDB", duckdb_table),
}


def read_table(
    path: str,
    text: TextFormat = AS_FOUND,
    most_bytes: int | None = None,
    notes: list[str] | None = None,
) -> Any:
    """Return the table in a file, a `TextTable` of delimited text.

    Raise a `LargeError` where its cells take more than ``most_bytes`` bytes; an encoding that was found is named in
    ``notes``.
    """
    form = text.form or TABLES.of(path)
    if form == "image":
        return image_table(path, [path], most_bytes)
    if form in CONTAINERS:
        return _contained(file_of(path), path, form, text, most_bytes=most_bytes, notes=notes)
    source: str | bytes = path
    codec = codec_of(path)
    if codec is not None or form in ("csv", "tsv", "json"):
        with reading(path), open_input(path) as file:
            source = unpacked(file, path, most_bytes if codec else None)
    text = replace(text, guess=default_delimiter(path, form))
    return _table(source, path, form, text, most_bytes=most_bytes, notes=notes)


def table_of_bytes(
    data: bytes,
    where: str,
    text: TextFormat = AS_FOUND,
    most_bytes: int | None = None,
    notes: list[str] | None = None,
) -> Any:
    """Return the table in the contents of a file; its format is recognised by the first bytes."""
    codec = codec_of_bytes(data)
    if codec is not None:
        with reading(where), open_bytes(data, codec) as file:
            data = unpacked(file, where, most_bytes)
    form = text.form or format_of_bytes(data)
    if form in CONTAINERS:
        return _contained(data, where, form, text, most_bytes=most_bytes, notes=notes)
    return _table(
        data, where, form, replace(text, guess="\t" if form == "tsv" else ","), most_bytes=most_bytes, notes=notes
    )


def _contained(
    source: str | bytes, where: str, form: str, text: TextFormat, *, most_bytes: int | None, notes: list[str] | None
) -> Any:
    """Return a table in a workbook, a database or an archive, which are a file or its contents."""
    file, wanted = (source, inside_of(where)) if isinstance(source, str) else (where, None)
    with reading(where):
        start, size = _start(source)
        if not size:
            raise DamagedError(f"{where!r} is empty")
        check_magic(start, file, form)
        if form == "workbook":
            used = TextFormat(missing=text.missing)
            return read_csv(sheet_text(source, wanted, file, most_bytes, notes), where, ",", guessed=False, text=used)
        if form in _DATABASES:
            name, read = _DATABASES[form]
            if isinstance(source, bytes):
                raise ValueError(f"{where} is a database of {name}, which is read from a file; name the file")
            return simplified(read(source, wanted, most_bytes))
        data, member = read_member(source, wanted, file, most_bytes)
    inner = TABLES.get(member)
    if inner in CONTAINERS or format_of_bytes(data) in CONTAINERS:
        what = "is an archive, a workbook or a database"
        raise ValueError(f"{member!r} in {file!r} {what}; take it out of {file!r} first")
    text = replace(text, form=None, delimiter=text.delimiter or ("\t" if inner == "tsv" else None))
    return table_of_bytes(data, f"{file}{INSIDE}{member}", text, most_bytes, notes)


def _table(
    source: str | bytes,
    where: str,
    form: str,
    text: TextFormat,
    *,
    most_bytes: int | None,
    notes: list[str] | None,
) -> Any:
    if form in ("csv", "tsv"):
        assert isinstance(source, bytes), "text is read whole"
        encoding = text.encoding or encoding_of(source)
        if text.encoding is None and encoding is not None and notes is not None:
            notes.append(f"{where} was read as {spoken(encoding)}")
        used, guessed = text.delimiter or text.guess, text.delimiter is None
        found = read_csv(as_utf8(source, where, encoding), where, used, guessed=guessed, text=text)
        if notes is not None:
            notes.extend(note_on_header(found.cells.column_names, where))
        return found
    with reading(where):
        start, size = _start(source)
        if not size:
            raise DamagedError(f"{where!r} is empty")
        check_magic(start, where, form)
        if form in ("parquet", "arrow"):
            return _columnar_table(source, where, columnar.layout(start) or form, size, most_bytes)
        if form == "json":
            assert isinstance(source, bytes), "JSON is read whole"
            if most_bytes is not None and size > most_bytes and is_array(source[:SOME]):
                raise LargeError(
                    f"{where!r} is an array of {amount(size)}, is read whole, and may take {amount(most_bytes)}"
                )
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
        check_memory(done, most_bytes, where)
        yield batch


def _start(source: str | bytes) -> tuple[bytes, int]:
    """Return the first bytes, and the number of all."""
    if isinstance(source, bytes):
        return source[:LONGEST], len(source)
    with Path(source).open("rb") as file:
        return file.read(LONGEST), os.fstat(file.fileno()).st_size
