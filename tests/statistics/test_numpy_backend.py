"""The plain path against double loops over the paper's formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from btests import (
    Energy,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Pairwise,
    Permutation,
    Polynomial,
    SignFlip,
    _memory,
    btest,
)
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize_blocks
from tests import reference
from tests.kernels.formulas import Case, plain, radial
from tests.reference import Array

CASES = [*radial(1.3)[:2], *radial(1.3)[-2:], *plain(1.3)]
SIZES = [(12, 12, 6), (12, 12, 1), (13, 13, 4), (9, 14, 3), (23, 10, 4), (70, 70, 2), (36, 75, 1), (2, 2, 1), (2, 5, 1)]


def two_samples(n_x: int, n_y: int, d: int = 2) -> tuple[Array, Array]:
    """Return two samples that differ."""
    rng = np.random.default_rng(n_x + 7 * n_y)
    return rng.normal(size=(n_x, d)), rng.normal(0.5, 1.2, size=(n_y, d))


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
@pytest.mark.parametrize(("n_x", "n_y", "n_blocks"), SIZES)
def test_values_and_moments(case: Case, n_x: int, n_y: int, n_blocks: int) -> None:
    x, y = two_samples(n_x, n_y)
    plan = Plan(n_x, n_y, n_blocks)
    summary = summarize_blocks(MMD(case.kernel, plain=True), Sample(x), Sample(y), plan)[0]
    p, q = x.tolist(), y.tolist()
    np.testing.assert_allclose(
        summary.values, reference.block_values(case.formula, p, q, n_blocks), rtol=1e-10, atol=1e-12
    )
    wanted = reference.moments(case.formula, p, q, n_blocks, plan.n_groups)
    np.testing.assert_allclose(summary.moments, wanted, rtol=1e-10, atol=1e-12)


def test_cores_of_a_fold_add_up() -> None:
    """68 blocks of 32 groups are more than the summary has room for: some share a fold."""
    x, y = two_samples(2200, 2200, 1)
    plan = Plan.of_size(2200, 2200, 32)
    assert plan.n_strata < plan.n_blocks
    summary = summarize_blocks(MMD(Gaussian(1.0), plain=True), Sample(x), Sample(y), plan)[0]
    scalar = radial(1.0)[0].formula
    wanted = reference.moments(scalar, x.tolist(), y.tolist(), plan.n_blocks, plan.n_groups)
    edges = plan.stratum_edges()
    for fold in range(plan.n_strata):
        np.testing.assert_allclose(summary.moments[fold], wanted[edges[fold] : edges[fold + 1]].sum(axis=0), atol=1e-13)


@pytest.mark.parametrize("kernel_sum", [False, True])
def test_rows_are_in_the_order_given(kernel_sum: bool) -> None:
    x, y = two_samples(31, 31)
    rng = np.random.default_rng(1)
    p, q = rng.permutation(31), rng.permutation(31)
    plan = Plan.of_size(31, 31, 4)
    kernel: Kernel = Gaussian(1.0) + Linear() if kernel_sum else Gaussian(1.0)
    statistic = MMD(kernel, plain=True)
    permuted = summarize_blocks(statistic, Sample(x, p), Sample(y, q), plan)[0]
    sorted_ = summarize_blocks(statistic, Sample(x[p]), Sample(y[q]), plan)[0]
    np.testing.assert_array_equal(permuted.values, sorted_.values)
    np.testing.assert_array_equal(permuted.moments, sorted_.moments)


def _matrix(x: Array, y: Array) -> Array:
    assert x.ndim == y.ndim == 2, "a user's kernel sees one block at a time"
    return np.asarray(np.exp(-np.abs(x[:, None] - y[None]).sum(axis=-1)))


def _single(a: Array, b: Array) -> float:
    assert a.ndim == b.ndim == 1, "Pairwise sees one row at a time"
    return math.exp(-float(np.abs(a - b).sum()))


@pytest.mark.parametrize(
    "kernel",
    [_matrix, Pairwise(_single), 0.5 * Laplacian(1.0) + 0.5 * Pairwise(_single), 0.5 * (Laplacian(1.0) + _matrix)],
    ids=["function", "Pairwise", "sum with Pairwise", "sum with a function"],
)
@pytest.mark.parametrize(("n_x", "n_y"), [(24, 24), (24, 31)])
def test_every_way_to_give_a_kernel_is_the_same(kernel: Any, n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y)
    plan = Plan.of_size(n_x, n_y, 5)
    ours = summarize_blocks(MMD(Laplacian(1.0), plain=True), Sample(x), Sample(y), plan)[0]
    theirs = summarize_blocks(MMD(kernel), Sample(x), Sample(y), plan)[0]
    np.testing.assert_allclose(theirs.values, ours.values, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(theirs.moments, ours.moments, rtol=1e-12, atol=1e-14)


def test_objects() -> None:
    words = np.array(["a", "bb", "ccc", "dddd", "e", "ff"], dtype=object)
    others = np.array(["xx", "yyy", "z", "w", "vvvvv", "uu"], dtype=object)
    plan = Plan.of_size(6, 6, 3)
    summary = summarize_blocks(
        MMD(Pairwise(lambda a, b: float(len(a) * len(b)))), Sample(words), Sample(others), plan, (0, 2)
    )[0]
    wanted = reference.block_values(lambda a, b: float(len(a) * len(b)), list(words), list(others), 2)
    np.testing.assert_allclose(summary.values, wanted)


@pytest.mark.parametrize("sizes", [(40, 40, 2), (60, 77, 7), (30, 3000, 3)])
@pytest.mark.parametrize("cell", [0.1, 1.0 / 3.0, 1e6 + 0.1])
def test_equal_rows_are_exactly_equal(sizes: tuple[int, int, int], cell: float) -> None:
    """Sums of one number in another order differ by a rounding, which must not pass for a difference."""
    n_x, n_y, block_size = sizes
    plan = Plan.of_size(n_x, n_y, block_size)
    for kernel in (Linear(), Gaussian(1.0), Energy(0.5)):
        x, y = Sample(np.full((n_x, 3), cell)), Sample(np.full((n_y, 3), cell))
        summary = summarize_blocks(MMD(kernel, plain=True), x, y, plan)[0]
        assert not summary.values.any()
        assert not summary.moments.any()


@pytest.mark.parametrize("kernel", [Linear(), Linear() + Gaussian(1.0)], ids=repr)
def test_linear_kernels_do_not_see_where_the_data_are(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(1.0, 1.0, size=(40, 2))
    wanted = btest(x, y, kernel=kernel, seed=1).statistic
    for offset in (1e6, 1e8):
        for null in (SignFlip(), Permutation(99)):
            found = btest(x + offset, y + offset, kernel=kernel, null=null, block_size=40, seed=1)
            near = btest(x, y, kernel=kernel, null=null, block_size=40, seed=1)
            assert found.statistic == pytest.approx(near.statistic, rel=1e-5)
        assert btest(x + offset, y + offset, kernel=kernel, seed=1).statistic == pytest.approx(wanted, rel=1e-5)


def test_blocks_that_do_not_fit_are_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "free_bytes", lambda: 10_000_000)
    x = np.arange(4000.0)[:, None]
    with pytest.raises(ValueError, match=r"needs 256 MB of memory .* block_size="):
        btest(x, x + 1.0, kernel=Polynomial(2), block_size=2000)
