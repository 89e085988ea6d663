"""Intervals of error rates, and when a published number agrees."""

from __future__ import annotations

import pytest
from scipy import stats

from studies.harness.estimates import Estimate, difference, holds, proportion, verdict


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
