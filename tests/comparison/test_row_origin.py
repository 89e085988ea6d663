"""Numbers of typical rows: the row of the file has the cells that are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import btests
from btests.comparison.row_origin import RowOrigin
from btests.plan import Index

N = 3000


def table(seed: int, shift: float, n: int = N) -> pa.Table:
    """Return rows each of which has a text that no other has."""
    rng = np.random.default_rng(seed)
    values = rng.normal(shift, 1.0, size=n)
    names = {"x": values, "y": rng.normal(size=n), "unit": [f"u{i // 2}" for i in range(n)]}
    return pa.table({**names, "group": rng.choice(["p", "q", "r"], n).tolist()})


def check(found: Any, sources: dict[str, dict[str | None, pa.Table]]) -> None:
    """Assert that the rows of the sources have the cells that are shown of them."""
    examples = found.to_dict()["examples"]
    place = examples["columns"].index("x")
    for side, files in sources.items():
        rows = examples["rows"][side]
        assert len(rows) == len(examples[side]) == 5
        for cells, own in zip(examples[side], rows, strict=True):
            value = files[own["file"]]["x"][own["row"] - 1].as_py()
            assert float(cells[place]) == pytest.approx(value, rel=1e-3)


@pytest.fixture(scope="module")
def whole() -> tuple[pa.Table, pa.Table]:
    return table(1, 0.0), table(2, 1.0)


@pytest.mark.parametrize("max_rows", [10**6, 700])
def test_in_memory(whole: tuple[pa.Table, pa.Table], max_rows: int) -> None:
    found = btests.compare(*whole, seed=3, exclude=["unit"], max_rows=max_rows)
    check(found, {side: {None: own} for side, own in zip("ab", whole, strict=True)})


def test_rows_of_units(whole: tuple[pa.Table, pa.Table]) -> None:
    found = btests.compare(*whole, seed=3, unit="unit", max_rows=700)
    check(found, {side: {None: own} for side, own in zip("ab", whole, strict=True)})


@pytest.mark.parametrize("memory", ["4GB", "1MB"], ids=["in memory", "in pieces"])
@pytest.mark.parametrize("max_rows", [None, 700])
def test_sides_of_one_table(tmp_path: Path, memory: str, max_rows: int | None) -> None:
    n = 60_000
    own = table(4, 0.0, n)
    values = own["x"].to_numpy() + 2.0 * np.array([text == "q" for text in own["group"].to_pylist()])
    own = own.set_column(0, "x", pa.array(values))
    pa.parquet.write_table(own, tmp_path / "t.parquet", row_group_size=7_000)
    found = btests.compare(
        tmp_path / "t.parquet",
        by="group",
        value_a="p",
        value_b="q",
        exclude=["unit"],
        memory=memory,
        max_rows=max_rows,
        seed=3,
    )
    assert (found.details["rows"]["a_columns"] < found.details["rows"]["a"]) == (memory == "1MB" and max_rows is None)
    check(found, {side: {None: own} for side in "ab"})
    groups = own["group"].to_pylist()
    rows = found.to_dict()["examples"]["rows"]
    assert {groups[one["row"] - 1] for one in rows["a"]} == {"p"}
    assert {groups[one["row"] - 1] for one in rows["b"]} == {"q"}


@pytest.mark.parametrize("memory", ["4GB", "1MB"], ids=["in memory", "in pieces"])
@pytest.mark.parametrize("damaged", [False, True])
def test_files_of_a_folder(tmp_path: Path, memory: str, damaged: bool) -> None:
    sides: dict[str, dict[str | None, pa.Table]] = {}
    for side, shift in (("a", 0.0), ("b", 1.0)):
        folder = tmp_path / side
        folder.mkdir()
        sides[side] = {}
        for k in range(4):
            path = folder / f"part-{k}.csv"
            own = table(10 * k + (side == "b"), shift, 20_000 + 999 * k).drop_columns(["unit"])
            pa.csv.write_csv(own, path)
            sides[side][str(path)] = own
        if damaged:
            (folder / "part-1.csv").write_text("x,y,group\n1,2\n1,2,3,4\n")
            del sides[side][str(folder / "part-1.csv")]
    found = btests.compare(tmp_path / "a", tmp_path / "b", memory=memory, skip_bad_parts=damaged, seed=3)
    check(found, sides)
    assert found.to_html(tmp_path / "page.html") is None
    assert "part-3.csv</span>" in (tmp_path / "page.html").read_text(encoding="utf-8") or damaged


def test_typical_rows_of_groups_are_not_told_apart(whole: tuple[pa.Table, pa.Table]) -> None:
    two: Any = btests.compare(whole[0], by="group", exclude=["unit"], seed=1).to_dict()
    assert "examples" not in two


def test_origin_of_a_choice_of_a_choice() -> None:
    numbers: Index = np.arange(0, 40, 2)
    origin = RowOrigin(files=(("a", 10), ("b", 5), ("c", 30))).take(numbers).take(np.array([4, 5, 7, 8]))
    assert [origin.place(row) for row in range(4)] == [("a", 9), ("b", 1), ("b", 5), ("c", 2)]
    assert origin.take(None) is origin
    assert not origin.is_plain
    assert RowOrigin().is_plain
