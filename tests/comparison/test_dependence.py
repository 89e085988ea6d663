"""Tests of independence between columns of a table, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from btests import SignFlip, independence_test
from btests.comparison.dependence import (
    Settings,
    distance_correlations,
    encoded,
    groups_independence,
    null_for,
    open_table,
    pairs_independence,
)
from btests.comparison.encoding import Encoding
from btests.comparison.screens import independence_screen as screen
from btests.multiple_testing import holm


def mixed(n: int = 300, seed: int = 0) -> dict[str, Any]:
    """Return a table whose sizes, missing cells included, depend on its colours and on nothing else."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n) * np.where(colour == "red", 4.0, 1.0)
    size[(colour == "blue") & (rng.random(n) < 0.5)] = np.nan
    day = np.datetime64("2024-01-01") + rng.integers(60, size=n)
    return {"colour": colour, "size": size, "day": day, "flag": rng.random(n) < 0.3, "noise": rng.normal(size=n)}


def test_dependence_of_mixed_columns_is_found() -> None:
    found = groups_independence(mixed(), ["size", "flag"], ["colour"], Settings())
    assert (found["dependent"], found["pvalue"]) == (True, 0.0005)
    assert found["verdict"] == "(size, flag) and colour depend on each other (p = 0.0005)."
    assert found["rows"] == {"given": 300, "tested": 300}
    assert [column["kind"] for column in found["columns"]] == ["number", "boolean", "category"]
    assert "'size' (" in screen(found)


def test_independent_columns_are_not_dependent() -> None:
    found = groups_independence(mixed(), ["noise"], ["day", "flag"], Settings())
    assert not found["dependent"]
    assert found["verdict"].startswith("No dependence found between noise and (day, flag) (p = 0.")


def test_missing_cells_alone_carry_dependence() -> None:
    rng = np.random.default_rng(3)
    flag = rng.random(200) < 0.5
    value = np.where(flag & (rng.random(200) < 0.6), np.nan, rng.normal(size=200))
    assert groups_independence({"flag": flag, "value": value}, ["flag"], [], Settings())["dependent"]


def test_rows_are_encoded_as_by_compare_and_tested_by_independence_test() -> None:
    table = open_table(mixed(), Settings(), {})
    x, y = (table.columns(names, Settings(), named=True) for names in (["size", "day"], ["flag"]))
    codes = Encoding.fit(x).codes
    expected = np.hstack([code.transform(cells) for code, cells in zip(codes, x, strict=True)])
    result = independence_test(expected, encoded(y)[0], seed=4, scale=False)
    found = groups_independence(mixed(), ["size", "day"], ["flag"], Settings(seed=4))
    assert (found["pvalue"], found["statistic"]) == (result.pvalue, result.statistic)


def test_all_others_are_the_second_group_without_identifiers() -> None:
    table = {**mixed(), "id": np.arange(300), "same": np.ones(300)}
    found = groups_independence(table, ["size"], [], Settings(exclude=("flag",)))
    assert found["y"] == ["colour", "day", "noise"]
    assert [column["name"] for column in found["excluded"]] == ["flag", "id", "same"]
    # A column that is named is tested even if it looks like an identifier.
    assert groups_independence(table, ["id"], ["noise"], Settings())["x"] == ["id"]


@pytest.mark.parametrize(
    ("x", "y", "fragment"),
    [
        (["sise"], [], "did you mean 'size'"),
        (["weight"], [], "there are 'colour', 'size'"),
        (["size"], ["day", "size"], "`x` and `y` both name 'size'"),
        (["same"], ["size"], "'same': it is constant"),
        (["size"], ["same"], "'same': it is constant"),
    ],
)
def test_errors(x: list[str], y: list[str], fragment: str) -> None:
    with pytest.raises(ValueError, match=fragment):
        groups_independence({**mixed(), "same": np.ones(300)}, x, y, Settings())


def test_few_rows() -> None:
    with pytest.raises(ValueError, match="7 rows; a test of independence needs at least 8"):
        groups_independence(mixed(7), ["size"], [], Settings())
    table = {"a": np.arange(8.5), "b": np.arange(8.5)}
    assert groups_independence(table, ["a"], ["b"], Settings(max_rows=8))["dependent"]  # permuted as a whole
    found = groups_independence(table, ["a"], ["b"], Settings(max_rows=8, null="swap"))
    assert "with so few rows no p-value can be as small as 0.05" in found["verdict"]


def test_nulls_in_closed_form_have_one_kernel_and_their_warnings_are_notes() -> None:
    found = groups_independence(mixed(), ["size"], ["colour"], Settings(null="normal"))
    assert found["dependent"]
    assert found["kernel"].count("Gaussian") == 2
    assert any("approximation" in note for note in found["notes"])


def test_swaps_are_enough_for_the_correction() -> None:
    assert null_for(Settings(), 6) is None
    assert null_for(Settings(), 45) == SignFlip(1999)
    assert getattr(null_for(Settings(), 190), "n_resamples", 0) == 7599
    assert null_for(Settings(null="pearson"), 190) == "pearson"


def test_all_pairs_are_corrected_by_holm_and_sorted() -> None:
    done: list[float] = []
    found = pairs_independence({**mixed(), "id": np.arange(300)}, Settings(), done.append)
    pairs = found["pairs"]
    assert len(pairs) == len(done) == 10
    assert done[-1] == 1.0
    pvalues = np.array([pair["pvalue"] for pair in pairs])
    assert (np.diff(pvalues) >= 0).all()
    np.testing.assert_array_equal([pair["pvalue_corrected"] for pair in pairs], holm(pvalues))
    assert pairs[0]["columns"] == ["colour", "size"]
    # The other pairs are independent: one of nine is marked with probability 0.05 at most.
    assert [pair["dependent"] for pair in pairs] == [True] + 9 * [False]
    assert found["verdict"] == "1 of 10 pairs of columns of the table is dependent: colour and size."


def test_rows_and_blocks_of_pairs_are_bounded_by_the_budget() -> None:
    rng = np.random.default_rng(1)
    found = pairs_independence({name: rng.normal(size=5000) for name in "abc"}, Settings(budget=0.0005))
    assert found["rows"] == {"given": 5000, "tested": 2000}
    assert {pair["block_size"] for pair in found["pairs"]} == {45}
    assert any("2000 were tested" in note for note in found["notes"])
    assert "  rows      2000 of 5000, in 44 blocks of 45 or more" in screen(found)


def test_distance_correlations() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 1))
    found, n_rows = distance_correlations([x, -3.0 * x, x**2, rng.normal(size=(500, 1))], 0)
    assert n_rows == 500
    np.testing.assert_allclose(found, found.T)
    assert found[0, 1] == pytest.approx(1.0)
    assert found[0, 3] < 0.15 < found[0, 2] < 1.0
