"""Files of other programs, compressed files, archives, pipes and files without a suffix: the same table in all."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import json
import lzma
import os
import shutil
import sqlite3
import sys
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import btests
from btests.comparison.sources import load
from btests.data.formats import is_stream
from btests.data.text_format import TextFormat
from tests.comparison.conftest import Shell
from tests.workbooks import workbook

Writer = Callable[[str, Any], None]


def _table(seed: int, n: int = 80) -> Any:
    rng = np.random.default_rng(seed)
    start = datetime.date(2024, 1, 1)
    return pa.table(
        {
            "size": [None if i % 9 == 0 else float(x) for i, x in enumerate(rng.normal(size=n).round(4))],
            "count": rng.integers(0, 30, n),
            "colour": rng.choice(["red", "green", "blue, or so", "größer"], n),
            "day": [start + datetime.timedelta(days=int(k)) for k in rng.integers(0, 90, n)],
        }
    )


def _rows(table: Any) -> list[list[Any]]:
    return [table.column_names, *([row[name] for name in table.column_names] for row in table.to_pylist())]


def _csv(table: Any) -> bytes:
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()


def _records(table: Any) -> list[dict[str, Any]]:
    return [{k: str(v) if k == "day" else v for k, v in row.items()} for row in table.to_pylist()]


def _zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", "."), data)
    return buffer.getvalue()


def _database(path: str, **tables: Any) -> None:
    with closing(sqlite3.connect(path)) as database:
        for name, table in tables.items():
            names, *rows = _rows(table)
            database.execute(f"CREATE TABLE '{name}' ({', '.join(names)})")
            places = ", ".join("?" * len(names))
            cells = [[str(cell) if isinstance(cell, datetime.date) else cell for cell in row] for row in rows]
            database.executemany(f"INSERT INTO '{name}' VALUES ({places})", cells)
        database.commit()


def _write(make: Callable[[Any], bytes]) -> Writer:
    return lambda path, table: _done(Path(path).write_bytes(make(table)))


def _done(_: object) -> None:
    return None


KINDS: dict[str, Writer] = {
    "a.json": _write(lambda t: json.dumps(_records(t)).encode()),
    "pretty.json": _write(lambda t: b"\xef\xbb\xbf" + json.dumps(_records(t), indent=2).encode()),
    "a.json.xz": _write(lambda t: lzma.compress(json.dumps(_records(t)).encode())),
    "a.csv.gz": _write(lambda t: gzip.compress(_csv(t))),
    "a.csv.bz2": _write(lambda t: bz2.compress(_csv(t))),
    "a.CSV.XZ": _write(lambda t: lzma.compress(_csv(t))),
    "a.csv.zst": _write(lambda t: pa.compress(_csv(t), "zstd", asbytes=True)),
    "a.gz": _write(lambda t: gzip.compress(_csv(t))),
    "table": _write(_csv),
    "table.2024": _write(_csv),
    "packed": _write(lambda t: bz2.compress(_csv(t))),
    "tabs": _write(
        lambda t: _csv(t).replace(b"blue, or so", b"blue; or so").replace(b",", b"\t").replace(b"; or", b", or")
    ),
    "a.zip": _write(lambda t: _zip(part_csv=_csv(t))),
    "archive": _write(lambda t: _zip(part_csv=_csv(t))),
    "a.xlsx": _write(lambda t: workbook({"one": _rows(t)})),
    "book": _write(lambda t: workbook({"one": _rows(t)})),
    "a.db": lambda path, t: _database(path, t=t),
    "a.sqlite3": lambda path, t: _database(path, t=t),
    "base": lambda path, t: _database(path, t=t),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_holds_the_same_table(shell: Shell, name: str) -> None:
    table = _table(1)
    KINDS[name](name, table)
    found = load(name, "table").table
    assert found.column_names == table.column_names
    assert found["size"].to_pylist() == table["size"].to_pylist()
    assert found["count"].to_pylist() == table["count"].to_pylist()
    assert found["colour"].to_pylist() == table["colour"].to_pylist()
    assert pa.types.is_temporal(found["day"].type)
    assert found["day"].cast(pa.timestamp("s")).to_pylist() == table["day"].cast(pa.timestamp("s")).to_pylist()


@pytest.mark.parametrize("name", ["a.csv.bz2", "a.CSV.XZ", "a.csv.zst", "a.gz", "table"])
def test_compressed_text_is_read_in_pieces(shell: Shell, name: str) -> None:
    KINDS[name](name, _table(1))
    Path("a.csv").write_bytes(_csv(_table(1)))
    Path("b.csv").write_bytes(_csv(_table(2)))
    found, plain = (btests.compare(a, "b.csv", seed=3, memory=1000) for a in (name, "a.csv"))
    assert found.result.read == plain.result.read != "at once"
    assert found.pvalue == plain.pvalue


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.bz2", "a.CSV.XZ", "a.csv.zst", "a.zip", "a.xlsx", "a.db"])
def test_damaged_files_are_refused_in_one_sentence(shell: Shell, name: str) -> None:
    KINDS[name](name, _table(1, 600))
    Path("b.csv").write_bytes(_csv(_table(2)))
    data = Path(name).read_bytes()
    Path(name).write_bytes(data[: len(data) // 2])
    assert name in shell.refused(name, "b.csv")
    Path(name).write_bytes(b"")
    assert "is empty" in shell.refused(name, "b.csv") or "cut off" in shell.refused(name, "b.csv")
    Path(name).write_bytes(_csv(_table(1)))
    assert name in shell.refused(name, "b.csv")


def test_arrays_of_anything_but_records(shell: Shell) -> None:
    Path("b.csv").write_bytes(_csv(_table(2)))
    for text, what in (
        ("[]", "is empty"),
        ("[1, 2]", "has a number in line 1"),
        ('[{"a": 1}, {"a": "x"}]', "lines are elements of its array"),
        ('[{"a": 1}', "a comma or ] is missing"),
        ('[{"a": 1},\n {"a": }]', "in line 2: Expecting value"),
        ('[{"a": ' + "[" * 9999, "nested"),
        ('[{"a": 1}] x', "there is more after the array"),
        ("[" + "9" * 5000 + "]", "'x.json'"),
    ):
        Path("x.json").write_text(text)
        assert what in shell.refused("x.json", "b.csv")


def test_archives_of_several_files(shell: Shell) -> None:
    Path("b.csv").write_bytes(_csv(_table(2)))
    Path("x.zip").write_bytes(_zip(one_csv=_csv(_table(1)), two_csv=_csv(_table(3))))
    refused = shell.refused("x.zip", "b.csv")
    assert "holds 2 files, one.csv, two.csv" in refused
    assert "such as 'x.zip::one.csv'" in refused
    assert "did you mean 'x.zip::two.csv'?" in shell.refused("x.zip::tow.csv", "b.csv")
    assert shell("x.zip::two.csv", "b.csv", "--json").json["test"]["n_x"] == 80
    Path("y.zip").write_bytes(_zip(in_zip=_zip(one_csv=b"a\n1\n")))
    assert "take it out of 'y.zip' first" in shell.refused("y.zip", "b.csv")
    assert "holds one table" in shell.refused("b.csv::one", "b.csv")
    Path("large.zip").write_bytes(_zip(one_csv=b"a\n" + b"1\n" * 2**23))
    assert "raise --memory" in shell.refused("large.zip", "b.csv", "--memory", "1000")


def test_sheets_of_a_workbook(shell: Shell) -> None:
    noon = datetime.datetime(2024, 1, 1, 12)
    rows: list[list[Any]] = [
        ["n", None, "when", "mixed", "flag"],
        [1, "u", noon, "a", True],
        [None, "v", noon.date(), 2.5, False],
    ]
    Path("x.xlsx").write_bytes(workbook({"empty": [], "Second one": rows}))
    Path("b.csv").write_bytes(_csv(_table(2)))
    assert "sheet 'empty' of 'x.xlsx' is empty" in shell.refused("x.xlsx", "b.csv")
    assert "did you mean 'x.xlsx::Second one'?" in shell.refused("x.xlsx::second_one", "b.csv")
    found = load("x.xlsx::Second one", "table").table.to_pydict()
    assert found["n"] == [1, None]
    assert found["column 2"] == ["u", "v"]
    assert found["when"] == [noon, datetime.datetime(2024, 1, 1)]
    assert found["mixed"] == ["a", "2.5"]
    assert found["flag"] == [True, False]


def test_workbooks_need_a_package(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.xlsx").write_bytes(workbook({"one": [["a"], [1], [2]]}))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ValueError, match=r"needs python-calamine; .*"):
        load("x.xlsx", "table")


def test_tables_of_a_database(shell: Shell) -> None:
    Path("b.csv").write_bytes(_csv(_table(2)))
    _database("x.db", orders=_table(1), people=_table(3))
    before = Path("x.db").read_bytes()
    assert "holds 2 tables, orders, people; name one of them, such as 'x.db::orders'" in shell.refused("x.db", "b.csv")
    assert "did you mean 'x.db::orders'?" in shell.refused("x.db::order", "b.csv")
    assert "there is no table 'zzz' in 'x.db'; there is orders, people" in shell.refused("x.db::zzz", "b.csv")
    assert shell("x.db::orders", "x.db::people", "--json").json["test"]["n_x"] == 80
    with closing(sqlite3.connect("empty.db")) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("CREATE TABLE 'odd \"name' (a, b)")
        database.executemany("INSERT INTO 'odd \"name' VALUES (?, ?)", [(1, 2.5), (2.5, "x"), (None, 3)])
        database.commit()
    assert "has a header and no rows" in shell.refused("empty.db::t", "b.csv")
    assert load('empty.db::odd "name', "table").table.to_pydict() == {"a": [1.0, 2.5, None], "b": ["2.5", "x", "3"]}
    assert Path("x.db").read_bytes() == before
    assert sorted(os.listdir()) == ["b.csv", "empty.db", "x.db"]


def test_nothing_is_written_beside_a_database_with_a_log(shell: Shell) -> None:
    database = sqlite3.connect("x.db")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE t (a)")
    database.executemany("INSERT INTO t VALUES (?)", [(1,), (2,)])
    database.commit()
    # Rows of the log, which the other connection holds open.
    assert load("x.db", "table").table["a"].to_pylist() == [1, 2]
    database.close()
    assert os.listdir() == ["x.db"]
    assert load("x.db", "table").table["a"].to_pylist() == [1, 2]
    assert os.listdir() == ["x.db"]


def test_tables_whose_names_are_like_patterns(shell: Shell) -> None:
    _database("x.db", **{"sales [2023]": _table(1), "why?": _table(3), "all*": _table(2)})
    assert load("x.db::all*", "table").table.equals(_table(2).cast(load("x.db::all*", "table").table.schema))
    assert shell("x.db::sales [2023]", "x.db", "--table", "why?", "--json").json["names"]["b"] == "x.db::why?"
    assert "there is no table '[x]' in 'x.db'" in shell.refused("x.db", "x.db", "--table", "[x]")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there are no names of open files")
@pytest.mark.parametrize("name", ["table", "a.csv.gz", "a.json", "a.zip", "a.xlsx"])
def test_pipes_of_a_shell_are_read(shell: Shell, name: str) -> None:
    KINDS[name](name, _table(1))
    Path("b.csv").write_bytes(_csv(_table(2)))
    expected = btests.compare(name, "b.csv", seed=0).pvalue
    reading_end, writing_end = os.pipe()

    def feed() -> None:
        with os.fdopen(writing_end, "wb") as file:
            file.write(Path(name).read_bytes())

    writer = threading.Thread(target=feed)
    writer.start()
    try:
        path = f"/dev/fd/{reading_end}"
        assert is_stream(path)
        found = shell(path, "b.csv", "--json").json
        assert found["verdict"]["pvalue"] == expected
    finally:
        os.close(reading_end)
        writer.join()


def test_unknown_binary_files_are_refused(shell: Shell) -> None:
    Path("b.csv").write_bytes(_csv(_table(2)))
    for name in ("x", "x.bin"):
        Path(name).write_bytes(bytes(range(256)))
        assert f"{name!r} is of no known format by its name" in shell.refused(name, "b.csv")


def _european(seed: int, n: int = 60) -> tuple[str, list[float], list[float]]:
    rng = np.random.default_rng(seed)
    small, large = rng.normal(size=n).round(3).tolist(), rng.uniform(-5000, 5000, n).round(2).tolist()
    lines = ["Länge;Betrag;Anzahl;Ort"]
    for u, v in zip(small, large, strict=True):
        grouped = f"{v:,.2f}".translate(str.maketrans(",.", ".,"))
        lines.append(f"{str(u).replace('.', ',')};{grouped};{int(v)};{rng.choice(['Köln', 'Ulm', '1,5 km'])}")
    return "\n".join(lines) + "\n", small, large


@pytest.mark.parametrize("memory", [None, 1000])
def test_decimal_commas_and_latin_1_are_found(shell: Shell, memory: int | None) -> None:
    text, small, large = _european(1)
    Path("a.csv").write_text(text, encoding="cp1252")
    Path("b.csv").write_text(_european(2)[0], encoding="utf-16")
    found = btests.compare("a.csv", "b.csv", delimiter=";", memory=memory, seed=1)
    kinds = {column.name: column.kind for column in found.columns}
    assert kinds == {"Länge": "number", "Betrag": "number", "Anzahl": "number", "Ort": "category"}
    assert "a.csv was read as Latin-1" in found.notes
    assert "b.csv was read as UTF-16" in found.notes
    named = btests.compare("a.csv", "b.csv", delimiter=";", memory=memory, seed=1, decimal=",")
    assert named.pvalue == found.pvalue
    whole = load("a.csv", "table", TextFormat(";")).table
    assert whole["Länge"].to_pylist() == small
    assert whole["Betrag"].to_pylist() == large
    Path("a.csv").write_text(text, encoding="cp437")
    Path("b.csv").write_text(_european(2)[0], encoding="cp437")
    other = btests.compare("a.csv", "b.csv", delimiter=";", memory=memory, seed=1, encoding="cp437")
    assert other.pvalue == found.pvalue
    assert not any("was read as" in note for note in other.notes)


def test_points_that_group_digits_and_words_with_commas(shell: Shell) -> None:
    """A cell 1.234 in a column of decimal commas, and a cell 1,5 in one of words, are the same whole and in pieces."""
    rng = np.random.default_rng(3)
    for name in ("a.csv", "b.csv"):
        rows = [
            f"{v}.234{',5' if i % 2 else ''};{v},5;{rng.choice(['x', '1,5'])}"
            for i, v in enumerate(rng.integers(1, 9, 600))
        ]
        Path(name).write_text("u;v;w\n" + "\n".join(rows) + "\n")
    for decimal in (None, ","):
        whole, pieces = (
            btests.compare("a.csv", "b.csv", delimiter=";", memory=memory, seed=1, decimal=decimal)
            for memory in (None, 1000)
        )
        assert [column.kind for column in whole.columns] == [column.kind for column in pieces.columns]
        assert whole["u"].a["mean"] == pytest.approx(pieces["u"].a["mean"])
        assert whole["u"].a["mean"] > 1000.0
        assert whole["w"].details["levels"] == pieces["w"].details["levels"]


def test_named_decimals_and_encodings(shell: Shell) -> None:
    Path("a.csv").write_text('a,b\n"1,5",1.234\n"2,5",2.000\n')
    assert load("a.csv", "table", TextFormat(decimal=",")).table.to_pydict() == {"a": [1.5, 2.5], "b": [1234.0, 2000.0]}
    assert load("a.csv", "table").table.to_pydict() == {"a": ["1,5", "2,5"], "b": [1.234, 2.0]}
    Path("b.csv").write_text("a;b\n1,5;1.5\n2;3\n")
    assert load("b.csv", "table", TextFormat(";")).table.to_pydict() == {"a": [1.5, 2.0], "b": [1.5, 3.0]}
    assert load("b.csv", "table", TextFormat(";", ".")).table.to_pydict() == {"a": ["1,5", "2"], "b": [1.5, 3.0]}
    Path("c.csv").write_bytes("größe,b\n1,ü\n2,ß\n".encode() + b"3,\xff\n")  # UTF-8 with one damaged cell
    assert "is not UTF-8 text" in shell.refused("c.csv", "b.csv")
    assert "--encoding must be the name of an encoding" in shell.refused("a.csv", "b.csv", "--encoding", "rot13")
    assert "not text in the encoding ascii" in shell.refused("c.csv", "b.csv", "--encoding", "ascii")
    with pytest.raises(ValueError, match=r"decimal must be ',' or"):
        btests.compare("a.csv", "b.csv", decimal=";")
    np.save("x.npy", np.arange(60.0).reshape(-1, 2) % 7)
    notes = btests.compare("x.npy", "x.npy", decimal=",", encoding="latin-1").notes
    assert sum("is for CSV files, and no table is one" in note for note in notes) == 2


def test_files_of_text_beyond_a_megabyte(shell: Shell) -> None:
    """The header is found in the first megabyte, at the end of which a row is cut off, in any of its cells."""
    for n_columns in (2, 5):
        row = ",".join(["0.123456789"] * n_columns)
        for shift in range(0, len(row) + 1, 4):
            lines = [",".join(f"{'n' * shift}{j}" for j in range(n_columns)), *[row] * (2**20 // len(row))]
            Path("a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            assert load("a.csv", "table").table.shape == (len(lines) - 1, n_columns)


def test_a_format_that_the_name_does_not_tell(shell: Shell) -> None:
    Path("b.csv").write_bytes(_csv(_table(2)))
    KINDS["a.csv.gz"]("plain.csv.gz", _table(1))
    expected = btests.compare("plain.csv.gz", "b.csv", seed=0).pvalue
    pyarrow.parquet.write_table(_table(1), "x.csv")
    Path("y.parquet").write_bytes(_csv(_table(1)))
    Path("z.npy").write_bytes(_csv(_table(1)).replace(b'"blue, or so"', b"blue; or so").replace(b",", b"\t"))
    shutil.copy("x.csv", "w.csv")
    assert "a Parquet file" in shell.refused("x.csv", "b.csv")
    assert shell("x.csv", "w.csv", "--format", "parquet", "--json").json["names"] == {"a": "x.csv", "b": "w.csv"}
    found = shell("y.parquet", "b.csv", "--format", "csv", "--json").json
    assert (found["verdict"]["pvalue"], found["settings"]["file_format"]) == (expected, "csv")
    assert "--format csv" in found["command"]
    for memory in (None, 1000):
        assert btests.compare("z.npy", "z.npy", file_format="tsv", seed=0, memory=memory).pvalue == 1.0
    assert "file_format must be one of npy, " not in shell.refused("x.csv", "b.csv", "--format", "parqet")
    assert "--format must be one of npy, " in shell.refused("x.csv", "b.csv", "--format", "parqet")
    assert "did you mean 'parquet'?" in shell.refused("x.csv", "b.csv", "--format", "parqet")
    assert "is a Parquet file" in shell.refused("b.csv", "x.csv", "--format", "csv")


def test_the_table_of_both_files_is_named_once(shell: Shell) -> None:
    _database("x.db", orders=_table(1), people=_table(3))
    Path("y.xlsx").write_bytes(workbook({"people": [["a"], [1]], "orders": _rows(_table(2))}))
    Path("b.csv").write_bytes(_csv(_table(2)))
    expected = btests.compare("x.db::orders", "y.xlsx::orders", seed=0)
    found = btests.compare("x.db", "y.xlsx", table="orders", seed=0)
    assert (found.pvalue, found.names) == (expected.pvalue, ("x.db::orders", "y.xlsx::orders"))
    assert btests.compare("x.db::people", "b.csv", seed=0, common=True).pvalue > 0.0
    assert shell("x.db", "b.csv", "--table", "people", "--json").json["names"]["a"] == "x.db::people"
    assert "did you mean 'x.db::orders'?" in shell.refused("x.db", "b.csv", "--table", "order")
    assert "--table is for files that hold several tables, and none does" in shell.refused(
        "b.csv", "b.csv", "--table", "x"
    )
