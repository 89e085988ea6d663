"""Ties: the conservative, the mid-p and the randomised p-value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests import Aggregate, Gaussian, SignFlip, btest
from btests.nulls.distributions import ResampledDistribution
from tests.bounds import count_bounds


def by_counting(draws: Any, statistic: float, tolerance: float, exhaustive: bool, weight: float) -> float:
    """Return the p-value by its definition."""
    above = sum(draw > statistic + tolerance for draw in draws)
    tied = sum(abs(draw - statistic) <= tolerance for draw in draws) + (not exhaustive)
    return float((above + weight * (tied if above + tied else 1)) / (len(draws) + (not exhaustive)))


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.integers(-1, 7),
    st.booleans(),
    st.sampled_from([1.0, 0.5, 0.123]),
)
def test_pvalue_is_the_definition(draws: list[int], statistic: int, exhaustive: bool, weight: float) -> None:
    null_distribution = ResampledDistribution(np.sort(np.array(draws, dtype=float)), 0.25, exhaustive, weight)
    assert null_distribution.pvalue(statistic) == by_counting(draws, statistic, 0.25, exhaustive, weight)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.sampled_from([1.0, 0.5, 0.123]),
    st.floats(0.01, 0.999),
    st.booleans(),
)
def test_threshold_agrees_with_the_pvalue(draws: list[int], weight: float, alpha: float, exhaustive: bool) -> None:
    null_distribution = ResampledDistribution(np.sort(np.array(draws, dtype=float)), 0.25, exhaustive, weight)
    threshold = null_distribution.threshold(alpha)
    for statistic in np.arange(-1.0, 8.0, 0.125):
        assert (null_distribution.pvalue(float(statistic)) <= alpha) == (statistic > threshold)


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0), Aggregate(correction="max"), Aggregate(correction="soft")])
def test_ties_order_the_pvalues(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.binomial(1, 0.1, (49, 1)), rng.binomial(1, 0.3, (49, 1))
    found = {
        ties: btest(x, y, kernel=kernel, null=SignFlip(ties=ties), seed=1)
        for ties in ("conservative", "midp", "random")
    }
    assert found["midp"].pvalue < found["conservative"].pvalue
    assert 0.0 < found["random"].pvalue <= found["conservative"].pvalue
    assert found["random"] == btest(x, y, kernel=kernel, null=SignFlip(ties="random"), seed=1)
    assert "SignFlip(n_resamples=1999, ties='midp')" in str(found["midp"])
    for result in found.values():
        for alpha in (0.001, 0.01, 0.05, 0.3):
            assert (result.statistic > result.threshold(alpha)) == result.rejects(alpha)


def test_many_ties_are_said_to_be_conservative() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.binomial(1, 0.1, (49, 1)), rng.binomial(1, 0.1, (49, 1))
    assert "count against rejection" in btest(x, y, seed=1).note
    assert btest(x, y, null=SignFlip(ties="midp"), seed=1).note == ""
    assert btest(rng.normal(size=(50, 1)), rng.normal(size=(50, 1)), seed=1).note == ""


def test_levels_on_rare_coins() -> None:
    """Conservative below .05, randomised at .05; each bound fails by chance with a probability of 1e-6."""
    trials, hits = 2000, {"conservative": 0, "midp": 0, "random": 0}
    for trial in range(trials):
        rng = np.random.default_rng([3, trial])
        x, y = rng.binomial(1, 0.1, (49, 1)), rng.binomial(1, 0.1, (49, 1))
        for ties in hits:
            null = SignFlip(199, ties)  # type: ignore[arg-type]
            hits[ties] += btest(x, y, kernel=Gaussian(1.0), null=null, seed=trial, shuffle=False).rejects(0.05)
    low, high = count_bounds(trials, 0.05, 0.05, 1e-6)
    assert low <= hits["random"] <= high
    assert hits["conservative"] < low
    assert hits["conservative"] <= hits["midp"] <= high


def test_bad_ties() -> None:
    with pytest.raises(ValueError, match="ties must be"):
        SignFlip(ties="half")  # type: ignore[arg-type]
    x = np.arange(10.0)
    with pytest.raises(ValueError, match="correction='rank'"):
        btest(x, x + 1.0, kernel=Aggregate(correction="rank"), null=SignFlip(ties="midp"))
