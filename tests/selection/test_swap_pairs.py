"""A choice that all rows are tested after must not change when partners swap places."""

from __future__ import annotations

import numpy as np
import pytest

from btests import Aggregate, MedianFamily, MedianHeuristic, btest
from btests.block_size import BlockRule
from btests.data.sample import Sample
from btests.plan import Plan
from btests.selection import Setting
from btests.symmetries.pooled_rows import partners


@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(40, 40, 7), (100, 33, 5), (17, 90, 4), (9, 8, 8), (5, 300, 2)])
def test_partners_are_the_rows_at_the_same_place_of_a_block(n_x: int, n_y: int, block_size: int) -> None:
    plan = Plan.of_size(n_x, n_y, block_size)
    wanted = []
    x = y = 0
    for i in range(plan.n_blocks):
        b = n_x // plan.n_blocks + (i < n_x % plan.n_blocks)
        c = n_y // plan.n_blocks + (i < n_y % plan.n_blocks)
        wanted += [(x + a, y + a) for a in range(min(b, c))]
        x, y = x + b, y + c
    assert list(zip(*(rows.tolist() for rows in plan.partners()), strict=True)) == wanted


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("lengths", [(200, 200), (230, 70), (40, 400)], ids=str)
def test_swapping_partners_changes_no_bandwidth(lengths: tuple[int, int], shuffled: bool) -> None:
    rng = np.random.default_rng(lengths)
    rows_x, rows_y = (rng.normal(size=(n, 2)) for n in lengths)
    x, y = (Sample(r, rng.permutation(len(r)) if shuffled else None) for r in (rows_x, rows_y))
    setting = Setting(BlockRule(10))
    chosen = MedianHeuristic().select(x, y, setting).kernel
    family = Aggregate(MedianFamily()).select(x, y, setting).candidates
    of_x, of_y = Plan.of_size(len(x), len(y), 10).partners()
    of_x, of_y = (p if s.order is None else s.order[p] for s, p in ((x, of_x), (y, of_y)))
    for _ in range(5):
        swap = rng.random(len(of_x)) < 0.5
        p, q = rows_x.copy(), rows_y.copy()
        p[of_x[swap]], q[of_y[swap]] = rows_y[of_y[swap]], rows_x[of_x[swap]]
        swapped = Sample(p, x.order), Sample(q, y.order)
        assert MedianHeuristic().select(*swapped, setting).kernel == chosen
        assert Aggregate(MedianFamily()).select(*swapped, setting).candidates == family


def test_rows_as_they_stand_are_looked_at_from_all_over() -> None:
    x, y = np.arange(5000.0)[:, None], np.arange(1000.0)[:, None]
    seen = partners(Sample(x), Sample(y), 10)[1].head(100)
    assert np.ptp(seen) > 900.0
    assert btest(x, y, block_size="sqrt", shuffle=False, seed=0).rejects(0.01)
