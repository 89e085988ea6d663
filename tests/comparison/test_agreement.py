"""What is said of columns agrees with the verdict, and with their p-values."""

from __future__ import annotations

import numpy as np
import pytest

import btests
from btests.comparison.cells import Cells
from btests.comparison.changes import changes
from btests.comparison.features import pooled_ranks
from btests.comparison.format import pair
from btests.comparison.total_variation import total_variation


def test_as_much_on_both_sides_is_no_difference_by_rounding() -> None:
    rng = np.random.default_rng(0)
    for n in (7, 30, 300):
        cells = Cells("u", "number", rng.normal(size=2 * n), np.zeros(2 * n, bool), n)
        found = total_variation(cells, pooled_ranks(cells))
        assert found == 0.0 or found > 1e-3


@pytest.mark.parametrize(("n_a", "n_b"), [(5, 5), (10, 1000)])
def test_what_is_not_beyond_chance_did_not_move(n_a: int, n_b: int) -> None:
    # Of ten rows against sixty levels estimates are often large; the p-values know that it is chance.
    rng = np.random.default_rng(1)
    levels = np.array([f"u{k}" for k in range(60)])
    for seed in range(5):
        a, b = ({"k": rng.choice(levels, n), "u": rng.normal(size=n)} for n in (n_a, n_b))
        for column in btests.compare(a, b, columns=["k", "u"], seed=seed).columns:
            assert column.changed == (column.effect > 0.0)


def test_no_column_is_marked_without_a_verdict() -> None:
    """A column that is significant among the columns, and not after correction for all tests, did not change."""
    sides = []
    for first in (0.45, 0.55):
        rng = np.random.default_rng(3)
        sides.append({"x": np.arange(300) < 300 * first, "y": rng.normal(size=300)})
    found = btests.compare(*sides, seed=0)
    columns = next(test.pvalue for test in found.tests if test.name == "columns")
    alpha = (columns + found.pvalue) / 2.0
    assert columns < alpha < found.pvalue == found.columns[0].pvalue_corrected
    assert not btests.compare(*sides, seed=0, alpha=alpha).columns[0].changed
    assert btests.compare(*sides, seed=0, alpha=found.pvalue).columns[0].changed


def test_one_column_is_not_several_taken_together() -> None:
    for seed in range(400):
        rng = np.random.default_rng(seed)
        found = btests.compare({"y": rng.normal(size=100)}, {"y": rng.normal(size=100) + 0.2}, seed=0)
        if found.different and not found.columns[0].changed:
            assert "by the kernel test of y" in str(found)
            break
    else:
        pytest.fail("no such sample")


def test_the_surest_of_small_moves_is_named_where_a_column_moved() -> None:
    cells = Cells("x", "boolean", (np.arange(600) % 300 < np.repeat([135.0, 165.0], 300)).astype(float), NONE, 300)
    assert [change.text for change in changes(cells)] == ["'true' 45 % -> 55 %"]
    same = Cells("x", "boolean", (np.arange(600) % 2).astype(float), NONE, 300)
    assert changes(same) == []


NONE = np.zeros(600, bool)


def test_numbers_with_a_large_offset_are_told_apart() -> None:
    assert pair(1e15, 1e15 + 3) == ("1000000000000000", "1000000000000003")
    assert pair(1.0, 2.0) == ("1", "2")


def test_charts_show_all_rows_unless_some_are_far_away() -> None:
    rng = np.random.default_rng(0)
    few = btests.compare({"u": [1.0, 2.0]}, {"u": [0.0, 5.0]}, seed=0).columns[0].details["chart"]
    assert (few["below"], few["above"]) == ([0.0, 0.0], [0.0, 0.0])
    far = rng.normal(size=500)
    far[0] = 1e6
    chart = btests.compare({"u": far}, {"u": rng.normal(size=500)}, seed=0).columns[0].details["chart"]
    assert chart["above"][0] > 0.0
    assert chart["edges"][-1] < 10.0
