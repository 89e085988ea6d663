"""How columns become coordinates, and which do not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import btests
from btests.comparison.cells import pool
from btests.comparison.encoding import Code, Encoding
from btests.comparison.identifiers import why_excluded
from btests.scaling import robust_scale


def cells_of(values: object, name: str = "u") -> btests.comparison.cells.Cells:
    """Return a column whose first half is table a."""
    column = pa.chunked_array([pa.array(values, from_pandas=True)])
    half = len(column) // 2
    return pool(name, column.slice(0, half), column.slice(half))


def test_numbers_on_a_robust_scale() -> None:
    rng = np.random.default_rng(0)
    values = 50.0 + 3.0 * rng.normal(size=4000)
    centre, scale = robust_scale(values)
    assert abs(centre - 50) < 0.5
    assert abs(scale - 3) < 0.3
    values[:40] = 1e12
    assert abs(robust_scale(values)[1] - 3) < 0.4
    code = Code.fit(cells_of(values))
    assert np.abs(code.transform(cells_of(values))).max() < 40


def test_scale_where_most_values_are_equal() -> None:
    values = np.zeros(1000)
    values[::20] = 7.0
    assert robust_scale(values)[1] > 0
    values = np.zeros(1000)
    values[3] = 7.0
    assert robust_scale(values) == (0.0, 7.0)


@pytest.mark.parametrize("words", [["p", "q", "r"], [True, False, None], ["p", None, "q"]])
def test_levels_are_at_one_distance(words: list[object]) -> None:
    found = Code.fit(cells_of(words * 20)).transform(cells_of(words * 20))
    points = np.unique(found, axis=0)
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(squares[~np.eye(len(points), dtype=bool)], 2.0)


def test_missing_has_a_coordinate_of_its_own() -> None:
    code = Code.fit(cells_of([1.0, 2.0, None, 4.0] * 10))
    found = code.transform(cells_of([1.0, None, 2.0, 4.0]))
    assert found.shape == (4, 2)
    assert found[1, 0] == 0.0
    assert (found[:, 1] != 0).tolist() == [False, True, False, False]


def test_rare_levels_share_a_coordinate() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{min(int(j), 300)}" for j in rng.geometric(0.02, 4000)]
    code = Code.fit(cells_of(words))
    assert len(code.levels) == 20
    assert code.has_other
    assert (code.transform(cells_of(words)) ** 2).sum(axis=1) == pytest.approx(np.ones(4000))


def test_times_have_the_periods_that_fit() -> None:
    hours = np.datetime64("2024-01-01T00", "h") + np.arange(24 * 40)
    code = Code.fit(cells_of(hours.astype("datetime64[s]")))
    assert code.periods == ("day", "week")
    days = np.datetime64("2024-01-01") + np.arange(900)
    assert Code.fit(cells_of(days)).periods == ("week", "year")
    assert "sine and cosine of the week and the year" in str(Code.fit(cells_of(days)))


def test_an_encoding_is_a_value_and_is_reusable() -> None:
    rng = np.random.default_rng(0)
    tables = [pa.table({"u": rng.normal(size=100), "w": rng.choice(["x", "y"], 100)}) for _ in range(2)]
    encoding = btests.compare(*tables, seed=0).encoding
    assert encoding == btests.compare(*tables, seed=5).encoding
    assert encoding.names == ("u", "w")
    assert encoding.transform(tables[0]).shape == (100, len(encoding.owners))
    assert encoding.owners == (0, 1, 1)
    with pytest.raises(ValueError, match="lacks 'w'"):
        encoding.transform(tables[0].drop_columns(["w"]))
    new = pa.table({"u": [1.0], "w": ["never seen"]})
    assert encoding.transform(new)[0, 1:].tolist() == [0.0, 0.0]
    assert isinstance(encoding, Encoding)


def test_an_encoding_reads_columns_as_it_learned_them() -> None:
    days = [f"2024-01-{j % 28 + 1:02d}" for j in range(60)]
    table = pa.table({"zip": [1, 2, 3] * 20, "day": days, "size": ["1.5", "?", "2.5"] * 20})
    encoding = btests.compare(table, table, seed=0, categories="zip", missing="?").encoding
    assert [code.kind for code in encoding.codes] == ["category", "time", "number"]
    found = encoding.transform(table, missing=["?"])
    assert np.isfinite(found).all()
    assert (found[:, :3] > 0).sum(axis=1).tolist() == [1] * 60
    with pytest.raises(ValueError, match="column 'size' of the table is of the kind category, and number where"):
        encoding.transform(table)


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        ([1] * 40, "u", "it is constant, '1' in every row"),
        ([None] * 40, "u", "all its cells are missing"),
        (list(range(40)), "u", "it numbers the rows, 0 to 39"),
        (list(range(20)) * 2, "u", "it numbers the rows, 0 to 19"),
        ([37 * j % 9973 for j in range(40)], "user_id", "it identifies rows"),
        ([37 * j % 9973 for j in range(40)], "amount", None),
        ([f"name {j}" for j in range(40)], "u", "40 different values in 40 cells"),
        ([j % 7 for j in range(40)], "id", None),
        ([0.1 * j for j in range(40)], "u", None),
        ([1] * 20 + [None] * 20, "u", None),
    ],
)
def test_columns_that_are_left_out(values: list[object], name: str, why: str | None) -> None:
    found = why_excluded(cells_of(values, name), named=False)
    assert found is None if why is None else why in str(found)


def test_a_column_that_is_asked_for_takes_part() -> None:
    assert why_excluded(cells_of(list(range(40))), named=True) is None
