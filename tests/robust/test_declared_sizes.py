"""Small files that stand for much memory are refused by what they declare, before it is spent."""

from __future__ import annotations

import io
import json
import sqlite3
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from btests import btest
from btests.data import arrow as arrow_source
from btests.data import workbook_cells
from btests.data.containers import sqlite_table
from btests.data.csv_table import typed
from btests.data.errors import DamagedError, LargeError
from btests.data.table import read_table
from btests.data.workbook_cells import refuse_far_cells
from tests.fuzz.containers import excel, opendocument
from tests.fuzz.tables import Table

pytest.importorskip("python_calamine")

TABLE = Table(("u", "v"), (tuple(range(20)), tuple("ab" * 10)))


def repeated(n_rows: int, n_columns: int) -> Callable[[bytes], bytes]:
    """Return a change that adds a row to a sheet, with a number that is repeated."""
    cell = f'<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="{n_columns}"/>'
    row = f'<table:table-row table:number-rows-repeated="{n_rows}">{cell}</table:table-row></table:table>'
    return lambda data: data.replace(b"</table:table>", row.encode())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("far.xlsx", excel(TABLE, "far", bytes)),
        ("rows.ods", opendocument(TABLE, "", repeated(10**6, 50))),
        ("columns.ods", opendocument(TABLE, "", repeated(1, 2**31))),
    ],
)
def test_far_and_repeated_cells_of_workbooks(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(LargeError, match=f"{name}' has a sheet whose cells, from the first to the last, take"):
        read_table(str(path), most_bytes=10**8)


def test_other_workbooks_are_read(tmp_path: Path) -> None:
    for name, data in (("a.xlsx", excel(TABLE, "", bytes)), ("a.ods", opendocument(TABLE, "", bytes))):
        path = tmp_path / name
        path.write_bytes(data)
        table = typed([read_table(str(path), most_bytes=10**5)])
        assert table.to_pydict() == {"u": list(range(20)), "v": list("ab" * 10)}


def test_cells_beyond_the_end_of_a_piece_are_counted_once() -> None:
    rows = tuple(float(k) for k in range(30_000))
    for make in (excel, opendocument):
        data = make(Table(("u", "v", "w"), (rows, rows, rows)), "", bytes)
        refuse_far_cells(data, "a", 64 * 3 * 30_001)
        with pytest.raises(LargeError):
            refuse_far_cells(data, "a", 64 * 3 * 30_001 - 1)


def test_a_part_that_is_longer_than_it_declares(tmp_path: Path) -> None:
    data = bytearray(excel(TABLE, "", bytes))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        member = archive.getinfo("xl/worksheets/sheet1.xml")
    for at in (member.header_offset + 22, data.rindex(b"xl/worksheets/sheet1.xml") - 46 + 24):
        data[at : at + 4] = (member.file_size - 9).to_bytes(4, "little")
    path = tmp_path / "a.xlsx"
    path.write_bytes(data)
    with pytest.raises(DamagedError, match="not a readable workbook"):
        read_table(str(path), most_bytes=10**8)


@pytest.mark.parametrize("cell", ["zeroblob(5000000)", "hex(zeroblob(2500000))", "zeroblob(900000000)"])
def test_views_of_long_cells(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            f"CREATE VIEW t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9999) "
            f"SELECT x, {cell} AS u FROM c"
        )
        database.commit()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"takes more than 20 MB in memory|too big"):
            read_table(str(path), most_bytes=20_000_000)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def test_arrays_of_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"u": k} for k in range(1000)]))
    assert read_table(str(path), most_bytes=10**5).num_rows == 1000
    with pytest.raises(LargeError, match=r"a.json' is an array of .* is read whole, and may take"):
        read_table(str(path), most_bytes=5000)


def test_record_batches_that_btest_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "zeros.arrow")
    table = pa.table({"u": np.zeros(10**6)})
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(table)
    monkeypatch.setattr(arrow_source, "free_bytes", lambda: 10**7)
    with pytest.raises(ValueError, match=r"zeros.arrow' has a record batch of 8 MB, and may take 5 MB"):
        btest(path, path, seed=1)


def test_views_that_never_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "endless.db"
    with closing(sqlite3.connect(path)) as database:
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        database.execute(f"CREATE VIEW v AS {numbers} SELECT i FROM n WHERE i < 0")
    with pytest.raises(ValueError, match="never ends"):
        sqlite_table(str(path), "v", None, n_checks=3)


@pytest.mark.parametrize(
    "tag",
    [
        b'<c r="A1" ' + b'r="A1" ' * 500_000,
        b'<c r="A1"><f></f>' + b" " * 3_000_000,
        b'<c r="A1"><f></f><v>' + b" " * 3_000_000,
        b"<sheet " + b"a" * 3_000_000,
        b"<table:table-cell " + b"office:value-type " * 200_000,
    ],
    ids=["references", "blanks", "blanks in a value", "a name", "types"],
)
def test_long_tags_take_no_longer_than_others(tag: bytes) -> None:
    began = time.process_time()
    for name in ("_PLACED", "_FORMULA", "_ROW_OR_CELL", "_ATTRIBUTE"):
        list(getattr(workbook_cells, name).finditer(tag))
    assert time.process_time() - began < 10.0  # it was hours
