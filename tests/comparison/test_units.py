"""Swapping rows by hand gives what the units say, and the encoding does not notice."""

from __future__ import annotations

import numpy as np
import pytest

from btests.comparison.cells import Cells
from btests.comparison.encoding import Encoding
from btests.comparison.swap_units import SwapUnits
from btests.nulls import SignFlip
from btests.plan import Plan
from btests.symmetries import SwapGroups


def units_of(n_x: int, n_y: int, size: int) -> SwapUnits:
    """Return units of rows in a random order."""
    plan = Plan.of_size(n_x, n_y, size)
    rng = np.random.default_rng(3)
    orders = rng.permutation(n_x), rng.permutation(n_y)
    return SwapUnits.of(plan, SwapGroups().draw(plan, plan.moments_shape, SignFlip(7).n_resamples, 1), orders)


@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (60, 95), (95, 60)])
def test_differences_of_means_under_signs(n_x: int, n_y: int) -> None:
    rng = np.random.default_rng(0)
    units = units_of(n_x, n_y, 9)
    assert sorted(units.rows) == list(range(n_x + n_y))
    feature = rng.normal(size=n_x + n_y)
    feature -= feature.mean()
    moving, still = units.difference(feature[units.rows])
    m = units.n_pairs
    unit = np.repeat(np.arange(len(units.starts)), np.diff(np.append(units.starts, m)))
    for signs in units.signs.T:
        permuted = units.rows.copy()
        swap = np.flatnonzero(signs[unit] < 0)
        permuted[swap], permuted[n_x + swap] = units.rows[n_x + swap], units.rows[swap]
        brute = feature[permuted[:n_x]].mean() - feature[permuted[n_x:]].mean()
        assert still + signs @ moving == pytest.approx(brute)


def test_levels_are_indicators() -> None:
    units = units_of(60, 95, 9)
    levels = np.random.default_rng(0).integers(0, 4, 155)  # the fourth is of none
    d, c = units.count_difference(levels, 3)
    for j in range(3):
        indicator = (levels == j) - (levels == j).mean()
        moving, still = units.difference(indicator)
        np.testing.assert_allclose(d[:, j], moving, atol=1e-15)
        assert c[j] == pytest.approx(still)
    rows = np.stack([(levels == j) - (levels == j).mean() for j in range(3)], axis=1).astype(np.float32)
    np.testing.assert_allclose(units.difference_of_rows(rows)[0], d, atol=1e-7)


def test_the_encoding_does_not_see_which_side_a_row_is_on() -> None:
    rng = np.random.default_rng(0)
    missing = rng.random(100) < 0.2
    cells = [
        Cells("u", "number", np.where(missing, 0.0, rng.normal(size=100)), missing, 40),
        Cells("w", "category", rng.integers(0, 3, 100).astype(float), np.zeros(100, bool), 40, ("p", "q", "r")),
    ]
    order = rng.permutation(100)
    mixed = [Cells(c.name, c.kind, c.values[order], c.missing[order], 40, c.levels) for c in cells]
    assert Encoding.fit(cells) == Encoding.fit(mixed)
