"""Workbooks, databases, archives and compressed files of tables, some of them of what is no table."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import duckdb
import pyarrow as pa

from tests.fuzz.tables import Table
from tests.workbooks import workbook

#: Changes the bytes that are packed, before they are.
Change = Callable[[bytes], bytes]

#: Name of the table in files that hold several.
TABLE = "t"

# Bytes that a few hundred thousand of a compressed file stand for.
_BOMB = 300_000_000

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"

# Of members that hold no table.
_FOREIGN = (b"%PDF-1.7\n\x00\x01", b"", b"PK\x03\x04", b"<html></html>", b"\x7fELF\x02\x01", b"\x93NUMPY\x01", b"PAR1")


def compress(data: bytes, codec: str) -> bytes:
    """Return compressed data; ``codec`` is the suffix of such files."""
    if codec == "zst":
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    if codec == "gz":
        return gzip.compress(data, compresslevel=1, mtime=0)
    return bz2.compress(data) if codec == "bz2" else lzma.compress(data, preset=0)


def zipped(name: str, data: bytes, style: str) -> bytes:
    """Return a zip archive of a file, and of others in some styles."""
    members = {f"{TABLE}/{name}" if style == "quoted" else name: data}
    if style == "several":
        members = {"readme.md": b"# Tables\n", name: data, f"more.{name}": data}
    if style == "foreign":
        members = {name: _FOREIGN[len(data) % len(_FOREIGN)]}
    if style == "nested":
        members = {"inner.zip": zipped(name, data, "")}
    if style == "bomb":
        members = {name: data + b"0" * _BOMB}
    if style == "odd names":
        members = {f"../\x1b[31m{name}": data, f"/{name}": data, "\u202e": data}
    method = {"bom": zipfile.ZIP_STORED, "crlf": zipfile.ZIP_BZIP2, "no newline": zipfile.ZIP_LZMA}
    return declaring(_archive(members, method.get(style, zipfile.ZIP_DEFLATED)), style)


def declaring(archive: bytes, style: str) -> bytes:
    """Return an archive that declares a huge size, or a password, in some styles."""
    if style not in ("huge", "encrypted"):
        return archive
    data = bytearray(archive)
    for found in re.finditer(rb"PK\x01\x02", archive):
        at = found.start()
        if style == "huge":
            data[at + 24 : at + 28] = b"\xfe\xff\xff\xff"
        else:
            data[at + 8] |= 1
    return bytes(data)


def _archive(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def _repacked(archive: bytes, name: str, change: Change) -> bytes:
    """Return an archive with a change of one member."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        members = {member: old.read(member) for member in old.namelist()}
    return _archive({member: change(data) if member == name else data for member, data in members.items()})


def excel(table: Table, style: str, change: Change) -> bytes:
    """Return the table as a workbook of Excel."""
    rows: list[Any] = [table.names, *zip(*table.columns, strict=True)]
    sheets: dict[str, list[Any]] = {"first": [["a"], [1]], TABLE: rows} if style == "several" else {TABLE: rows}
    book = workbook(sheets)
    sheet = f"xl/worksheets/sheet{len(sheets)}.xml"
    if style == "far":
        far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        book = _repacked(book, sheet, lambda data: data.replace(b"</sheetData>", far))
    if style == "bomb":
        book = _repacked(book, sheet, lambda data: data.replace(b"</sheetData>", b" " * _BOMB + b"</sheetData>"))
    if style == "foreign":
        book = _repacked(book, sheet, lambda data: _FOREIGN[len(data) % len(_FOREIGN)])
    return declaring(_repacked(book, sheet, change), style)


def opendocument(table: Table, style: str, change: Change) -> bytes:
    """Return the table as a workbook of LibreOffice."""
    rows: Iterable[Any] = [table.names, *zip(*table.columns, strict=True)]
    body = "".join(f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in rows)
    if style in ("far", "huge"):
        n_columns = 16_384 if style == "far" else 2**31
        far = f'<table:table-cell table:number-columns-repeated="{n_columns}"/>{_cell(1)}'
        body += f'<table:table-row table:number-rows-repeated="1048576"/><table:table-row>{far}</table:table-row>'
    if style == "bomb":
        body += " " * _BOMB
    name = "" if style == "foreign" else f' table:name="{TABLE}"'
    spaces = " ".join(f'xmlns:{space}="{_OFFICE}:{space}:1.0"' for space in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.2"><office:body>'
        f"<office:spreadsheet><table:table{name}>{body}</table:table></office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    manifest = (
        '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest '
        f'xmlns:manifest="{_OFFICE}:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
        'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>'
    )
    members = {
        "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": change(content.encode("utf-8", "replace")),
        "META-INF/manifest.xml": manifest.encode(),
    }
    return declaring(_archive(members), style)


def _cell(cell: Any) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, bool):
        return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(cell).lower()}"/>'
    if isinstance(cell, (int, float)):
        return f'<table:table-cell office:value-type="float" office:value="{cell!r}"/>'
    text = "".join(letter for letter in str(cell) if letter.isprintable())
    return f'<table:table-cell office:value-type="string"><text:p>{escape(text)}</text:p></table:table-cell>'


def database(table: Table, style: str) -> bytes:
    """Return the table in a database of SQLite, beside others in some styles."""
    connection = sqlite3.connect(":memory:")
    names = [name.replace("\x00", "") or "empty" for name in table.names]
    try:
        _fill(
            connection,
            [f"c{k}" for k in range(len(names))] if len(set(map(str.lower, names))) < len(names) else names,
            table,
        )
        if style == "several":
            connection.execute("CREATE TABLE other (a)")
            connection.execute(f'CREATE VIEW v AS SELECT * FROM "{TABLE}"')
        if style == "foreign":
            connection.execute(f'DROP TABLE "{TABLE}"')
        if style == "far":
            connection.execute(
                "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c"
            )
        if style == "bomb":
            connection.execute(f"CREATE VIEW bomb AS SELECT zeroblob({_BOMB})")
        connection.commit()
        return connection.serialize()
    finally:
        connection.close()


def _fill(connection: sqlite3.Connection, names: list[str], table: Table) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    connection.execute(f'CREATE TABLE "{TABLE}" ({", ".join(quoted)})')
    marks = ", ".join("?" * len(names))
    rows = [tuple(map(_value, row)) for row in zip(*table.columns, strict=True)]
    connection.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', rows)


def _value(cell: Any) -> Any:
    if isinstance(cell, int) and not -(2**63) <= cell < 2**63:
        return float(cell)
    return cell if isinstance(cell, (int, float, bytes, type(None))) else str(cell).encode("utf-8", "replace").decode()


def of_duckdb(table: Any, style: str) -> bytes:
    """Return an arrow table in a database of DuckDB, beside others in some styles."""
    names = [name.replace("\x00", "").encode("utf-8", "replace").decode() or "empty" for name in table.column_names]
    if len(set(map(str.lower, names))) < len(names):
        names = [f"c{k}" for k in range(len(names))]
    views = {
        "several": ["CREATE TABLE other AS SELECT 1 AS a", f"CREATE VIEW v AS SELECT * FROM {TABLE}"],
        "foreign": [f"DROP TABLE {TABLE}"],
        "far": ["CREATE VIEW far AS SELECT range AS r FROM range(1000000000000)"],
        "huge": ["CREATE VIEW huge AS SELECT range AS r FROM range(100000000) ORDER BY hash(r)"],
        "odd names": ["CREATE VIEW odd AS SELECT * FROM read_text('/etc/hostname')"],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.duckdb")
        with closing(duckdb.connect(str(path))) as database:
            database.register("given", table.rename_columns(names))
            database.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM given")
            for statement in views.get(style, ()):
                database.execute(statement)
        return path.read_bytes()
