"""The block HSIC: its formula, other packages, and what swaps of tuples do to it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from btests.data.sample import Sample
from btests.kernels import Energy, Gaussian, KernelPair, Laplacian
from btests.plan import Plan
from btests.statistics import HSIC, plan_for, summarize, summarize_blocks
from btests.statistics.hsic import hsic_blocks
from btests.statistics.paired_gram import permutation_moments
from btests.symmetries import SwapTuples
from tests.other_packages import computed
from tests.statistics.plain_hsic import hsic, hsic_block

PAIRS = (
    KernelPair(Gaussian(1.0), Laplacian(0.7)),
    KernelPair(Gaussian(2.0), Laplacian(0.7)),
    KernelPair(Energy(), Energy(0.5)),
    KernelPair(lambda p, q: np.tanh(p @ q.T), Gaussian(1.0)),
)

SIZES = (4, 5, 8, 15, 16, 21, 32, 43, 101)


def data(m: int, b: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(b)
    x = rng.normal(size=(m, b, 2))
    return x, x[..., :1] ** 2 + rng.normal(size=(m, b, 1))


def gram_matrices(pair: KernelPair, x: Any, y: Any) -> tuple[Any, Any]:
    return np.array(pair.x(x, x)), np.array(pair.y(y, y))


@pytest.mark.parametrize("b", SIZES)
def test_values_and_moments_are_those_of_a_double_loop(b: int) -> None:
    x, y = data(3, b)
    symmetry = SwapTuples()
    q, groups = symmetry.tuple_size(b), symmetry.n_groups(b)
    for pair, (values, moments) in zip(PAIRS, hsic_blocks(PAIRS, x, y, symmetry, Plan(3 * b, 3 * b, 3)), strict=True):
        for i in range(3):
            value, matrix = hsic_block(*gram_matrices(pair, x[i], y[i]), q, groups)
            np.testing.assert_allclose(values[i], value, rtol=1e-9, atol=1e-14)
            np.testing.assert_allclose(moments[i], matrix, atol=1e-11 * np.abs(matrix).max(initial=1e-3))


@pytest.mark.parametrize("b", [700, 1001])
def test_large_blocks_are_summed_in_strips(b: int) -> None:
    x, y = data(1, b)
    for pair, (values, _) in zip(PAIRS, hsic_blocks(PAIRS, x, y, SwapTuples(), Plan(b, b, 1)), strict=True):
        k, l = gram_matrices(pair, x[0], y[0])  # noqa: E741
        np.fill_diagonal(k, 0.0)
        np.fill_diagonal(l, 0.0)
        np.testing.assert_allclose(values[0], hsic(k, l), rtol=1e-9)


def test_distance_covariance_is_that_of_dcor() -> None:
    x, y = data(1, 60)
    exponents = (0.5, 1.0, 1.7)
    pairs = [KernelPair(Energy(exponent), Energy(exponent)) for exponent in exponents]
    found = [values[0] for values, _ in hsic_blocks(pairs, x, y, SwapTuples(), Plan(60, 60, 1))]
    code = f"import dcor; out = [float(dcor.u_distance_covariance_sqr(x, y, exponent=e)) for e in {exponents}]"
    np.testing.assert_allclose(found, computed(code, x=x[0], y=y[0]), rtol=1e-10)


@pytest.mark.parametrize("b", [8, 17, 43, 75])
def test_a_draw_is_the_statistic_of_permuted_rows(b: int) -> None:
    x, y = data(1, b)
    pair, symmetry = PAIRS[0], SwapTuples()
    statistic = HSIC((pair,))
    summary = summarize(statistic, Sample(x[0]), Sample(y[0]), plan_for(statistic, b, b, b))
    draws = summary.draw(99, 0)
    found = summary.drawn(draws)
    q, groups = symmetry.tuple_size(b), symmetry.n_groups(b)
    k, l = gram_matrices(pair, x[0], y[0])  # noqa: E741
    np.fill_diagonal(k, 0.0)
    np.fill_diagonal(l, 0.0)
    for r in range(draws.n_draws):
        bits = (draws.words[0, :, r // 64] >> np.uint64(r % 64)) & np.uint64(1)  # type: ignore[attr-defined]
        order = np.arange(b)
        for row in range(b // q * q):
            first = 1 + row // q % groups * (q - 1)
            # The sign of chi_alpha(c) for alpha = 1, 2, 4 is a bit of c.
            element = sum(int(bits[first + alpha - 1]) * alpha for alpha in (1, 2, 4) if alpha < q)
            order[row] = row // q * q + (row % q ^ element)
        assert found[r] == pytest.approx(hsic(k, l[np.ix_(order, order)]), abs=1e-13)


def test_all_swaps_of_few_rows_are_drawn_once() -> None:
    x, y = data(1, 9)
    statistic = HSIC(PAIRS[:1])
    summary = summarize(statistic, Sample(x[0]), Sample(y[0]), plan_for(statistic, 9, 9, 9))
    draws = summary.draw(1999, 0)
    assert draws.exhaustive
    assert draws.n_draws == 2**4
    values = summary.drawn(draws)
    assert np.isclose(values, summary.estimate()).sum() >= 1
    assert np.std(values) == pytest.approx(summary.deviation(), rel=1e-9)


@pytest.mark.parametrize("b", [6, 7])
def test_moments_over_all_permutations(b: int) -> None:
    x, y = data(1, b)
    pair = PAIRS[2]
    k, l = gram_matrices(pair, x[0], y[0])  # noqa: E741
    np.fill_diagonal(k, 0.0)
    np.fill_diagonal(l, 0.0)
    values = np.array([hsic(k, l[np.ix_(p, p)]) for p in itertools.permutations(range(b))])
    (variance,), (third,) = permutation_moments(pair, x, y, 3)
    assert values.mean() == pytest.approx(0.0, abs=1e-12)
    assert variance == pytest.approx(values.var(), rel=1e-9)
    assert third == pytest.approx((values**3).mean(), rel=1e-9)
    assert permutation_moments(pair, x, y, 2)[1][0] == 0.0


def test_blocks_do_not_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(0)
    x, y = Sample(rng.normal(size=(500, 2))), Sample(rng.normal(size=(500, 1)))
    statistic = HSIC(PAIRS[:2])
    plan = plan_for(statistic, 500, 500, 33)
    whole = summarize_blocks(statistic, x, y, plan)
    for n_threads, cuts in ((1, (0, 4, 15)), (2, (0, 1, 2, 9, 15))):
        parts = [
            summarize_blocks(statistic, x, y, plan, numbers, n_threads=n_threads)
            for numbers in itertools.pairwise(cuts)
        ]
        for j in range(2):
            joined = sum((part[j] for part in parts[1:]), parts[0][j])
            np.testing.assert_array_equal(joined.values, whole[j].values)
            np.testing.assert_array_equal(joined.moments, whole[j].moments)
