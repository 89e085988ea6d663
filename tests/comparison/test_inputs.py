"""The same rows in every format and frame give the same answer."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

import btests
from tests.comparison.conftest import Shell

KEYS = ("size", "colour", "flag", "day")


def outcome(found: Any) -> list[Any]:
    """Return what must not depend on the format."""
    plain = found if isinstance(found, dict) else found.to_dict()
    columns = sorted((c["name"], c["kind"], c["effect"], c["pvalue"], c["pvalue_corrected"]) for c in plain["columns"])
    return [plain["verdict"]["pvalue"], plain["effect"]["mmd2"], columns]


def as_tsv(table: Any, name: str) -> str:
    pa_csv.write_csv(table, f"{name}.tsv", pa_csv.WriteOptions(delimiter="\t"))
    return f"{name}.tsv"


def as_gz(table: Any, name: str) -> str:
    Path(f"{name}.csv.gz").write_bytes(gzip.compress(Path(f"{name}.csv").read_bytes()))
    return f"{name}.csv.gz"


def as_parquet(table: Any, name: str) -> str:
    pq.write_table(table, f"{name}.parquet")
    return f"{name}.parquet"


def as_feather(table: Any, name: str) -> str:
    pa_feather.write_feather(table, f"{name}.feather")
    return f"{name}.feather"


def as_stream(table: Any, name: str) -> str:
    with pa.OSFile(f"{name}.arrow", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return f"{name}.arrow"


def as_jsonl(table: Any, name: str) -> str:
    rows = [{k: str(v) if k == "day" else v for k, v in row.items() if v is not None} for row in table.to_pylist()]
    Path(f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return f"{name}.jsonl"


def as_parts(table: Any, name: str) -> str:
    Path(name).mkdir()
    for k in range(3):
        pq.write_table(table.slice(100 * k, 100), f"{name}/part-{k}.parquet")
    return name


def as_pattern(table: Any, name: str) -> str:
    as_parts(table, name)
    return f"{name}/part-*.parquet"


@pytest.mark.parametrize("write", [as_tsv, as_gz, as_parquet, as_feather, as_stream, as_jsonl, as_parts, as_pattern])
def test_every_format(shell: Shell, files: tuple[str, str], write: Callable[[Any, str], str]) -> None:
    expected = outcome(shell("a.csv", "b.csv", "--json").json)
    names = [write(pa_csv.read_csv(f), Path(f).stem) for f in files]
    assert outcome(shell(*names, "--json").json) == expected


@pytest.mark.parametrize("form", ["csv", "parquet", "gz", "jsonl", "arrow"])
def test_standard_input(shell: Shell, files: tuple[str, str], form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(shell("a.csv", "b.csv", "--json").json)
    table = pa_csv.read_csv("b.csv")
    path = {"csv": "b.csv", "parquet": "b.parquet", "gz": "b.csv.gz", "jsonl": "b.jsonl", "arrow": "b.arrow"}[form]
    {"parquet": as_parquet, "gz": as_gz, "jsonl": as_jsonl, "arrow": as_stream}.get(form, lambda t, n: "")(table, "b")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))
    assert outcome(shell("a.csv", "-", "--json").json) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda path: pd.read_csv(path, parse_dates=["day"]),
        lambda path: pl.read_csv(path, try_parse_dates=True),
        lambda path: pl.scan_csv(path, try_parse_dates=True),
        pa_csv.read_csv,
        Path,
    ],
    ids=["pandas", "polars", "polars lazy", "pyarrow", "path"],
)
def test_every_frame(shell: Shell, files: tuple[str, str], make: Callable[[str], Any]) -> None:
    expected = outcome(btests.compare(*files, seed=3))
    found = btests.compare(make(files[0]), make(files[1]), seed=3)
    assert outcome(found) == expected


def test_pandas_categories_and_nullable_types() -> None:
    rng = np.random.default_rng(0)
    frames = []
    for _ in range(2):
        frame = pd.DataFrame({"word": rng.choice(["x", "y", "z"], 200), "n": rng.integers(0, 9, 200)})
        frame["typed"] = pd.Categorical(frame["word"])
        frame["maybe"] = pd.array([None if v < 2 else int(v) for v in frame["n"]], dtype="Int64")
        frames.append(frame)
    kinds = {column.name: column.kind for column in btests.compare(*frames, seed=0).columns}
    assert kinds == {"word": "category", "n": "number", "typed": "category", "maybe": "number"}


def test_arrays(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=(150, 3))
    y[:, 1] += 1.0
    found = btests.compare(x, y, seed=0)
    assert found.columns[0].name == "x1"
    np.save("x.npy", x)
    np.save("y.npy", y)
    again = btests.compare("x.npy", "y.npy", seed=0)
    assert outcome(again) == outcome(found)
    np.savez("x.npz", x)
    np.savez("y.npz", y)
    assert [c.effect for c in btests.compare("x.npz", "y.npz", seed=0).columns] == [c.effect for c in found.columns]
    np.savez("p.npz", u=x[:, 0], v=x[:, 1])
    np.savez("q.npz", u=y[:, 0], v=y[:, 1])
    assert btests.compare("p.npz", "q.npz", seed=0).columns[0].name == "v"
    with pytest.raises(ValueError, match=r"an array of 3 dimensions; \.reshape\(n, -1\) makes n rows"):
        btests.compare(np.zeros((9, 2, 2)), y)
    np.savez("both.npz", x=x, y=y[:-1])
    assert btests.compare("both.npz::x", "y.npz::arr_0", seed=0).pvalue == btests.compare(x, y, seed=0).pvalue
    with pytest.raises(ValueError, match=r"name one of them, such as 'both\.npz::x'"):
        btests.compare("both.npz", "y.npz")
    with pytest.raises(ValueError, match=r"no file 'x1' in 'both\.npz'; there is x\.npy, y\.npy"):
        btests.compare("both.npz::x1", "y.npz")


def test_what_is_no_table_is_said() -> None:
    with pytest.raises(ValueError, match="a must be a file, a data frame"):
        btests.compare(object(), {"u": [1, 2]})
    with pytest.raises(ValueError, match="different lengths, 2 to 3"):
        btests.compare({"u": [1, 2], "v": [1, 2, 3]}, {"u": [1, 2], "v": [1, 2]})
    with pytest.raises(ValueError, match="b has no rows"):
        btests.compare({"u": [1, 2]}, pd.DataFrame({"u": []}))
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["u", "u"])
    with pytest.raises(ValueError, match="u"):
        btests.compare(frame, frame)


def test_parts_that_do_not_match_are_named(shell: Shell, files: tuple[str, str]) -> None:
    Path("parts").mkdir()
    Path("parts/1.csv").write_text(Path("a.csv").read_text())
    Path("parts/2.csv").write_text("size,colour\n1,red\n")
    assert "the parts 'parts/1.csv' and 'parts/2.csv' do not both have 'day', 'flag'" in shell.refused("parts", "b.csv")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--by", "flag"], ["flag = false", "flag = true"]),
        (["--by", "colour", "--a", "red", "--b", "blue"], ["colour = red", "colour = blue"]),
        (["--by", "day", "--a", "2024-01-01", "--b", "2024-01-02"], ["day = 2024-01-01", "day = 2024-01-02"]),
    ],
)
def test_one_file_with_two_sides(shell: Shell, files: tuple[str, str], arguments: list[str], names: list[str]) -> None:
    found = shell("a.csv", *arguments, "--json").json
    assert list(found["names"].values()) == names
    assert {"name": arguments[1], "reason": "it splits the table into sides"} in found["excluded"]


def test_by_takes_numbers_as_they_are_written(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    Path("m.csv").write_text("month,u\n" + "".join(f"{1 + j % 3},{rng.normal()}\n" for j in range(300)))
    for value in ("1", "1.0", "01"):
        assert shell("m.csv", "--by", "month", "--a", value, "--b", "3", "--json").json["rows"]["a"] == 100


def test_columns_and_exclude(shell: Shell, files: tuple[str, str]) -> None:
    found = shell("a.csv", "b.csv", "--columns", "size, day", "--json").json
    assert {column["name"] for column in found["columns"]} == {"size", "day"}
    assert {left["name"] for left in found["excluded"]} == {"colour", "flag"}
    found = shell("a.csv", "b.csv", "--exclude", "size", "--json").json
    assert {column["name"] for column in found["columns"]} == set(KEYS) - {"size"}


def test_a_late_text_in_a_column_of_numbers(shell: Shell) -> None:
    # Beyond the first megabytes, by which the reader tells the type of a column.
    n = 1_100_000
    Path("late.csv").write_text("u\n" + "1234567\n2\n" * (n // 2) + "0.5\n")
    Path("late2.csv").write_text("u\n" + "1234567\n2\n" * 200)
    assert btests.compare("late.csv", "late2.csv", seed=0, max_rows=1000).columns[0].kind == "number"


def test_max_rows_is_noted(shell: Shell, files: tuple[str, str]) -> None:
    found = shell("a.csv", "b.csv", "--max-rows", "100", "--json").json
    given = {"a_given": 300, "b_given": 300}
    assert found["rows"] == {"a": 100, "b": 100, "a_columns": 100, "b_columns": 100, **given}
    assert "of the 300 rows of a.csv, 100 were tested" in found["notes"][0]


def test_pyarrow_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"needs pyarrow; python -m pip install 'btests\[tables\]'"):
        btests.compare({"u": [1, 2]}, {"u": [1, 2]})


def test_dictionaries_and_decimals() -> None:
    table = pa.table({"word": pa.array(["a", "b", None] * 20).dictionary_encode(), "u": pa.array(range(60), pa.int8())})
    found = btests.compare(table, table, seed=0, columns=["word", "u"])
    assert {c.name: c.a["missing"] for c in found.columns}["word"] == pytest.approx(1 / 3)


def test_masked_cells_are_missing_and_byte_orders_do_not_matter() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 2))
    masked = np.ma.masked_array(rows, mask=rows > 0.0)
    for table in (masked, {"x0": masked[:, 0], "x1": masked[:, 1]}):
        found = btests.compare(rows, table, seed=1)
        assert found["x0"].b["missing"] == pytest.approx(np.mean(rows[:, 0] > 0.0))
        assert found.different
    swapped = rows.astype(rows.dtype.newbyteorder())
    assert btests.compare(swapped, rows * 1.5, seed=1).pvalue == btests.compare(rows, rows * 1.5, seed=1).pvalue
