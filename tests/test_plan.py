"""Plans: every row once, blocks and strata of even sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests.plan import MAX_GROUPS, MOMENT_BUDGET, Plan, group_sizes, group_weights
from tests import reference


@st.composite
def dealings(draw: st.DrawFn, most: int = 5000) -> Plan:
    """Return some rows and a block size between 2 and all of the smaller sample."""
    n_x, n_y = draw(st.integers(2, most)), draw(st.integers(2, most))
    if draw(st.booleans()):
        n_y = n_x
    return Plan.of_size(n_x, n_y, draw(st.integers(2, min(n_x, n_y))))


@given(dealings())
def test_every_row_is_used_once_and_sizes_differ_by_one_at_most(plan: Plan) -> None:
    next_x = next_y = next_block = 0
    sizes_x, sizes_y = set(), set()
    for run in plan.runs(0, plan.n_blocks):
        assert (run.first_block, run.start_x, run.start_y) == (next_block, next_x, next_y)
        assert run.n_blocks > 0
        next_x += run.n_blocks * run.b_x
        next_y += run.n_blocks * run.b_y
        next_block += run.n_blocks
        sizes_x.add(run.b_x)
        sizes_y.add(run.b_y)
    assert (next_x, next_y, next_block) == (plan.n_x, plan.n_y, plan.n_blocks)
    assert max(sizes_x) - min(sizes_x) <= 1
    assert max(sizes_y) - min(sizes_y) <= 1
    assert min(*sizes_x, *sizes_y) == plan.block_size >= 2
    if plan.paired:
        assert sizes_x == sizes_y


@given(dealings(300), st.data())
def test_a_range_of_blocks_is_that_of_the_whole(plan: Plan, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, plan.n_blocks - 1))
    last = data.draw(st.integers(first + 1, plan.n_blocks))
    wanted = list(
        zip(
            reference.permutation_of(plan.n_x, plan.n_blocks),
            reference.permutation_of(plan.n_y, plan.n_blocks),
            strict=True,
        )
    )
    found = []
    for run in plan.runs(first, last):
        for i in range(run.n_blocks):
            x, y = run.start_x + i * run.b_x, run.start_y + i * run.b_y
            found.append((range(x, x + run.b_x), range(y, y + run.b_y)))
    assert found == wanted[first:last]


@given(st.integers(2, 10**9), st.integers(2, 10**9), st.integers(2, 10**5))
def test_blocks_hold_at_least_what_was_asked_for(n_x: int, n_y: int, block_size: int) -> None:
    if block_size > min(n_x, n_y):
        return
    plan = Plan.of_size(n_x, n_y, block_size)
    assert plan.block_size >= block_size
    assert plan.n_blocks * block_size <= min(n_x, n_y) < (plan.n_blocks + 1) * block_size


@given(dealings())
def test_folds_cover_the_blocks_evenly(plan: Plan) -> None:
    edges = plan.stratum_edges()
    sizes = np.diff(edges)
    assert edges[0] == 0
    assert edges[-1] == plan.n_blocks
    assert len(edges) == plan.n_strata + 1
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1
    assert plan.n_strata * plan.moment_size**2 <= MOMENT_BUDGET
    assert 2 <= plan.n_groups <= min(MAX_GROUPS, plan.block_size)


@given(st.integers(2, 3000), st.integers(2, MAX_GROUPS))
def test_groups(n_rows: int, n_groups: int) -> None:
    n_groups = min(n_groups, n_rows)
    wanted = [len(range(u, n_rows, n_groups)) for u in range(n_groups)]
    assert group_sizes(n_rows, n_groups).tolist() == wanted


@given(st.integers(2, 400))
def test_weights_of_paired_blocks_give_the_papers_average(b: int) -> None:
    n_groups = min(b, MAX_GROUPS)
    w, sizes = group_weights(b, n_groups), group_sizes(b, n_groups)
    np.testing.assert_allclose(np.outer(w, w), np.outer(sizes, sizes) / (b * (b - 1)), rtol=1e-12)


@given(dealings(2000))
def test_pair_weights_of_paired_samples_sum_to_the_share_of_pairs(plan: Plan) -> None:
    weights = plan.pair_weights()
    assert not np.diag(weights).any()
    np.testing.assert_array_equal(weights, weights.T)
    if plan.paired and plan.block_size * plan.n_blocks == plan.n_x and plan.block_size <= MAX_GROUPS:
        assert weights.sum() == pytest.approx(1.0, rel=1e-12)


@given(dealings())
def test_share_that_flips_move(plan: Plan) -> None:
    """At most all of the variance, and little less."""
    if plan.paired:
        assert 0.9 < plan.flipped_share() < 1.0 + 1e-9
