"""Intervals of error rates, and when a published number agrees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from studies.harness.estimates import Estimate, difference, holds, mean_of, paired_difference, proportion, verdict


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (10, 10), (3, 70), (1500, 30_000)])
def test_rates_have_the_exact_interval(hits: int, trials: int) -> None:
    found = proportion(hits, trials)
    exact = stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert found.low <= found.value <= found.high


def test_a_published_number_has_an_error_of_its_own() -> None:
    here = Estimate(0.05, 0.04, 0.06, 3000)
    assert here.agrees_with(0.059, 10**9)
    assert not here.agrees_with(0.0601, 10**9)
    assert here.agrees_with(0.0601, 10**9, rounding=0.001)
    # As many trials there as here: the interval of the difference is sqrt 2 times as wide.
    assert here.agrees_with(0.064, 3000)
    assert not here.agrees_with(0.0642, 3000)


def test_verdicts_in_words() -> None:
    here = proportion(50, 1000)
    assert verdict(here, None, 1000) == ""
    assert verdict(here, 0.05, 1000) == "yes"
    assert verdict(here, 0.5, 1000) == "no"
    assert here.interval() == "0.037 to 0.065"


def test_trends_hold_or_not_or_nobody_knows() -> None:
    assert [holds(margin) for margin in ((0.0, 1.0), (-1.0, -0.1), (-1.0, 1.0))] == ["yes", "no", "undecided"]
    assert difference(Estimate(0.5, 0.4, 0.6, 10), Estimate(0.1, 0.0, 0.3, 10)) == pytest.approx((0.1, 0.6))


def test_paired_differences_are_within_their_interval_as_often_as_stated() -> None:
    # 4,000 draws of 200 trials, .06 and .1 of them discordant: a coverage of .95 is off by .02 with probability 1e-8.
    draws = np.random.default_rng(0).multinomial(200, [0.06, 0.1, 0.84], size=4000)
    found = [paired_difference(int(first), int(second), 200) for first, second, _ in draws]
    assert 0.93 < np.mean([one.low <= -0.04 <= one.high for one in found]) < 0.97
    assert (found[0].value, found[0].trials) == ((draws[0, 0] - draws[0, 1]) / 200, 200)
    assert paired_difference(0, 0, 200).low < 0.0 < paired_difference(0, 0, 200).high


def test_the_mean_of_independent_estimates_has_a_narrower_interval() -> None:
    found = mean_of([Estimate(0.1, 0.0, 0.2, 10), Estimate(0.3, 0.2, 0.4, 20)])
    assert found.value == pytest.approx(0.2)
    assert found.trials == 30
    assert (found.low, found.high) == pytest.approx((0.2 - 0.1 / 2**0.5, 0.2 + 0.1 / 2**0.5))
