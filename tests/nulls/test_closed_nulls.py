"""The nulls without random numbers against their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from btests import CrossMMD, Energy, FewBlocksWarning, Normal, ThirdCumulant
from btests.plan import Plan
from btests.summary import Summary
from tests import reference
from tests.kernels.formulas import radial
from tests.nulls.summaries import summarize, two_samples

GAUSSIAN = radial(1.0)[0].formula


@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_normal_is_the_papers_formula(shift: float) -> None:
    x, y = two_samples(200, 200, shift)
    summary = summarize(x, y, 40)
    values = reference.block_values(GAUSSIAN, x.tolist(), y.tolist(), 40)
    z = values.mean() / math.sqrt(values.var(ddof=1) / 40)
    null_distribution = Normal().distribution(summary, seed=0)
    assert Normal().statistic(summary) == pytest.approx(values.mean(), rel=1e-10)
    assert null_distribution.pvalue(summary.mean()) == pytest.approx(stats.norm.sf(z), rel=1e-9)
    assert null_distribution.threshold(0.05) == pytest.approx(
        1.6448536269514722 * values.std(ddof=1) / math.sqrt(40), rel=1e-9
    )


def test_third_cumulant_is_pearson_with_the_moments_of_all_flips() -> None:
    summary = summarize(*two_samples(8, 8, 0.5), 2)
    sums = reference.sign_sums(summary.moments) / 2
    skewness = np.mean(sums**3) / np.mean(sums**2) ** 1.5
    with pytest.warns(FewBlocksWarning):
        null_distribution = ThirdCumulant().distribution(summary, seed=0)
    assert null_distribution.sd == pytest.approx(math.sqrt(np.mean(sums**2)), rel=1e-10)
    assert null_distribution.skewness == pytest.approx(skewness, rel=1e-9)
    wanted = stats.pearson3.sf(summary.mean() / null_distribution.sd, skewness)
    assert null_distribution.pvalue(summary.mean()) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize(("n", "n_blocks"), [(128, 32), (128, 64), (60, 1), (90, 10)])
def test_cross_blocks_is_a_monotone_form_of_the_self_normalised_sum(n: int, n_blocks: int) -> None:
    """T = sum f / sqrt(sum f^2) and the t statistic: t = T sqrt((N - 1) / (N - T^2))."""
    x, y = two_samples(n, n, 0.4)
    summary = summarize(x, y, n_blocks)
    groups = min(32, n // n_blocks)
    moments = reference.moments(GAUSSIAN, x.tolist(), y.tolist(), n_blocks, groups)
    f = moments[:, : groups // 2, groups // 2 :].sum(axis=-1).ravel()
    ratio = f.sum() / math.sqrt((f**2).sum())
    t = ratio * math.sqrt((f.size - 1) / (f.size - ratio**2))
    null_distribution = CrossMMD().distribution(summary, seed=0)
    statistic = CrossMMD().statistic(summary)
    assert null_distribution.degrees == f.size - 1
    assert statistic / null_distribution.sd == pytest.approx(t, rel=1e-9)
    assert null_distribution.pvalue(statistic) == pytest.approx(stats.t.sf(t, f.size - 1), rel=1e-8)
    assert t == pytest.approx(float(stats.ttest_1samp(f, 0.0).statistic), rel=1e-9)


def test_cross_blocks_statistic_is_the_mean_of_h_between_halves() -> None:
    x, y = two_samples(40, 40, 0.4)
    summary = summarize(x, y, 5)
    wanted = []
    for rows in reference.permutation_of(40, 5):
        p, q = x[rows].tolist(), y[rows].tolist()
        wanted.append(np.mean([reference.h(GAUSSIAN, p, q, a, b) for a in range(4) for b in range(4, 8)]))
    assert CrossMMD().statistic(summary) == pytest.approx(np.mean(wanted), rel=1e-10)


def test_blocks_of_two_are_the_linear_time_test() -> None:
    x, y = two_samples(100, 100, 0.4)
    summary = summarize(x, y, 50)
    assert CrossMMD().statistic(summary) == pytest.approx(Normal().statistic(summary), rel=1e-10)


@pytest.mark.parametrize(
    ("null", "n", "n_blocks"),
    [(Normal(), 58, 29), (ThirdCumulant(), 20, 10), (CrossMMD(), 30, 15), (Normal(), 9, 2)],
)
def test_few_blocks_warn(null: Any, n: int, n_blocks: int) -> None:
    summary = summarize(*two_samples(n, n), n_blocks)
    with pytest.warns(FewBlocksWarning, match=r"null=SignFlip\(\) holds its level"):
        null.distribution(summary, 0)


@pytest.mark.parametrize(
    ("null", "n", "n_blocks"), [(Normal(), 60, 30), (ThirdCumulant(), 32, 16), (CrossMMD(), 32, 16)]
)
def test_enough_blocks_do_not_warn(null: Any, n: int, n_blocks: int) -> None:
    null.distribution(summarize(*two_samples(n, n), n_blocks), 0)


def test_normal_needs_two_blocks() -> None:
    with pytest.raises(ValueError, match="needs at least 2 of them, got 1"):
        Normal().distribution(summarize(*two_samples(20, 20), 1), 0)


@pytest.mark.parametrize("n", [2, 3])
def test_cross_blocks_needs_two_rows_in_the_first_half(n: int) -> None:
    with pytest.raises(ValueError, match="CrossMMD"):
        CrossMMD().distribution(summarize(*two_samples(n, n), 1), 0)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-100, 1e100, 1e153, 1e170, 1e300])
@pytest.mark.parametrize("null", [Normal(), ThirdCumulant(), CrossMMD()], ids=repr)
def test_scale_of_the_values_does_not_matter(null: Any, scale: float) -> None:
    one = summarize(*two_samples(200, 200, 0.5), 40, Energy())
    other = Summary.of(one.plan, one.values * scale, one.moments * scale)
    wanted = null.distribution(one, 0).pvalue(null.statistic(one))
    assert 1e-12 < wanted < 0.5
    assert null.distribution(other, 0).pvalue(null.statistic(other)) == pytest.approx(wanted, rel=1e-6)


def test_zero_moments() -> None:
    plan = Plan(64, 64, 32)
    summary = Summary.of(plan, np.zeros(32), np.zeros((32, 2, 2)))
    for null in (Normal(), ThirdCumulant(), CrossMMD()):
        assert null.distribution(summary, 0).pvalue(null.statistic(summary)) == 1.0
