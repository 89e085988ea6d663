"""Tables as files of every format, whole or with damaged bytes."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather
from pyarrow import parquet as pq

from tests.fuzz.containers import TABLE, Change, compress, database, excel, of_duckdb, opendocument, zipped
from tests.fuzz.tables import Table


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of bytes at a relative place in a file."""

    kind: str
    place: float
    payload: bytes

    def apply(self, data: bytes) -> bytes:
        """Return the changed bytes."""
        at, n = round(self.place * len(data)), len(self.payload)
        if self.kind == "cut":
            return data[:at]
        if self.kind == "insert":
            return data[:at] + self.payload + data[at:]
        if self.kind == "delete":
            return data[:at] + data[at + n :]
        if self.kind == "repeat":
            return data[: at + n] + data[at:]
        return data[:at] + self.payload[: len(data) - at] + data[at + n :]


def random_mutation(rng: Random) -> Mutation:
    """Return a change of a few bytes, often near an end of the file, where formats have their headers."""
    kind = rng.choice(["cut", "insert", "delete", "repeat", "replace", "replace", "replace"])
    place = rng.choice([rng.random(), rng.random(), 0.03 * rng.random(), 1.0 - 0.03 * rng.random(), 1.0])
    size = rng.choice([1, 1, 2, 4, 8, 64])
    payload = rng.choice(
        [rng.randbytes(size), b"\x00" * size, b"\xff" * size, b"\x7f\xff\xff\xff\xff\xff\xff\xff", b'"', b"\n"]
    )
    return Mutation(kind, place, payload)


@dataclass(frozen=True, slots=True)
class File:
    """A table in a file, or in the parts of a folder.

    Attributes
    ----------
    path : str
        Relative path with its suffix, if any.
    table : Table
        What it holds.
    form : str
        A key of ``FORMS``, the suffix of parts.
    style : str
        Of text and of containers: one of ``STYLES``, ``ODD_STYLES``, ``ENCODINGS``, ``INSIDES`` or ``ODD_INSIDES``.
    mutations : tuple of Mutation
        Applied to the bytes in turn, of the last part of a folder.
    n_parts : int
        0 for a file, else the number of parts in the folder.
    is_inside : bool
        Whether the mutations apply to what is packed in the file, before it is.
    """

    path: str
    table: Table
    form: str
    style: str = ""
    mutations: tuple[Mutation, ...] = ()
    n_parts: int = 0
    is_inside: bool = False

    @property
    def address(self) -> str:
        """Path, with the name of the table where the file holds several."""
        inside = {"zip": "table.csv"}.get(self.form, TABLE)
        return f"{self.path}::{inside}" if self.form in SEVERAL and self.style == "several" else self.path

    def write(self, folder: Path) -> None:
        """Write the file, or the parts."""
        target = folder / self.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.form == "pipe":
            os.mkfifo(target)
            return
        if not self.n_parts:
            target.write_bytes(self._bytes(self.table, damaged=True))
            return
        target.mkdir(exist_ok=True)
        if len(self.table.names) % 3 == 0:  # as data sets have it
            (target / "dataset_info.json").write_text('{"splits": {"train": {}}}')
        edges = [self.table.n_rows * k // self.n_parts for k in range(self.n_parts + 1)]
        for k in range(self.n_parts):
            part = self.table.take(edges[k], edges[k + 1])
            data = self._bytes(part, damaged=k == self.n_parts - 1)
            (target / f"part-{k}.{self.form}").write_bytes(data)

    def _bytes(self, table: Table, *, damaged: bool) -> bytes:
        change = self._damaged if damaged else _unchanged
        if self.is_inside:
            return FORMS[self.form](table, self.style, change)
        return change(FORMS[self.form](table, self.style, _unchanged))

    def _damaged(self, data: bytes) -> bytes:
        for mutation in self.mutations:
            data = mutation.apply(data)
        return data


def _unchanged(data: bytes) -> bytes:
    return data


def arrow_table(table: Table) -> Any:
    """Return the table as arrow has it; columns that it cannot hold become texts."""
    arrays = []
    for cells in table.columns:
        try:
            arrays.append(pa.array(list(cells)))
        except (pa.ArrowException, OverflowError, TypeError):
            arrays.append(pa.array([None if cell is None else str(cell) for cell in cells]))
    return pa.Table.from_arrays(arrays, names=list(table.names))


def _matrix(table: Table) -> Any:
    """Return the cells as numbers (n, d), 0 where they are none; texts where no cell is a number."""
    rows = [[cell if isinstance(cell, (int, float)) else 0 for cell in column] for column in table.columns]
    return np.array(rows, dtype=np.float64).T


def _text(table: Table, style: str, delimiter: str) -> bytes:
    text = io.StringIO()
    ending = "\r\n" if style == "crlf" else "\n"
    quoting: Any = csv.QUOTE_ALL if style == "quoted" else csv.QUOTE_MINIMAL
    delimiter = ";" if style in ("semicolon", "commas") else delimiter
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerow(table.names)
    writer.writerows(map(_with_commas, row) if style == "commas" else row for row in zip(*table.columns, strict=True))
    content = text.getvalue()
    if style == "no newline":
        content = content.removesuffix(ending)
    if style == "blank lines":
        content = content.replace("\n", "\n\n", 2) + "\n\n"
    if style == "ragged":
        content += f"1{delimiter * (len(table.names) + 1)}2\n"
    if style == "bom":
        content = "\ufeff" + content
    encoding = style if style in ENCODINGS else "utf-8"
    return content.encode(encoding, errors="replace")


def _with_commas(cell: Any) -> Any:
    return repr(cell).replace(".", ",") if isinstance(cell, float) else cell


def _npy(table: Table, style: str) -> bytes:
    buffer = io.BytesIO()
    rows = _matrix(table)
    np.save(
        buffer, rows.astype(np.float32) if style == "quoted" else np.asfortranarray(rows) if style == "crlf" else rows
    )
    return buffer.getvalue()


def _npz(table: Table, style: str) -> bytes:
    buffer = io.BytesIO()
    save = np.savez_compressed if style == "quoted" else np.savez
    names = (name.replace("/", "_").replace("\x00", "_").replace("file", "f") or "x" for name in table.names)
    save(buffer, **dict(zip(names, _matrix(table).T, strict=True)))
    return buffer.getvalue()


def _parquet(table: Table, style: str) -> bytes:
    buffer = io.BytesIO()
    options: dict[str, dict[str, Any]] = {
        "quoted": {"compression": "zstd"},
        "crlf": {"row_group_size": 7},
        "bom": {"use_dictionary": False, "write_page_checksum": True},
    }
    pq.write_table(arrow_table(table), buffer, **options.get(style, {}))
    return buffer.getvalue()


def _feather(table: Table, style: str) -> bytes:
    buffer = io.BytesIO()
    compression = {"quoted": "zstd", "crlf": "uncompressed"}.get(style, "lz4")
    feather.write_feather(arrow_table(table), buffer, compression=compression, chunksize=7 if style == "bom" else None)
    return buffer.getvalue()


def _stream(table: Table, style: str) -> bytes:
    buffer = io.BytesIO()
    whole = arrow_table(table)
    with pa.ipc.new_stream(buffer, whole.schema) as writer:
        writer.write_table(whole, max_chunksize=7 if style == "crlf" else None)
    return buffer.getvalue()


def _plain(cell: Any) -> Any:
    return cell if isinstance(cell, (int, float, str, bool, list, dict, type(None))) else str(cell)


def _records(table: Table) -> list[str]:
    rows = zip(*table.columns, strict=True)
    return [json.dumps({n: _plain(c) for n, c in zip(table.names, row, strict=True) if c is not None}) for row in rows]


def _jsonl(table: Table, style: str) -> bytes:
    return ("\r\n" if style == "crlf" else "\n").join([*_records(table), ""]).encode()


def _json(table: Table, style: str) -> bytes:
    return f"[{', '.join(_records(table))}]".encode()


Form = Callable[[Table, str, Change], bytes]


def _alone(write: Callable[[Table, str], bytes]) -> Form:
    return lambda table, style, change: change(write(table, style))


def _compressed(write: Callable[[Table, str], bytes], codec: str) -> Form:
    return lambda table, style, change: compress(change(write(table, style)), codec)


def _csv(table: Table, style: str) -> bytes:
    return _text(table, style, ",")


#: Bytes of a table by format, with a change of what is packed in them; suffixes of files, in part.
FORMS: dict[str, Form] = {
    "csv": _alone(_csv),
    "tsv": _alone(lambda table, style: _text(table, style, "\t")),
    "parquet": _alone(_parquet),
    "feather": _alone(_feather),
    "arrow": _alone(_stream),
    "jsonl": _alone(_jsonl),
    "json": _alone(_json),
    "npy": _alone(_npy),
    "npz": _alone(_npz),
    **{f"csv.{codec}": _compressed(_csv, codec) for codec in ("gz", "bz2", "xz", "zst")},
    **{f"jsonl.{codec}": _compressed(_jsonl, codec) for codec in ("gz", "zst")},
    "json.bz2": _compressed(_json, "bz2"),
    "parquet.gz": _compressed(_parquet, "gz"),
    "zip": lambda table, style, change: zipped("table.csv", change(_csv(table, style)), style),
    "xlsx": excel,
    "ods": opendocument,
    "db": lambda table, style, change: change(database(table, style)),
    "duckdb": lambda table, style, change: change(of_duckdb(arrow_table(table), style)),
}

#: Formats that hold numbers alone.
OF_NUMBERS = ("npy", "npz")

#: Formats that hold several tables, and formats in which something is packed.
SEVERAL = ("zip", "xlsx", "db", "duckdb")
PACKED = tuple(form for form in FORMS if "." in form or form in ("zip", "xlsx", "ods"))

#: Ways to write a file that change its bytes and not its table, as a rule.
STYLES = ("", "", "", "bom", "crlf", "quoted", "no newline")

#: Ways to write text that readers need not take.
ODD_STYLES = ("latin-1", "utf-16", "blank lines", "semicolon", "ragged")

#: Encodings of text that an option names.
ENCODINGS = ("latin-1", "utf-16", "utf-16-le", "cp1252", "utf-8-sig", "utf-32", "cp037", "shift-jis")

#: Ways to write what holds several tables: good ones, and those that are refused, as a rule.
INSIDES = ("", "", "several", "quoted", "crlf")
ODD_INSIDES = ("foreign", "nested", "bomb", "far", "huge", "encrypted", "odd names", "bom", "no newline")
