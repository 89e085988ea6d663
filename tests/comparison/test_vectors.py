"""Columns of vectors, such as embeddings, in a comparison: one column, one kernel test, one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import btests
from btests.comparison.dependence import Settings, groups_independence
from btests.comparison.vectors import n_coordinates
from tests.comparison.conftest import Shell


def _table(seed: int, n: int = 300, d: int = 40, shift: float = 0.0, scale: float = 1.0) -> Any:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * scale + shift * (np.arange(d) == min(3, d - 1))
    return pa.table({"v": rows.tolist(), "k": rng.normal(size=n), "c": rng.choice(["p", "q"], n)})


def _column(found: Any, name: str) -> Any:
    return next(column for column in found.columns if column.name == name)


def test_many_vectors_have_fewer_coordinates() -> None:
    assert [n_coordinates(768, n) for n in (10, 10_000, 50_000, 10**6)] == [768, 768, 335, 64]
    assert [n_coordinates(3000, n) for n in (10, 10_000, 10**9)] == [1024, 1024, 64]
    assert n_coordinates(8, 10**9) == 8


@pytest.mark.parametrize("d", [1, 40, 400])
@pytest.mark.parametrize(("change", "words"), [({"shift": 6.0}, "of the spread apart"), ({"scale": 1.3}, "spread ")])
def test_a_change_of_vectors_is_found_and_told(d: int, change: dict[str, Any], words: str) -> None:
    found = btests.compare(_table(1, d=d), _table(2, d=d, **change), seed=0)
    assert [column.name for column in found.columns if column.changed] == ["v"]
    column = _column(found, "v")
    assert any(words in change.text for change in column.changes), column.changes
    assert column.kind == "number"
    width = next(code.width for code in found.encoding.codes if code.name == "v")
    assert width == d
    assert any(f"holds vectors of {d} numbers" in note for note in found.notes)
    assert "v" in str(found)


def test_vectors_do_not_swamp_other_columns() -> None:
    # The joint test alone: the shift of one number beside 600 that do not change.
    a, b = _table(1, d=600), _table(2, d=600)
    shifted = b.set_column(1, "k", pa.array(b["k"].to_numpy() + 0.8))
    found = btests.compare(a, shifted, seed=0)
    assert found.tests[0].pvalue <= 0.01
    assert not _column(found, "v").changed


@pytest.mark.statistical
def test_level_of_the_test_of_vectors() -> None:
    # Rejections at 0.1 of 60 tests are Binomial(60, 0.1) at most: more than 21 with probability less than 1e-7.
    pvalues = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.standard_t(3, size=(120, 80)) @ np.diag(np.linspace(0.1, 3.0, 80))
        tables = [pa.table({"v": half.tolist()}) for half in (rows[:60], rows[60:])]
        pvalues.append(btests.compare(*tables, seed=seed).columns[0].pvalue)
    assert np.sum(np.array(pvalues) <= 0.1) <= 21


def test_frames_and_files_hold_the_same_vectors(shell: Shell) -> None:
    a, b = _table(1), _table(2, shift=1.0)
    expected = btests.compare(a, b, seed=0).pvalue
    for make in (
        lambda t: t.to_pandas(),
        pl.DataFrame,
        lambda t: pl.DataFrame(t).with_columns(pl.col("v").list.to_array(40)),
        lambda t: t.set_column(0, "v", t["v"].cast(pa.list_(pa.float64(), 40))),
    ):
        assert btests.compare(make(a), make(b), seed=0).pvalue == expected
    pq.write_table(a, "a.parquet")
    Path("b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in b.to_pylist()))
    assert shell("a.parquet", "b.jsonl", "--json").json["verdict"]["pvalue"] == expected
    shell("a.parquet", "b.jsonl", "--report", "r.html")
    assert "vectors of 40 numbers" in Path("r.html").read_text(encoding="utf-8")
    assert btests.compare(a, b, seed=0, max_rows=100).pvalue > 0.0
    whole = pa.concat_tables(
        [a.append_column("side", pa.array(["a"] * 300)), b.append_column("side", pa.array(["b"] * 300))]
    )
    assert btests.compare(whole, by="side", seed=0).pvalue <= 0.05
    third = whole.set_column(3, "side", pa.array(["a"] * 200 + ["b"] * 200 + ["c"] * 200))
    assert btests.compare(third, by="side", seed=0).pvalue <= 1.0


def test_bits_do_not_depend_on_the_parts_of_a_column() -> None:
    a, b = _table(1, d=1100), _table(2, d=1100, n=250)
    expected = btests.compare(a, b, seed=0).to_dict()
    for size in (1, 13):
        parts = [pa.concat_tables([own.slice(k, size) for k in range(0, own.num_rows, size)]) for own in (a, b)]
        found = btests.compare(*parts, seed=0).to_dict()
        for part in ("verdict", "columns", "blocks", "effect", "relations"):
            assert json.dumps(found[part]) == json.dumps(expected[part]), part


def test_missing_vectors_are_missing_cells() -> None:
    rows = _table(1).to_pydict()
    for i in range(0, 300, 7):
        rows["v"][i] = None
    rows["v"][1][5] = None
    found = btests.compare(pa.table(rows), _table(2), seed=0)
    column = _column(found, "v")
    assert column.changed
    assert column.a["missing"] == pytest.approx(44 / 300)
    assert any("missing" in change.text for change in column.changes)


def test_lists_that_are_no_vectors_are_named(shell: Shell) -> None:
    a = _table(1, n=60, d=3)
    ragged = a.set_column(0, "v", pa.array([[1.0] * (i % 3 + 1) for i in range(60)]))
    longer = a.set_column(0, "v", pa.array([[1.0] * 4] * 60))
    with pytest.raises(ValueError, match="'v' holds lists of 1 to 3 numbers; exclude it"):
        btests.compare(a, ragged)
    with pytest.raises(ValueError, match="'v' holds lists of 3 to 4 numbers"):
        btests.compare(a, longer)
    assert ("v", "holds lists of 1 to 3 numbers") in btests.compare(a, ragged, common=True, seed=0).excluded
    with pytest.raises(ValueError, match="holds empty lists"):
        btests.compare(*[a.set_column(0, "v", pa.array([[]] * 60, pa.list_(pa.float64())))] * 2)
    with pytest.raises(ValueError, match="lists of numbers in a and numbers in b"):
        btests.compare(a, a.set_column(0, "v", a["k"]))
    huge = a.set_column(0, "v", pa.array([[1e80 * i, 1.0, 2.0] for i in range(60)]))
    with pytest.raises(ValueError, match=r"'v' of b has a number beyond 1e\+70 in row 2"):
        btests.compare(a, huge)
    infinite = [[1.0, float("inf"), 2.0] if i == 1 else [1.0, 2.0, float(i)] for i in range(60)]
    with pytest.raises(ValueError, match="infinite number in row 2"):
        btests.compare(a, a.set_column(0, "v", pa.array(infinite)))
    for name in ("a", "b"):
        pq.write_table(a, f"{name}.parquet")
    assert "lists in a table that is read in pieces, which are not compared" in shell.refused(
        "a.parquet", "b.parquet", "--memory", "1kB"
    )
    assert shell("a.parquet", "b.parquet", "--memory", "1kB", "--common").status == 0
    constant = a.set_column(0, "v", pa.array([[1.0, 2.0, 3.0]] * 60))
    assert dict(btests.compare(constant, constant, seed=0).excluded)["v"].startswith("it is constant")
    with pytest.raises(ValueError, match="holds vectors, whose directions"):
        btests.compare(a, a, seed=0).encoding.transform(a)


def test_dependence_on_vectors(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 6))
    frame = pd.DataFrame({"v": list(rows), "y": rows[:, 2] + 0.3 * rng.normal(size=200), "z": rng.normal(size=200)})
    frame.to_parquet("t.parquet")
    assert groups_independence("t.parquet", ["v"], ["y"], Settings())["dependent"]
