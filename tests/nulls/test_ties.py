"""Data of few values: outcomes that are equal on paper must be equal to the test, whatever rounding made of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from btests import CrossMMD, Gaussian, Kernel, Laplacian, Linear, Permutation, SignFlip, btest
from btests.data.sample import Sample
from btests.plan import Array, Plan
from btests.statistics import MMD, summarize
from tests.bounds import count_bounds

FAR = 1.7e9  # seconds of our days

KERNELS: tuple[Kernel, ...] = (Gaussian(0.7), Gaussian(20.0), Laplacian(2.0), Linear())


def ones(n: int, n_ones: int) -> Array:
    rows = np.zeros((n, 1))
    rows[:n_ones] = 1.0
    return rows


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_permutation_of_rare_ones_is_fishers_test(kernel: Kernel) -> None:
    """MMD^2 is the squared difference of the shares, less a term that no relabelling changes by much."""
    n_x, n_y, in_x, in_y, n_draws = 1000, 37, 5, 2, 1999
    result = btest(ones(n_x, in_x), ones(n_y, in_y), kernel=kernel, null=Permutation(n_draws), seed=0)
    # The statistic of k ones among y, and the law of k.
    counts = np.arange(in_x + in_y + 1)
    chance = hypergeom(n_x + n_y, in_x + in_y, n_y).pmf(counts)
    shares = (in_x + in_y - counts) / n_x, counts / n_y
    unbiased = (shares[0] - shares[1]) ** 2
    unbiased -= shares[0] * (1.0 - shares[0]) / (n_x - 1) + shares[1] * (1.0 - shares[1]) / (n_y - 1)
    exact = float(chance[unbiased >= unbiased[in_y] - 1e-12].sum())
    low, high = count_bounds(n_draws, exact, exact)
    assert low + 1 <= round(result.pvalue * (n_draws + 1)) <= high + 1


@pytest.mark.filterwarnings("ignore::btests.DegenerateDataWarning")  # the median may look at zeros alone
@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(2000, 50, 50), (500, 40, 40), (700, 700, 700), (900, 900, 30)])
def test_flips_of_rare_ones_are_the_same_test_for_every_kernel(n_x: int, n_y: int, block_size: int) -> None:
    x, y = ones(n_x, n_x // 100), ones(n_y, 6)
    pvalues = {btest(x, y, kernel=kernel, block_size=block_size, seed=0).pvalue for kernel in KERNELS}
    assert len(pvalues) == 1
    if block_size == n_y:  # of several blocks a family has coarser folds, and so other flips
        assert btest(x, y, block_size=block_size, seed=0).pvalue in pvalues


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
def test_rounding_is_what_a_summary_says_it_is(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    for n_x, n_y, b in ((3000, 60, 60), (1500, 1500, 1500), (2000, 2000, 40)):
        x, y = Sample(rng.permutation(ones(n_x, 30))), Sample(rng.permutation(ones(n_y, 6)))
        summary = summarize(MMD(kernel), x, y, Plan.of_size(n_x, n_y, b))
        draws = np.sort(summary.drawn(summary.draw(999, 0)))
        steps = np.diff(draws)
        assert summary.rounding > 0.0
        assert not np.any((steps > summary.rounding) & (steps < 1e3 * summary.rounding))


def test_level_of_permutations_with_ties() -> None:
    n_trials, rejections = 150, 0
    for trial in range(n_trials):
        rng = np.random.default_rng(trial)
        x, y = ((rng.random((n, 1)) < 0.02).astype(float) for n in (300, 20))
        rejections += btest(x, y, kernel=Gaussian(0.7), null=Permutation(199), seed=trial).rejects(0.05)
    assert rejections <= count_bounds(n_trials, 0.05, 0.05)[1]


def test_a_scale_of_the_kernel_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(100, 2)), rng.normal(0.2, 1.0, size=(100, 2))
    wanted = btest(x, y, kernel=Gaussian(1.0), null=SignFlip(499), seed=3).pvalue
    for factor in (1e-200, 1e-20, 1e20, 1e200):
        assert btest(x, y, kernel=factor * Gaussian(1.0), null=SignFlip(499), seed=3).pvalue == wanted


@pytest.mark.parametrize("kernel", [Linear(), Linear() + Gaussian(1.0)], ids=repr)
def test_rows_far_from_0_are_told_apart_as_well(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.exponential(1.0, size=1000), rng.exponential(2.0, size=1000)
    results = [btest(x + shift, y + shift, kernel=kernel, seed=1) for shift in (0.0, FAR)]
    assert results[0].pvalue == results[1].pvalue == 0.0005
    assert results[1].threshold(0.05) == pytest.approx(results[0].threshold(0.05), rel=1e-3)


@pytest.mark.parametrize(("n", "share"), [(80, 0.5), (80, 0.1), (200, 0.5)])
def test_cross_blocks_take_no_rounding_for_a_difference(n: int, share: float) -> None:
    """Where as many ones meet in x as in y, in the second half, all sums are 0 on paper; of a coin that is often so."""
    rng = np.random.default_rng(0)
    trials, found, silent = 300, 0, 0
    for _ in range(trials):
        x, y = (rng.random((2, n, 1)) < share).astype(np.float64)
        result = btest(x, y, kernel=Gaussian(1.0), null=CrossMMD(), block_size=n, shuffle=False, seed=0)
        found += result.rejects(0.05)
        silent += result.statistic == 0.0
    assert silent > 0
    assert found <= count_bounds(trials, 0.05, 0.06)[1]
