"""The variance and the skewness that intervals are made of."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, Matern, SignFlip, Stream, btest
from btests.data.sample import Sample
from btests.intervals import Spread, estimate_spread
from btests.plan import Plan
from btests.selection import Aggregate
from btests.statistics import MMD, summarize, summarize_all, with_row_moments
from btests.summary import Summary
from tests.bounds import FALSE_ALARM, deviations
from tests.reference import Array


def two_samples(n_x: int, n_y: int, seed: int, shift: float = 0.7) -> tuple[Sample, Sample]:
    rng = np.random.default_rng([seed, n_x, n_y])
    return Sample(rng.normal(size=(n_x, 2))), Sample(rng.normal(shift, 1.0, size=(n_y, 2)))


def spread_of(n_x: int, n_y: int, block_size: int, seed: int, shift: float = 0.7) -> tuple[float, Spread]:
    x, y = two_samples(n_x, n_y, seed, shift)
    kernel = Gaussian(1.0)
    summary = summarize(MMD(kernel), x, y, Plan.of_size(n_x, n_y, block_size), 1)
    return summary.mean(), estimate_spread(with_row_moments(summary, kernel, x, y))


@pytest.mark.parametrize(
    ("n_x", "n_y", "block_size"),
    [(64, 64, 64), (100, 100, 100), (100, 100, 10), (80, 80, 8), (120, 60, 60), (120, 60, 10)],
)
def test_variance_is_that_of_the_estimate(n_x: int, n_y: int, block_size: int) -> None:
    """The mean of 2000 estimated variances is the variance of 2000 estimates within 6 % and what chance does.

    Chance: the standard deviation of a sample variance, with the fourth moment of the estimates, times the two-sided
    quantile for a false alarm of 1e-6 / 6.
    """
    found = [spread_of(n_x, n_y, block_size, seed) for seed in range(2000)]
    estimates = np.array([estimate for estimate, _ in found])
    deviation = estimates - estimates.mean()
    wanted = float(np.mean(deviation**2))
    chance = math.sqrt((float(np.mean(deviation**4)) / wanted**2 - 1.0) / len(found))
    ratio = float(np.mean([spread.variance for _, spread in found])) / wanted
    assert abs(ratio - 1.0) < 0.06 + deviations(None, FALSE_ALARM / 6) * chance


def test_blocks_of_one_stratum_give_the_variance_of_single_blocks() -> None:
    """A plan for many kernels adds up blocks: the mean over 300 samples agrees within 10 %, six standard errors."""
    x_y = [two_samples(480, 480, seed) for seed in range(300)]
    plans = [Plan.of_size(480, 480, 32, n_kernels) for n_kernels in (1, 16)]
    assert plans[0].stratum_level == 0 < plans[1].stratum_level
    kernels = (Gaussian(1.0),)
    means = [
        np.mean([estimate_spread(summarize_all(MMD(kernels), x, y, plan, 1)[0]).variance for x, y in x_y])
        for plan in plans
    ]
    assert means[1] == pytest.approx(means[0], rel=0.1)


def test_quantile_and_pvalue_are_inverse() -> None:
    for skew in (-0.5, 0.0, 0.3, 4.0):
        spread = Spread(2.0, skew, 31.0)
        for p in (1e-6, 0.025, 0.4, 0.6, 0.975):
            assert spread.pvalue(spread.quantile(p)) == pytest.approx(p, rel=1e-9)
        assert 0.0 < spread.pvalue(-100.0) <= spread.pvalue(100.0) <= 1.0


def test_no_spread_is_an_interval_of_no_width() -> None:
    spread = Spread(0.0, 0.0, 9.0)
    assert spread.quantile(0.025) == spread.quantile(0.975) == 0.0
    assert spread.pvalue(-1.0) < 1e-300
    assert spread.pvalue(1.0) == 1.0


@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (90, 60)])
@pytest.mark.parametrize("unit", [1e-120, 1.0, 1e120])
def test_intervals_scale_with_the_kernel(n_x: int, n_y: int, unit: float) -> None:
    x, y = two_samples(n_x, n_y, 0)
    for block_size in (60, 10):
        plain, scaled = (
            btest(x.rows, y.rows, kernel=kernel, block_size=block_size, null=SignFlip(1), seed=1)
            for kernel in (Gaussian(1.0), unit * Gaussian(1.0))
        )
        wanted = [unit * end for end in plain.confidence_interval()]
        assert scaled.confidence_interval() == pytest.approx(wanted, rel=1e-6)


def test_intervals_do_not_depend_on_which_sample_is_first() -> None:
    x, y = two_samples(300, 80, 0)
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 80, "shuffle": False, "seed": 1}
    there, back = btest(x.rows, y.rows, **options), btest(y.rows, x.rows, **options)
    assert there.confidence_interval() == pytest.approx(back.confidence_interval(), rel=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Aggregate(), lambda a, b: np.exp(-((a[:, None] - b) ** 2).sum(-1))])
def test_one_block_of_different_lengths_has_an_interval(kernel: Any) -> None:
    x, y = two_samples(300, 60, 0)
    result = btest(x.rows, y.rows, kernel=kernel, block_size=60, seed=1)
    low, high = result.confidence_interval()
    assert low < result.summary.mean() < high
    assert "95 % interval" in str(result)


def test_objects_have_an_interval() -> None:
    rng = np.random.default_rng(0)
    words = [["a" * int(k) for k in rng.integers(1, 9, n)] for n in (120, 40)]
    words[1] = [word + "aa" for word in words[1]]

    def kernel(p: str, q: str) -> float:
        return math.exp(-abs(len(p) - len(q)))

    from btests import Pairwise

    result = btest(words[0], words[1], kernel=Pairwise(kernel), block_size=40, seed=1)
    assert result.confidence_interval().low < result.statistic < result.confidence_interval().high


def test_very_different_lengths_have_an_interval() -> None:
    x, y = two_samples(10_000, 300, 0)
    result = btest(x.rows, y.rows, kernel=Gaussian(1.0), block_size=300, null=SignFlip(1), seed=1)
    low, high = result.confidence_interval()
    assert 0.0 < low < result.statistic < high


def test_sums_keep_no_rows_and_say_so() -> None:
    x, y = two_samples(300, 60, 0)
    stream = Stream(Gaussian(1.0), (300, 60), seed=1)
    stream.update(x.rows, y.rows)
    with pytest.raises(ValueError, match="smaller block_size"):
        stream.result().confidence_interval()


def test_moments_are_for_few_blocks_of_different_lengths() -> None:
    def row_moments(n_x: int, n_y: int, block_size: int) -> object:
        x, y = two_samples(n_x, n_y, 0)
        summary = summarize(MMD(Gaussian(1.0)), x, y, Plan.of_size(n_x, n_y, block_size), 1)
        return with_row_moments(summary, Gaussian(1.0), x, y).row_moments

    assert row_moments(100, 100, 100) is None
    assert row_moments(200, 100, 2) is None
    assert row_moments(200, 100, 100) is not None


def test_a_kernel_that_sees_nothing_has_an_interval_of_no_width() -> None:
    x, y = Sample(np.zeros((90, 1))), Sample(np.zeros((30, 1)))
    summary = summarize(MMD(Gaussian(1.0)), x, y, Plan(90, 30, 1), 1)
    assert estimate_spread(with_row_moments(summary, Gaussian(1.0), x, y)).variance == 0.0


def test_fold_sizes_count_blocks() -> None:
    def summary_of(plan: Plan, number: int) -> Summary:
        k = plan.moment_size
        found = Summary.of(plan, np.zeros(plan.n_blocks), np.zeros((plan.n_strata, k, k)))
        return Summary((replace(found.parts[0], number=number),))

    plan = Plan.of_size(32 * 100, 32 * 100, 32, 8)
    one, other = summary_of(plan, 0), summary_of(plan, 1)
    sizes: Array = one.stratum_sizes()
    assert sizes.shape == (len(one.moments),)
    assert sizes.sum() == 100
    both = Summary.join([one, other])
    assert both.stratum_sizes().shape == (len(both.moments),)
    assert both.stratum_sizes().sum() == 200


@pytest.mark.parametrize("n", [20, 100])
def test_intervals_and_tests_agree_on_zero(n: int) -> None:
    """An interval begins above zero only where the test rejects, and no difference is more than tolerated otherwise."""
    for seed in range(30):
        rng = np.random.default_rng([n, seed])
        result = btest(rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), seed=seed)
        for level in (0.5, 0.95):
            assert result.confidence_interval(level).low <= 0.0 or result.rejects(1.0 - level)
        assert result.pvalue_above(0.0) >= result.pvalue


def test_few_draws_do_not_move_an_interval() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 1.0
    few, many = (btest(x, y, kernel=Gaussian(1.0), null=SignFlip(n), seed=1) for n in (19, 1999))
    assert few.confidence_interval(0.99) == many.confidence_interval(0.99)
    assert few.pvalue_above(0.01) == many.pvalue_above(0.01) < 1e-3


def test_rows_so_far_apart_that_squared_distances_overflow() -> None:
    # Warnings are errors here: numpy has one for each overflow.
    rng = np.random.default_rng(0)
    for kernel in (Matern(1.0), Gaussian(1.0)):
        result = btest(rng.normal(size=(8, 3)), 1e299 * rng.normal(size=(9, 3)), kernel=kernel, seed=0)
        low, high = result.confidence_interval()
        assert 0.0 <= low <= high
