"""Cells that say "missing" in words, and numbers that are codes."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import btests
from btests.comparison.text_amounts import amount_styles
from btests.comparison.tokens import hint_at_marks
from btests.data.csv_parser import MISSING
from btests.data.csv_table import read_csv, typed
from tests.comparison.conftest import Shell


def columns(rng: np.random.Generator, mark: str, n: int = 200) -> str:
    """Return a CSV file of a number, a code and a text, with a mark in one of ten numbers."""
    lines = ["size,zip,name"]
    for _ in range(n):
        size = mark if rng.random() < 0.1 else f"{rng.normal():.4f}"
        lines.append(f"{size},{rng.choice([10115, 20095, 80331])},{rng.choice(['x', 'y'])}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("mark", MISSING)
def test_what_is_missing_in_csv_files_of_any_kind_of_column(mark: str, quote: str) -> None:
    cell = f"{quote}{mark}{quote}"
    data = f"number,text,flag\n1.5,p,true\n{cell},{cell},{cell}\n".encode()
    table = typed([read_csv(data, "a.csv", ",", guessed=True)])
    assert [table[name].null_count for name in table.column_names] == [1, 1, 1]
    assert [str(table[name].type) for name in table.column_names] == ["double", "string", "bool"]


@pytest.mark.parametrize("mark", ["-", "?", "missing"])
def test_a_mark_that_makes_numbers_text_is_hinted_at(shell: Shell, mark: str) -> None:
    rng = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text(columns(rng, mark))
    found = shell("a.csv", "b.csv", "--json").json
    shown = "'?'" if mark == "?" else mark
    hint = f"column 'size' holds numbers but for {mark!r}: taken as text; --missing {shown} reads such cells as missing"
    assert hint in found["notes"]
    again = shell("a.csv", "b.csv", "--json", "--missing", mark).json
    kinds = {column["name"]: column["kind"] for column in again["columns"]}
    assert kinds == {"size": "number", "zip": "number", "name": "category"}
    assert again["settings"]["missing"] == [mark]
    assert f"--missing {shown}" in again["command"]
    assert not any("taken as text" in note for note in again["notes"])
    missing = next(column["a"]["missing"] for column in again["columns"] if column["name"] == "size")
    assert 0.02 < missing < 0.3


def test_a_mark_on_one_side_is_hinted_at_where_the_types_conflict(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    Path("a.csv").write_text(columns(rng, "-"))
    Path("b.csv").write_text(columns(rng, ""))
    assert "text in a.csv ('-' in row 2) and numbers in b.csv" in (error := shell.refused("a.csv", "b.csv"))
    assert "--missing - reads such cells as missing" in error
    assert shell("a.csv", "b.csv", "--missing", "-").status in (0, 1)


def test_marks_in_frames_and_numbers_that_mean_missing() -> None:
    rng = np.random.default_rng(0)
    a, b = (
        pd.DataFrame({"u": rng.choice(["1", "2", "3", "?"], 100), "v": rng.choice([1, 2, -999], 100)}) for _ in range(2)
    )
    found = btests.compare(a, b, seed=0, missing=["?", "-999"])
    assert {column.name: column.kind for column in found.columns} == {"u": "number", "v": "number"}
    assert all(0.1 < column.a["missing"] < 0.5 for column in found.columns)
    assert found.encoding.codes[1].has_missing
    hint = btests.compare(a, b, seed=0).notes
    assert any(note.endswith("`missing='?'` reads such cells as missing") for note in hint)


def test_codes_are_categories_if_one_says_so(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text(columns(rng, ""))
    found = shell("a.csv", "b.csv", "--json").json
    assert (
        "'zip' may hold codes, and was compared as numbers; --categories zip compares as categories" in found["notes"]
    )
    again = shell("a.csv", "b.csv", "--json", "--categories", "zip").json
    column = next(column for column in again["columns"] if column["name"] == "zip")
    assert column["kind"] == "category"
    assert sorted(level["level"] for level in column["levels"]) == ["10115", "20095", "80331"]
    assert not any("codes" in note for note in again["notes"])
    assert "--categories names 'nope'" in shell.refused("a.csv", "b.csv", "--categories", "nope")
    frames = [pd.DataFrame({"zip": [1.0, 2.0, None, 3.0] * 20}) for _ in range(2)]
    assert btests.compare(*frames, seed=0, categories="zip").columns[0].details["levels"][0]["level"] in ("1", "2", "3")


def test_python_speaks_of_keywords() -> None:
    a, b = {"u": [1.0, 2.0], "v": [1, 2]}, {"u": [1.0, 2.0]}
    for arguments, message in (
        ((a, b, {}), "`common=True` goes on with the others"),
        ((a, a, {"by": "u"}), "`by` splits one table"),
        ((a, None, {}), "that splits it with `by`"),
        ((a, None, {"by": "v", "value_a": 1}), "`value_a` and `value_b` go together"),
        ((a, a, {"exclude": ["w"]}), "`exclude` names 'w'"),
        (({"u": [1.0, np.inf]}, b, {}), "exclude the column with `exclude`"),
        ((a, {"u": ["p", "q"], "v": [1, 2]}, {}), "exclude it with `exclude`, or go on without such columns"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            btests.compare(arguments[0], arguments[1], **arguments[2])
        assert "--" not in str(error.value)
    found = btests.compare({"u": np.arange(40.0) % 7}, {"u": np.arange(40.0) % 7}, max_rows=20, seed=0)
    assert not any("--" in note for note in found.notes)


def test_files_that_are_something_else(shell: Shell, files: tuple[str, str]) -> None:
    Path("zipped.csv").write_bytes(gzip.compress(Path("a.csv").read_bytes()))
    assert "'zipped.csv' is gzip-compressed: name it .csv.gz" in shell.refused("zipped.csv", "b.csv")
    pd.read_csv("a.csv").to_parquet("table.parquet")
    Path("table.parquet").rename("table.csv")
    assert "'table.csv' is a Parquet file" in shell.refused("table.csv", "b.csv")


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_cells_with_commas_do_not_hide_the_delimiter(shell: Shell, files: tuple[str, str], delimiter: str) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{rng.integers(9)},{rng.integers(99):02d}{delimiter}{rng.integers(9)}" for _ in range(40)]
    Path("comma.csv").write_text("\n".join([f"u{delimiter}v", *rows]) + "\n")
    error = shell.refused("comma.csv", "b.csv")
    assert "'comma.csv' seems to have" in error
    assert "add --delimiter" in error
    Path("other.csv").write_text(Path("comma.csv").read_text())
    found = shell("comma.csv", "other.csv", "--delimiter", delimiter, "--json").json
    if delimiter == ";":  # as European programs write numbers
        assert {column["name"]: column["kind"] for column in found["columns"]}["u"] == "number"
    else:
        assert any("'u' holds numbers with a decimal comma" in note for note in found["notes"])


def test_a_header_with_commas_does_not_hide_the_delimiter(shell: Shell, files: tuple[str, str]) -> None:
    Path("comma.csv").write_text("length, cm;weight\n" + "1,5;2\n2,5;3\n" * 20)
    assert "'comma.csv' seems to have ';' between its cells" in shell.refused("comma.csv", "b.csv")
    Path("fine.csv").write_text("u,v (a;b)\n" + "1,x\n2,y;z\n" * 20)  # not in every line
    assert shell("fine.csv", "fine.csv").status == 0


def test_identifiers_are_found_before_rows_are_drawn() -> None:
    rng = np.random.default_rng(0)
    numbers = [{"row": np.arange(5000) + 5000 * k, "u": rng.normal(size=5000)} for k in (0, 1)]
    found = btests.compare(*numbers, max_rows=100, seed=0)
    assert [column.name for column in found.columns] == ["u"]
    assert dict(found.excluded)["row"] == "it numbers the rows, 0 to 9999"
    assert found.details["rows"]["a"] == 100
    assert found.details["rows"]["a_given"] == 5000


@pytest.mark.parametrize("cell", ["9" * 60_000 + "a", "1," * 30_000 + "a", "$" + "9" * 60_000 + "a", "-" * 60_000])
def test_long_cells_take_no_longer_than_others(cell: str) -> None:
    began = time.process_time()
    column = pa.chunked_array([[cell, "1", "2", "3"]])
    assert hint_at_marks("x", [column]) is None
    assert amount_styles(column) == ()
    assert time.process_time() - began < 5.0  # it was a minute
