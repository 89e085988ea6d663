"""Laws: p-value and threshold are two sides of one thing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from btests.nulls import (
    NormalDistribution,
    NullDistribution,
    PearsonIIIDistribution,
    ResampledDistribution,
    StudentDistribution,
)

SCALES = st.floats(1e-200, 1e200)
CONTINUOUS = st.one_of(
    st.builds(NormalDistribution, SCALES),
    st.builds(StudentDistribution, SCALES, st.integers(1, 10_000)),
    st.builds(PearsonIIIDistribution, SCALES, st.floats(-4.0, 4.0)),
)
ZERO = [
    NormalDistribution(0.0),
    StudentDistribution(0.0, 5),
    PearsonIIIDistribution(0.0, 0.0),
    PearsonIIIDistribution(0.0, 1.0),
]
ALPHAS = st.floats(1e-9, 1.0 - 1e-9)


def drawn(values: list[float], tolerance: float, exhaustive: bool) -> ResampledDistribution:
    """Return a law of some draws."""
    return ResampledDistribution(np.sort(np.array(values, dtype=float)), tolerance, exhaustive)


# Whole numbers and halves: ties are common, and sums are exact.
DRAWN = st.builds(
    drawn,
    st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=60),
    st.sampled_from([0.0, 0.25]),
    st.booleans(),
)


@given(CONTINUOUS, ALPHAS)
def test_threshold_is_where_the_pvalue_is_alpha(
    null_distribution: NormalDistribution | StudentDistribution | PearsonIIIDistribution, alpha: float
) -> None:
    threshold = null_distribution.threshold(alpha)
    step = 1e-6 * (abs(threshold) + null_distribution.sd)
    assert null_distribution.pvalue(threshold + step) <= alpha * (1.0 + 1e-9)
    assert null_distribution.pvalue(threshold - step) >= alpha * (1.0 - 1e-9)


@given(DRAWN, st.integers(-42, 42).map(lambda i: i / 2), st.one_of(ALPHAS, st.sampled_from([0.05, 0.1, 0.5, 0.25])))
def test_drawn_law_agrees_with_itself(null_distribution: ResampledDistribution, statistic: float, alpha: float) -> None:
    assert (null_distribution.pvalue(statistic) <= alpha) == (statistic > null_distribution.threshold(alpha))


@given(DRAWN, st.integers(1, 60), st.integers(-42, 42).map(lambda i: i / 2))
def test_drawn_law_agrees_at_its_own_levels(null_distribution: ResampledDistribution, k: int, statistic: float) -> None:
    """At alpha = k / n the p-value may be equal to alpha, and a rounding of alpha n would tell."""
    n = null_distribution.draws.size + (not null_distribution.exhaustive)
    for alpha in (k / n, math.nextafter(k / n, 0.0), math.nextafter(k / n, 1.0), 1.0 - 1e-16):
        if 0.0 < alpha < 1.0:
            assert (null_distribution.pvalue(statistic) <= alpha) == (statistic > null_distribution.threshold(alpha))


@given(st.one_of(CONTINUOUS, DRAWN, st.sampled_from(ZERO)), st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=20))
def test_pvalues_are_never_zero_and_fall(null_distribution: NullDistribution, statistics: list[float]) -> None:
    pvalues = [null_distribution.pvalue(s) for s in sorted(statistics)]
    assert all(0.0 < p <= 1.0 for p in pvalues)
    assert all(p >= q * (1.0 - 1e-12) for p, q in itertools.pairwise(pvalues))


@given(st.one_of(CONTINUOUS, DRAWN), ALPHAS, ALPHAS)
def test_thresholds_fall_with_alpha(null_distribution: NullDistribution, alpha: float, other: float) -> None:
    low, high = sorted((alpha, other))
    assert null_distribution.threshold(low) >= null_distribution.threshold(high)


@pytest.mark.parametrize("null_distribution", ZERO, ids=repr)
def test_without_spread_only_more_than_zero_is_significant(null_distribution: NullDistribution) -> None:
    assert null_distribution.pvalue(0.0) == null_distribution.pvalue(-1.0) == 1.0
    assert 0.0 < null_distribution.pvalue(1e-300) < 1e-300
    assert null_distribution.threshold(0.05) == 0.0


@pytest.mark.parametrize("z", [-3.0, -0.5, 0.0, 1.0, 1.6448536269514722, 5.0, 8.0])
def test_against_scipy(z: float) -> None:
    assert NormalDistribution(2.0).pvalue(2.0 * z) == pytest.approx(stats.norm.sf(z), rel=1e-12)
    for degrees in (1, 2, 7, 100):
        assert StudentDistribution(2.0, degrees).pvalue(2.0 * z) == pytest.approx(stats.t.sf(z, degrees), rel=1e-10)
    for skewness in (-2.5, -1.0, -0.1, -0.01, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0):
        wanted = float(stats.pearson3.sf(z, skewness))
        assert PearsonIIIDistribution(2.0, skewness).pvalue(2.0 * z) == pytest.approx(
            max(wanted, 5e-308), rel=1e-8, abs=5e-308
        )


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.05, 0.5, 0.9])
def test_quantiles_against_scipy(alpha: float) -> None:
    assert NormalDistribution(2.0).threshold(alpha) == pytest.approx(2.0 * stats.norm.isf(alpha), rel=1e-9, abs=1e-12)
    for degrees in (1, 2, 7, 100):
        wanted = 2.0 * float(stats.t.isf(alpha, degrees))
        assert StudentDistribution(2.0, degrees).threshold(alpha) == pytest.approx(wanted, rel=1e-8, abs=1e-12)
    for skewness in (-2.5, -1.0, -0.1, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0):
        wanted = 2.0 * float(stats.pearson3.isf(alpha, skewness))
        assert PearsonIIIDistribution(2.0, skewness).threshold(alpha) == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("skewness", [0.0, 1e-9, 1e-7, 1e-6, 1.1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_almost_no_skewness_is_normal(skewness: float, sign: float) -> None:
    for z in (-2.0, 0.0, 1.64, 4.0):
        assert PearsonIIIDistribution(1.0, sign * skewness).pvalue(z) == pytest.approx(stats.norm.sf(z), rel=2e-3)


def test_definition_of_a_drawn_pvalue() -> None:
    draws = np.array([1.0, 2.0, 2.0, 3.0])
    assert ResampledDistribution(draws).pvalue(2.0) == 4 / 5
    assert ResampledDistribution(draws).pvalue(3.5) == 1 / 5
    assert ResampledDistribution(draws, exhaustive=True).pvalue(3.0) == 1 / 4
    assert ResampledDistribution(draws, tolerance=0.6).pvalue(3.5) == 2 / 5
    assert ResampledDistribution(draws).threshold(0.1) == math.inf
