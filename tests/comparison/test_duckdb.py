"""Tables of databases of DuckDB, and views that do what a table does not."""

from __future__ import annotations

import datetime
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import btests
from btests.comparison.sources import load
from btests.data.duckdb_table import duckdb_table
from btests.data.errors import LargeError
from tests.comparison.conftest import Shell

NUMBERS = "SELECT range AS k, (hash(range + {seed}) % 1000)::DOUBLE / 100 AS size, 'c' || range % 3 AS colour"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c WHERE x = 2"


def _database(path: str, *statements: str, **tables: str) -> None:
    with closing(duckdb.connect(path)) as database:
        for name, query in tables.items():
            database.execute(f"CREATE TABLE {name} AS {query}")
        for statement in statements:
            database.execute(statement)


def _numbers(seed: int, n: int = 80) -> str:
    return f"{NUMBERS.format(seed=seed)} FROM range({n})"


@pytest.mark.parametrize("name", ["a.duckdb", "a.ddb", "a.db", "a"])
def test_files_of_any_name_hold_the_same_table(shell: Shell, name: str) -> None:
    _database(name, t=_numbers(1))
    before = Path(name).read_bytes()
    found = load(name, "table").table
    assert found.column_names == ["k", "size", "colour"]
    assert found["k"].to_pylist() == list(range(80))
    assert found["colour"].to_pylist()[:4] == ["c0", "c1", "c2", "c0"]
    assert Path(name).read_bytes() == before
    assert os.listdir() == [name]


def test_types_of_cells(shell: Shell) -> None:
    cells = (
        "DATE '2024-01-02' AS day, TIMESTAMPTZ '2024-01-02 03:00:00+00' AS at, 'x'::ENUM ('x', 'y') AS e, "
        "1.5::DECIMAL(9, 2) AS d, 7::HUGEINT AS h, uuid() AS u, [1.5, 2.5]::DOUBLE[] AS l, NULL AS n, true AS b"
    )
    _database("a.duckdb", t=f"SELECT {cells} FROM range(3)")
    found = load("a.duckdb", "table").table
    assert found["day"].to_pylist()[0] == datetime.date(2024, 1, 2)
    assert found["at"].cast(pa.timestamp("s", "UTC")).to_pylist()[0].hour == 3
    assert found["e"].to_pylist() == ["x"] * 3
    assert [int(x) for x in found["h"].to_pylist()] == [7] * 3
    assert found["l"].to_pylist()[0] == [1.5, 2.5]


def test_tables_views_and_schemas(shell: Shell) -> None:
    Path("b.csv").write_text("k,size,colour\n" + "".join(f"{i},{i * 7 % 10}.5,c{i % 3}\n" for i in range(80)))
    _database(
        "x.duckdb",
        "CREATE VIEW few AS SELECT * FROM orders WHERE k < 60",
        "CREATE SCHEMA s",
        "CREATE TABLE s.t AS SELECT 1 AS a",
        'CREATE TABLE "odd "" name" AS SELECT 2 AS a',
        orders=_numbers(1),
    )
    refused = shell.refused("x.duckdb", "b.csv")
    assert "holds 4 tables, odd \" name, orders, few, s.t; name one of them, such as 'x.duckdb::odd" in refused
    assert "did you mean 'x.duckdb::orders'?" in shell.refused("x.duckdb::order", "b.csv")
    assert shell("x.duckdb::few", "b.csv", "--json").json["test"]["n_x"] == 60
    assert load("x.duckdb::s.t", "table").table.to_pydict() == {"a": [1]}
    assert load('x.duckdb::odd " name', "table").table.to_pydict() == {"a": [2]}
    Path("x.sqlite").write_bytes(Path("x.duckdb").read_bytes())
    assert "a database of DuckDB: name it .duckdb" in shell.refused("x.sqlite", "b.csv")
    assert btests.compare("x.duckdb::orders", "x.duckdb::few", seed=0).pvalue > 1e-6


def test_a_view_reaches_nothing_outside_the_file(shell: Shell) -> None:
    Path("secret.csv").write_text("a,b\n1,2\n")
    outside = {
        "one": "'secret.csv'",
        "two": "read_text('secret.csv')",
        "three": "\"glob\"('*')",
        "four": "read_csv('secret.csv')",
    }
    _database("x.duckdb", *(f"CREATE VIEW {name} AS SELECT * FROM {what}" for name, what in outside.items()))
    for name in outside:
        assert "has a view of what is outside the file, which is not read" in shell.refused(
            f"x.duckdb::{name}", "b.csv"
        )
    assert sorted(os.listdir()) == ["secret.csv", "x.duckdb"]


def test_a_view_does_not_see_variables_of_python(shell: Shell) -> None:
    _database("x.duckdb", "CREATE TABLE found AS SELECT 1 AS a", "CREATE VIEW v AS SELECT * FROM found")
    _database("x.duckdb", "DROP TABLE found")
    found = pa.table({"a": [7]})
    with pytest.raises(ValueError, match="found does not exist"):
        load("x.duckdb::v", "table")
    assert found.num_rows == 1


def test_views_without_end_or_bounds(shell: Shell) -> None:
    _database(
        "x.duckdb",
        f"CREATE VIEW endless AS {ENDLESS}",
        "CREATE VIEW large AS SELECT range AS r FROM range(1000000000000)",
        "CREATE VIEW sorted AS SELECT repeat('x', 100) || range AS s FROM range(100000000) ORDER BY s",
    )
    with pytest.raises(ValueError, match="gives no rows for too long"):
        duckdb_table("x.duckdb", "endless", None, 0.2)
    with pytest.raises(LargeError, match="takes more than 10 MB"):
        duckdb_table("x.duckdb", "large", 10_000_000)
    with pytest.raises(LargeError, match="more memory than it may take"):
        duckdb_table("x.duckdb", "sorted", 10_000_000)
    assert "raise --memory" in shell.refused("x.duckdb::large", "b.csv", "--memory", "20MB")


@contextmanager
def _open(path: str) -> Iterator[Any]:
    with closing(duckdb.connect(path)) as database:
        yield database


def test_trouble_is_one_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    _database("x.duckdb", t=_numbers(1))
    with _open("x.duckdb"):
        assert "is open in this process with other settings" in shell.refused("x.duckdb", "b.csv")
    data = Path("x.duckdb").read_bytes()
    Path("cut.duckdb").write_bytes(data[:9000])
    assert "not a readable database" in shell.refused("cut.duckdb", "b.csv")
    damaged = bytearray(data)
    damaged[4096:8192] = bytes(4096)
    damaged[8192:12288] = b"\xff" * 4096
    Path("bad.duckdb").write_bytes(damaged)
    assert "not a readable database" in shell.refused("bad.duckdb", "b.csv")
    Path("text.duckdb").write_text("a,b\n1,2\n")
    assert "text: name it .csv if it is a table" in shell.refused("text.duckdb", "b.csv")
    _database("empty.duckdb")
    assert "holds no table" in shell.refused("empty.duckdb", "b.csv")
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "reading it needs duckdb; python -m pip install 'btests[duckdb]' gets it" in shell.refused(
        "x.duckdb", "b.csv"
    )


def test_folders_of_parts_may_hold_a_database(shell: Shell) -> None:
    Path("parts").mkdir()
    Path("parts", "a.csv").write_text("a\n1\n2\n")
    _database("x.duckdb", t="SELECT 1 AS a")
    shutil.move("x.duckdb", "parts/x.duckdb")
    assert load("parts", "table").table.num_rows == 2
