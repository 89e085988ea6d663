"""What a result says about the size of a difference, and about its own assumptions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from btests import (
    CrossMMD,
    FewBlocksWarning,
    Gaussian,
    Normal,
    OrderWarning,
    SignFlip,
    Stream,
    TestResult,
    ThirdCumulant,
    btest,
)
from btests.diagnostics import ks_normality, serial_score, skewness
from tests.bounds import count_bounds
from tests.reference import Array
from tests.statistics.test_closed_form import exact_mmd


def h_a_result(n_x: int, n_y: int, block_size: int, seed: int) -> TestResult:
    """Return a test of N(0, I) against N(0.7, I) in the plane."""
    rng = np.random.default_rng([seed, n_x, n_y])
    x, y = rng.normal(size=(n_x, 2)), rng.normal(0.7, 1.0, size=(n_y, 2))
    return btest(x, y, kernel=Gaussian(1.0), block_size=block_size, null=SignFlip(1), seed=seed)


TRUTH = exact_mmd(2, 0.7, 1.0, 1.0)


@pytest.mark.parametrize(
    ("n_x", "n_y", "block_size"),
    [
        (400, 400, 10),
        (400, 400, 40),
        (400, 400, 100),
        (400, 400, 200),
        (400, 400, 400),
        (100, 100, 10),
        (100, 100, 100),
        (300, 500, 75),
        (300, 500, 30),
        (100, 500, 100),
        (500, 100, 10),
    ],
)
def test_intervals_cover(n_x: int, n_y: int, block_size: int) -> None:
    """95 % intervals of 1000 samples hold the true MMD^2 in 94 to 96.5 of 100 cases; false alarm 1e-6 / 11 each.

    And the misses are not all on one side: at least 0.5 of 100 on each, false alarm 2e-6 / 11 in each cell.
    """
    below = above = 0
    for seed in range(1000):
        low, high = h_a_result(n_x, n_y, block_size, seed).confidence_interval()
        below, above = below + (high < TRUTH), above + (low > TRUTH)
    lowest, highest = count_bounds(1000, 0.94, 0.965, 1e-6 / 11)
    assert lowest <= 1000 - below - above <= highest
    assert min(below, above) >= stats.binom.ppf(1e-6 / 11, 1000, 0.005)


@pytest.mark.parametrize("block_size", [20, 400])
def test_pvalue_above_the_truth_is_a_pvalue(block_size: int) -> None:
    """At tau = the true MMD^2 it is at most 5 % in about 5 % of 1000 samples: 3 to 6.5, false alarm 1e-6 / 2 each."""
    rejected = sum(h_a_result(400, 400, block_size, seed).pvalue_above(TRUTH) <= 0.05 for seed in range(1000))
    lowest, highest = count_bounds(1000, 0.03, 0.065, 1e-6 / 2)
    assert lowest <= rejected <= highest


def test_pvalue_above_and_interval_are_one_law() -> None:
    result = h_a_result(400, 400, 20, 0)
    low, high = result.confidence_interval(0.9)
    assert result.pvalue_above(low) == pytest.approx(0.05, rel=1e-9)
    assert result.pvalue_above(high) == pytest.approx(0.95, rel=1e-9)
    assert result.pvalue_above(0.0) < result.pvalue_above(0.1) < result.pvalue_above(10.0) <= 1.0


def test_many_blocks_give_students_interval_shifted_by_their_skewness() -> None:
    values = h_a_result(400, 400, 10, 0).block_values
    result = h_a_result(400, 400, 10, 0)
    error = stats.sem(values)
    assert result.standard_error == pytest.approx(error, rel=1e-12)
    t, skew = stats.t.isf(0.05, values.size - 1), stats.skew(values) * (1.0 - 1.0 / values.size) ** 1.5
    shift = t**2 * 2.26 * skew / 6.0 / math.sqrt(values.size) * error
    wanted = values.mean() + shift + np.array([-1.0, 1.0]) * math.hypot(shift, t * error)
    assert result.confidence_interval(0.9) == pytest.approx(tuple(wanted), rel=1e-9)


@pytest.mark.parametrize("lengths", [(400, 400), (100, 400)])
def test_intervals_are_nested_and_hold_the_estimate(lengths: tuple[int, int]) -> None:
    for block_size in (2, 10, 100):
        for seed in range(5):
            result = h_a_result(*lengths, block_size, seed)
            levels = [result.confidence_interval(level) for level in (0.999999, 0.99, 0.95, 0.5, 1e-3)]
            lows, highs = zip(*levels, strict=True)
            assert list(lows) == sorted(lows)
            assert list(highs) == sorted(highs, reverse=True)
            assert lows[-1] < result.statistic < highs[-1]


def test_pvalue_above_falls_with_the_estimate_and_never_leaves_its_range() -> None:
    result = h_a_result(100, 100, 100, 3)
    taus = np.linspace(0.0, 3.0, 301)
    pvalues = [result.pvalue_above(tau) for tau in taus]
    assert pvalues == sorted(pvalues)
    assert pvalues[0] > 0.0
    assert pvalues[-1] <= 1.0


def test_an_interval_needs_some_rows() -> None:
    with pytest.raises(ValueError, match="an interval for MMD\\^2 needs at least 2 blocks or 8 rows"):
        h_a_result(7, 7, 7, 0).confidence_interval()
    with pytest.raises(ValueError, match="one block of 7 rows"):
        h_a_result(7, 20, 7, 0).confidence_interval()
    assert h_a_result(8, 20, 8, 0).standard_error > 0.0
    assert h_a_result(8, 8, 8, 0).standard_error > 0.0
    assert h_a_result(8, 8, 4, 0).standard_error > 0.0


def test_skewness_and_normality_are_those_of_scipy() -> None:
    for values in (np.random.default_rng(0).exponential(size=50), np.array([1.0, 2.0, 4.0]), np.arange(7.0) * 1e-200):
        assert skewness(values) == pytest.approx(float(stats.skew(values / values.max())), rel=1e-9, abs=1e-12)
    values = np.random.default_rng(1).exponential(size=200)
    wanted = stats.kstest(values, stats.norm(values.mean(), values.std(ddof=1)).cdf, method="asymp")
    found = ks_normality(values)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-6)


def test_of_a_result() -> None:
    result = h_a_result(400, 400, 4, 0)
    assert result.skewness() == pytest.approx(float(stats.skew(result.block_values)), rel=1e-9)
    assert result.normality() == ks_normality(result.block_values)
    assert 0.0 <= result.normality().pvalue <= 1.0


@pytest.mark.parametrize("values", [np.array([]), np.array([1.0]), np.array([1.0, 2.0]), np.full(5, 0.1)])
def test_too_few_or_equal_values_have_no_skewness(values: Array) -> None:
    if values.size:
        assert math.isnan(skewness(values))
        assert math.isnan(ks_normality(values).pvalue)


@pytest.mark.parametrize("null", [Normal(), ThirdCumulant(), CrossMMD()], ids=repr)
def test_few_blocks_warn_where_the_caller_is(null: Normal) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 2)), rng.normal(size=(12, 2))
    with pytest.warns(FewBlocksWarning, match="its p-value may be off") as caught:
        btest(x, y, block_size=6, null=null, seed=1)
    assert caught[0].filename == __file__


def test_sign_flips_never_warn() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 12):
        btest(rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), block_size=n, seed=1)


def test_a_kernel_that_sees_nothing_is_named() -> None:
    rng = np.random.default_rng(0)
    x, y = 1e-9 * rng.normal(size=(60, 2)), 1e-9 * rng.normal(5.0, 1.0, size=(60, 2))
    result = btest(x, y, kernel=Gaussian(1.0), block_size=60, seed=1)
    assert result.pvalue == 1.0
    assert "too wide" in result.note
    assert "too wide" in str(result)
    assert btest(x, y, seed=1).note == ""


def test_serial_score_is_about_standard_normal_for_independent_values() -> None:
    # 2000 scores of heavy-tailed values: their mean is beyond 5.5 standard errors once in 10^7 runs or less, and more
    # than 25 of them beyond 3 (2.7 expected, Poisson) once in 10^15.
    rng = np.random.default_rng(1)
    scores = np.array([serial_score(rng.standard_cauchy(200)) for _ in range(2000)])
    assert abs(scores.mean() + 1.0 / math.sqrt(200)) < 5.5 / math.sqrt(2000)
    assert 0.8 < scores.std() < 1.2
    assert np.sum(scores > 3.0) <= 25
    assert serial_score(np.ones(100)) == 0.0
    assert serial_score(np.arange(10.0)) == 0.0


@pytest.mark.parametrize("flipped", [False, True])
def test_sorted_rows_are_warned_of_where_they_are_not_shuffled(flipped: bool) -> None:
    rng = np.random.default_rng(2)
    x, y = np.sort(rng.normal(size=4000)), np.sort(rng.normal(size=4000))
    y = y[::-1].copy() if flipped else y
    kernel = Gaussian(1.0)
    assert btest(x, y, kernel=kernel, seed=1, block_size=40).pvalue > 1e-3
    with pytest.warns(OrderWarning, match="values of neighbouring blocks are correlated"):
        found = btest(x, y, kernel=kernel, seed=1, block_size=40, shuffle=False)
    assert found.rejects(0.01)  # the wrong answer that the warning is about
    stream = Stream(kernel, 40, seed=1)
    stream.update(x, y)
    with pytest.warns(OrderWarning):
        stream.result()


def test_block_values_cannot_be_changed() -> None:
    rng = np.random.default_rng(0)
    result = btest(rng.normal(size=(100, 2)), rng.normal(size=(100, 2)), kernel=Gaussian(1.0), seed=1)
    with pytest.raises(ValueError, match="read-only"):
        result.block_values[0] = 1.0
