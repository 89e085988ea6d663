"""The rule for the block size: from counts alone, within its bounds, and the same wherever it is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests import Energy, Gaussian, Kernel, Laplacian, OnColumns, Pairwise, Polynomial
from btests.block_size import BlockRule, check_block_rule
from btests.data.sample import Sample
from btests.selection import MedianFamily, bandwidths
from btests.statistics.cost import hsic_pair_seconds, pair_seconds


@given(
    st.integers(2, 10**13),
    st.integers(2, 10**13),
    st.floats(1e-10, 1e-5),
    st.floats(1e-3, 1e3),
)
def test_within_the_bounds(n_x: int, n_y: int, seconds: float, budget: float) -> None:
    n = min(n_x, n_y)
    size, rule = BlockRule(budget=budget).size_for(n_x, n_y, seconds)
    assert min(n, max(2, round(math.sqrt(n)))) <= size <= n
    cost = (n_x + n_y) ** 2 / 2.0 * seconds / (n // size)
    if rule == "one block":
        assert size == n
        assert cost <= budget * (1 + 1e-9)
    elif rule == "budget":
        assert size > round(math.sqrt(n))
        assert cost <= budget * (1 + 1e-9)
    else:
        assert rule == "n^0.5"


@given(st.integers(2, 10**9), st.floats(1e-10, 1e-7))
def test_a_larger_budget_has_no_smaller_blocks(n: int, seconds: float) -> None:
    sizes = [BlockRule(budget=budget).size_for(n, n, seconds).size for budget in (0.01, 0.1, 1.0, 10.0)]
    assert sizes == sorted(sizes)


def test_the_default_family_is_one_block_of_several_thousand_rows() -> None:
    rng = np.random.default_rng(0)
    x, y = Sample(rng.normal(size=(200, 5))), Sample(rng.normal(size=(200, 5)))
    seconds = pair_seconds(MedianFamily().kernels(x, y), 5)
    assert BlockRule().size_for(8192, 8192, seconds).rule == "one block"
    assert BlockRule().size_for(12_000, 12_000, seconds).rule == "budget"
    assert BlockRule().size_for(1_000_000, 1_000_000, seconds) == (1000, "n^0.5")


@pytest.mark.parametrize(
    ("cheaper", "dearer", "width"),
    [
        ([Gaussian(1.0)], [Gaussian(1.0), Gaussian(2.0)], 3),
        (bandwidths(0, 3), bandwidths(), 3),
        ([Gaussian(1.0), Gaussian(2.0)], [Gaussian(1.0), Laplacian(2.0)], 3),
        ([OnColumns(Gaussian(1.0), [0])], [Gaussian(1.0)], 50),
        ([Energy()], [Polynomial(3)], 3),
    ],
)
def test_costs_are_ordered(cheaper: Sequence[Kernel], dearer: Sequence[Kernel], width: int) -> None:
    assert 0.0 < pair_seconds(cheaper, width) < pair_seconds(dearer, width)


def test_costs_do_not_depend_on_bandwidths_and_grow_with_columns() -> None:
    assert pair_seconds([Gaussian(1e-3)], 7) == pair_seconds([Gaussian(1e3)], 7)
    assert pair_seconds([Gaussian(1.0)], 2) < pair_seconds([Gaussian(1.0)], 784)
    assert pair_seconds([Pairwise(lambda a, b: 1.0)], 0) > 100 * pair_seconds([Gaussian(1.0)], 5)


def test_names_of_rules() -> None:
    assert check_block_rule(None) == check_block_rule("auto") == BlockRule()
    assert check_block_rule("sqrt") == check_block_rule(None, 0.5) == BlockRule(exponent=0.5)
    assert check_block_rule(None, many_blocks=True) == BlockRule(exponent=0.5)
    with pytest.raises(ValueError, match="budget decides nothing"):
        check_block_rule(None, None, 3, many_blocks=True)
    assert check_block_rule(np.int64(7)) == BlockRule(7)
    with pytest.raises(ValueError, match="'root'"):
        check_block_rule("root")
    with pytest.raises(TypeError, match=r"2\.5"):
        check_block_rule(2.5)


def test_cost_of_hsic_grows_with_kernels_and_columns() -> None:
    one = hsic_pair_seconds(1, 1, 2)
    assert one < hsic_pair_seconds(1, 2, 2) < hsic_pair_seconds(2, 2, 2) < hsic_pair_seconds(5, 5, 2)
    assert one < hsic_pair_seconds(1, 1, 100)
    assert 10.0 * one < hsic_pair_seconds(1, 1, 2, compiled=False)


def test_budgets_next_to_nothing() -> None:
    assert BlockRule(budget=5e-324).size_for(400, 300, 1e-6) == (round(math.sqrt(300)), "n^0.5")


def test_budgets_of_numpy() -> None:
    assert check_block_rule(None, None, np.float32(0.5)).budget == 0.5
    with pytest.raises(ValueError, match="budget must be a positive number"):
        check_block_rule(None, None, np.float32(np.inf))
