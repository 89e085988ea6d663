"""Levels of categories: rare ones, new ones, and frequent ones."""

from __future__ import annotations

import numpy as np
import pytest

import btests
from btests.comparison.cells import Cells
from btests.comparison.features import weighted_levels
from btests.multiple_testing import holm
from studies.column_tests import baseline_pvalues

WORDS = np.array([f"w{j}" for j in range(40)])
SHARES = 1.0 / np.arange(1, 41) / np.sum(1.0 / np.arange(1, 41))


def side(rng: np.random.Generator, n: int, new: float = 0.0) -> dict[str, np.ndarray[tuple[int], np.dtype[np.str_]]]:
    """Return a table of categories and numbers, the share ``new`` of a column a level of its own."""
    found = {"place": rng.choice(WORDS, n, p=SHARES), "shop": rng.choice(WORDS[:3], n)}
    found["place"] = np.where(rng.random(n) < new, "new", found["place"])
    return {**found, **{f"u{j}": rng.normal(size=n) for j in range(4)}}


@pytest.mark.parametrize("seed", range(5))
def test_a_new_level_of_one_row_in_a_hundred(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    found = btests.compare(side(rng, 3000), side(rng, 3000, new=0.01), seed=seed)
    assert found.different
    assert [column.name for column in found.columns if column.changed] == ["place"]
    assert "'new' 0 % -> " in next(column.summary for column in found.columns if column.changed)


def test_more_is_seen_than_by_chi_squared() -> None:
    # Both look at the same tables: what the tests of columns find, and the usual tests with Holm's correction. A column
    # is named only where the verdict, corrected for whole rows and pairs as well, finds a difference.
    ours = theirs = 0
    for trial in range(20):
        rng = np.random.default_rng([6, trial])
        a, b = side(rng, 1000), side(rng, 1000, new=0.012)
        found = btests.compare(a, b, seed=trial, null=btests.SignFlip(499))
        ours += any(column.changed for column in found.columns if column.name == "place")
        words, codes = np.unique(np.concatenate([a["place"], b["place"]]), return_inverse=True)
        cells = Cells("place", "category", codes.astype(float), np.zeros(2000, bool), 1000, tuple(words))
        others = [Cells(f"u{j}", "number", rng.normal(size=2000), np.zeros(2000, bool), 1000) for j in range(5)]
        theirs += holm(np.array([p for _, p in baseline_pvalues([cells, *others])]))[0] <= 0.05
    assert ours >= theirs + 4


def test_statistics_of_levels() -> None:
    rng = np.random.default_rng(0)
    shares = np.array([0.9, 0.09, 0.004, 0.003, 0.003])
    d, c = rng.normal(size=(8, 5)), rng.normal(size=5)
    found = weighted_levels(d, c, shares, n=2000, shorter=1000)
    np.testing.assert_allclose(found.moving[:, 5], d[:, 2:].sum(axis=1))  # those expected less than five times
    np.testing.assert_allclose(found.weights[:, 1], [1 / 0.9, 1 / 0.09, 0, 0, 0, 1 / 0.01])
    assert found.weights.shape == (6, 2 + 4)  # and by itself each of at least eight rows, and the rare ones together
    assert found.counts.tolist() == [6.0] * 6
    assert weighted_levels(d[:, :2], c[:2], shares[:2], 2000, 1000).weights.shape == (2, 1)
