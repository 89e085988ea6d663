"""Columns of vectors, such as embeddings, in data frames and files: their coordinates are tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

import btests
from btests.scaling import coordinate_groups, scales_of

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(90, 5)), RNG.normal(size=(80, 5)) * [1.0, 1.0, 1.0, 1.0, 1.6]


def _fixed(rows: Any) -> Any:
    return pa.table({"v": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])})


FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas arrays": lambda rows: pd.DataFrame({"v": list(rows)}),
    "pandas lists": lambda rows: pd.DataFrame({"v": rows.tolist()}),
    "pandas arrow": lambda rows: pd.DataFrame(
        {"v": pd.Series(rows.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float64())))}
    ),
    "pandas series": lambda rows: pd.Series(list(rows)),
    "polars lists": lambda rows: pl.DataFrame({"v": rows.tolist()}),
    "polars array": lambda rows: pl.DataFrame({"v": pl.Series(rows, dtype=pl.Array(pl.Float64, 5))}),
    "polars series": lambda rows: pl.Series(rows.tolist()),
    "arrow lists": lambda rows: pa.table({"v": rows.tolist()}),
    "arrow fixed": _fixed,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_of_vectors_is_the_array_of_them(frame: str) -> None:
    make = FRAMES[frame]
    assert btests.btest(make(X), make(Y), seed=1).pvalue == btests.btest(X, Y, seed=1).pvalue


def _save(table: Any, path: str) -> str:
    if path.endswith(".parquet"):
        pq.write_table(table, path, row_group_size=23)
    elif path.endswith(".feather"):
        feather.write_feather(table, path, chunksize=17)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=31)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrows"])
@pytest.mark.parametrize("make", ["arrow lists", "arrow fixed"])
def test_files_of_vectors(suffix: str, make: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables = [FRAMES[make](rows).append_column("k", pa.array(rows[:, 0] > 0)) for rows in (X, Y)]
    paths = [_save(table, f"{name}.{suffix}") for name, table in zip("xy", tables, strict=True)]
    source = btests.open_source(paths[0])
    assert source.names == ("v[0]", "v[1]", "v[2]", "v[3]", "v[4]", "k")
    np.testing.assert_array_equal(source.read(20, 40)[:, :5], X[20:40])
    np.testing.assert_array_equal(source.take(np.array([3, 50, 89]))[:, :5], X[[3, 50, 89]])
    assert btests.open_source(paths[0], ["k", "v"]).names == ("k", "v[0]", "v[1]", "v[2]", "v[3]", "v[4]")
    assert btests.open_source(paths[0], ["v[3]", "k"]).read(0, 2).tolist() == [[r[3], float(r[0] > 0)] for r in X[:2]]
    assert btests.open_source(paths[0], ["k"]).width == 1
    expected = btests.btest(*(pd.DataFrame({"v": list(r), "k": r[:, 0] > 0}) for r in (X, Y)), seed=2)
    found = btests.btest(*paths, seed=2)
    assert found.pvalue == expected.pvalue
    turned = _save(tables[1].select(["k", "v"]), f"turned.{suffix}")
    assert btests.btest(paths[0], turned, seed=2).pvalue == expected.pvalue
    assert btests.open_source([paths[0], turned]).n_rows == 170


def test_coordinates_of_a_vector_share_a_scale() -> None:
    rows = np.column_stack([X * 100.0, X[:, 0] * 1e-3])
    names = [*(f"v[{j}]" for j in range(5)), "k"]
    scales = scales_of(rows, names)
    assert len(set(scales[:5].tolist())) == 1
    assert np.var(rows[:, :5] / scales[:5], axis=0).sum() == pytest.approx(1.0, rel=0.4)
    assert scales_of(1e-310 * X, names[:5])[0] > 0.0
    assert coordinate_groups(["v[0]", "v[1]", "w[0]", "w[1]", "v[0]", "a"]) == [[0, 1], [2, 3], [4], [5]]
    frames = [pd.DataFrame({"v": list(r), "k": r[:, 0]}) for r in (X, Y)]
    wide = [pd.DataFrame({"v": list(np.tile(r, 40)), "k": r[:, 0]}) for r in (X, Y)]
    for x, y in (frames, wide):  # a shift of the number is found, however many coordinates there are
        shifted = y.assign(k=y["k"] + 1.5)
        assert btests.btest(x, shifted, seed=0).pvalue <= 0.01


def test_other_tests_take_vectors() -> None:
    x, y = pd.DataFrame({"v": list(X)}), pl.DataFrame({"v": Y.tolist()})
    both = btests.ksample_test(x, y, seed=1), btests.ksample_test(X, Y, seed=1)
    assert both[0].pvalue == both[1].pvalue
    dependent = pd.DataFrame({"v": X.tolist()})
    assert (
        btests.independence_test(dependent, X[:, 0] ** 2, seed=1).pvalue
        == btests.independence_test(X, X[:, 0] ** 2, seed=1).pvalue
    )
    units = (
        pd.DataFrame({"v": list(X), "u": np.arange(90) // 3}),
        pd.DataFrame({"v": list(Y), "u": 900 + np.arange(80) // 3}),
    )
    labels = units[0]["u"].to_numpy(), units[1]["u"].to_numpy()
    assert btests.btest(*units, units="u", seed=1).pvalue == btests.btest(X, Y, units=labels, seed=1).pvalue


ODD: dict[str, tuple[list[Any], str]] = {
    "lengths": ([[1.0, 2.0], [3.0], [4.0, 5.0]], "holds a list of 1 numbers in row 1, and one of 2 in row 0"),
    "missing": ([[1.0, 2.0], None, [4.0, 5.0]], "missing cell in row 1"),
    "no lists": ([None, [1.0], [2.0]], "missing cell in row 0"),
    "empty": ([[], [], []], "lists of 0 numbers"),
    "nan": ([[1.0, 2.0], [float("nan"), 1.0], [4.0, 5.0]], r"NaN.* cell in row 1, column 'v\[0\]'"),
    "texts": ([["a"], ["b"], ["c"]], "not numbers|than numbers"),
    "deep": ([[[1.0]], [[2.0]], [[3.0]]], "not numbers|than numbers"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_vector_is_refused(name: str, tmp_path: Path) -> None:
    cells, what = ODD[name]
    good = pd.DataFrame({"v": [[1.0, 2.0], [2.0, 3.0], [0.5, 1.0]]})
    for frame in (pd.DataFrame({"v": cells}), pl.DataFrame({"v": cells}), pa.table({"v": cells})):
        with pytest.raises((ValueError, TypeError), match=what):
            btests.btest(frame, good, seed=0)
    path = tmp_path / "x.parquet"
    table = pa.table({"v": pa.array(cells, pa.list_(pa.float64())) if name == "empty" else cells})
    pq.write_table(table, path)
    with pytest.raises((ValueError, TypeError), match=what):
        btests.btest(path, good, seed=0)


def test_a_name_that_a_coordinate_would_have() -> None:
    frame = pd.DataFrame({"v": list(X), "v[0]": X[:, 0]})
    with pytest.raises(ValueError, match="rename one of them"):
        btests.btest(frame, frame, seed=0)
