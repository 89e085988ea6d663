"""The effect of the joint test, and the share of rows that moved in a column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import btests
from btests.comparison.cells import Cells
from btests.comparison.features import pooled_ranks
from btests.comparison.total_variation import total_variation


def table(rng: np.random.Generator, n: int, shift: float = 0.0) -> dict[str, Any]:
    """Return a table of a number and a category."""
    return {"u": rng.normal(size=n) + shift, "c": rng.choice(np.array(["p", "q", "r"]), n)}


@pytest.mark.parametrize(("n_a", "n_b"), [(300, 300), (300, 210)])
@pytest.mark.parametrize("kernel", [None, "energy"])
def test_the_effect_knows_neither_seed_nor_side(n_a: int, n_b: int, kernel: str | None) -> None:
    rng = np.random.default_rng(0)
    a, b = table(rng, n_a), table(rng, n_b, 0.4)
    found = [btests.compare(*sides, seed=s, kernel=kernel) for s in (0, 7) for sides in ((a, b), (b, a))]
    effects = [one.effect_test.summary.mean() for one in found]
    np.testing.assert_allclose(effects, effects[0], rtol=1e-9)
    intervals = [one.effect_test.confidence_interval(0.95) for one in found]
    np.testing.assert_allclose(intervals, np.tile(intervals[0], (4, 1)), rtol=1e-9)
    # The p-values are of the seed, and not of the side.
    for one, other in ((found[0], found[1]), (found[2], found[3])):
        assert [test.pvalue for test in one.tests] == [test.pvalue for test in other.tests]
        assert one.pvalue == other.pvalue


def levels(rng: np.random.Generator, n: int, k: int, new: float = 0.0) -> Cells:
    """Return a column of k levels, the share ``new`` of the second side of another one."""
    values = rng.choice(k, 2 * n, p=np.arange(k, 0, -1.0) / (k * (k + 1) / 2)).astype(float)
    values[n:][rng.random(n) < new] = k
    return Cells("c", "category", values, np.zeros(2 * n, bool), n, tuple(map(str, range(k + 1))))


@pytest.mark.parametrize("k", [3, 40, 1000])
def test_nothing_moved_in_columns_of_few_and_of_many_levels(k: int) -> None:
    # The distance of two samples of 1000 levels is 0.4; what is shown is below 0.01 on average. The mean of 100 numbers
    # of which nine in ten and more are 0, the others 0.03 or so: the bound is ten standard errors off.
    rng = np.random.default_rng(1)
    assert np.mean([total_variation(levels(rng, 1000, k), None) for _ in range(100)]) < 0.01


@pytest.mark.parametrize("k", [3, 40, 1000])
def test_a_share_of_rows_that_moved_is_found_again(k: int) -> None:
    rng = np.random.default_rng(1)
    found = [total_variation(levels(rng, 4000, k, 0.1), None) for _ in range(20)]
    assert np.mean(found) == pytest.approx(0.1, abs=0.01)


def test_a_shift_of_a_number_and_of_missing() -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(20):
        values = rng.normal(size=8000)
        values[4000:] += 0.5
        cells = Cells("u", "number", values, np.zeros(8000, bool), 4000)
        found.append(total_variation(cells, pooled_ranks(cells)))
    assert np.mean(found) == pytest.approx(0.1974, abs=0.01)  # 2 Phi(1/4) - 1
    missing = np.arange(8000) % 4000 < np.where(np.arange(8000) < 4000, 400, 800)
    cells = Cells("u", "number", rng.normal(size=8000), missing, 4000)
    assert total_variation(cells, pooled_ranks(cells)) == pytest.approx(0.1, abs=0.02)


def test_what_moved_surely_is_never_nothing() -> None:
    values = np.tile(np.arange(100.0) % 2, 2)
    values[-4:] = 2.0
    cells = Cells("c", "category", values, np.zeros(200, bool), 100, ("p", "q", "r"))
    assert total_variation(cells, None) == 0.0
    assert total_variation(cells, None, significant=True) > 0.0
