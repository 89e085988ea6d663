"""The cheap way to many tests, against ``btest`` on the rows as they are."""

from __future__ import annotations

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.data.sample import Sample
from btests.plan import Array
from studies.harness.estimates import proportion
from studies.reproduce.music import quadratic, trends
from studies.reproduce.music.songs import Song, load
from studies.reproduce.music.statistic_draws import Draws, check, histogram, threshold, variance_ratio
from studies.reproduce.music.synthesis import PIPES, PLUCKED
from studies.reproduce.music.trials import (
    LEVEL,
    MULTIPLE,
    SINGLE,
    batches,
    draw,
    kernels,
    rejects_multiple,
    rejects_single,
)
from tests.bounds import count_bounds

P = Song("P", "synthesised", style=PLUCKED, seed=2013, longest=40.0)
Q = Song("Q", "synthesised", style=PIPES, seed=2013, longest=40.0)


def test_rows_depend_on_the_key_alone() -> None:
    one, again, other = (draw(P, Q, 50, (0, key), is_null=False) for key in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0], other[0])
    plain = draw(P, Q, 50, (0, 1), is_null=False, turned=False)
    assert plain[0].shape == (50, 1000)
    assert one[0].shape == (50, 264)


def test_batches_do_not_matter() -> None:
    whole, *_ = batches((P, Q), 30, (1, 2), is_null=True, trials=5, size=5)
    parts = batches((P, Q), 30, (1, 2), is_null=True, trials=5, size=2)
    assert [(len(b), b.name) for b in parts] == [(2, "null.0"), (2, "null.2"), (1, "null.4")]
    for (i, *one), (j, *other) in zip(whole.samples(), (s for b in parts for s in b.samples()), strict=True):
        assert i == j
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_rows_are_drawn_without_replacement() -> None:
    n = len(load(P)) // 2
    x, y = draw(P, P, n, (0, 1), is_null=True)
    both = np.concatenate([x, y])
    assert len(np.unique(both.round(9), axis=0)) == 2 * n  # all windows but one at most, each once
    x, y = draw(P, Q, n, (0, 1), is_null=False)
    assert not np.isin(x.sum(axis=1), y.sum(axis=1)).any()


@pytest.mark.parametrize("is_null", [True, False])
def test_single_kernels_are_those_of_btest(is_null: bool) -> None:
    plain = draw(P, Q, 300, (4, 1), is_null=is_null, turned=False)
    x, y = (Sample(rows) for rows in draw(P, Q, 300, (4, 1), is_null=is_null))
    chosen = kernels(x, y, tuple(SINGLE))
    found = rejects_single(x, y, chosen, 10)
    for name, kernel in SINGLE.items():
        result = btest(*plain, kernel=kernel, block_size=10, null="normal", shuffle=False, scale=False, seed=0)
        assert isinstance(result.kernel, Gaussian)
        chosen_here = chosen[name]
        assert isinstance(chosen_here, Gaussian)
        assert result.kernel.bandwidth == pytest.approx(chosen_here.bandwidth, rel=1e-9)
        assert result.rejects(LEVEL) == found[name]


@pytest.mark.filterwarnings("ignore::btests._warnings.SelectionWarning")
def test_multiple_kernels_are_those_of_btest() -> None:
    for trial in range(6):
        plain = draw(P, Q, 400, (5, trial), is_null=False, turned=False)
        x, y = (Sample(rows) for rows in draw(P, Q, 400, (5, trial), is_null=False))
        result = btest(*plain, kernel=MULTIPLE, block_size=6, null="normal", shuffle=False, scale=False, seed=0)
        assert rejects_multiple(x, y, 6) == result.rejects(LEVEL)


@pytest.mark.parametrize("is_null", [True, False])
def test_quadratic_tests_are_those_of_btest(is_null: bool) -> None:
    x, y = draw(P, Q, 150, (6, 1), is_null=is_null)
    found = quadratic.pvalues(x, y, 3)
    assert set(found) == {(null, name) for null in quadratic.NULLS for name in quadratic.KERNELS}
    for (null, name), pvalue in found.items():
        result = btest(x, y, kernel=SINGLE[name], null=quadratic.NULLS[null], shuffle=False, scale=False, seed=3)
        # A draw that ties with the statistic may fall on either side of it.
        assert pvalue == pytest.approx(result.pvalue, abs=0.003)


def test_the_synthesised_pair_shows_the_trend() -> None:
    """Power from B = 2 to sqrt(n): at most .35 and at least .8, measured .1 and .97 over 100 trials of 1000 rows.

    False alarm: at most 1e-6 for each of the two counts.
    """
    trials, hits = 30, {2: 0, 32: 0}
    whole = [Song(s.title, s.source, style=s.style, seed=s.seed, longest=150.0) for s in (P, Q)]
    for batch in batches((whole[0], whole[1]), 1000, (7, 1), is_null=False, trials=trials, size=trials):
        for _, *samples in batch.samples():
            x, y = (Sample(rows) for rows in samples)
            for b in hits:
                hits[b] += rejects_single(x, y, kernels(x, y, ("median",)), b)["median"]
    assert hits[2] <= count_bounds(trials, 0.0, 0.35)[1]
    assert hits[32] >= count_bounds(trials, 0.8, 1.0)[0]


def test_trends_are_decided_by_their_interval() -> None:
    many, few = proportion(900, 1000), proportion(100, 1000)
    assert trends.falls("", (0.9, 0.1), many, few).holds == "yes"
    assert trends.falls("", None, few, many).holds == "no"
    assert trends.falls("", None, few, proportion(101, 1000)).holds == "undecided"
    assert trends.is_below("", 0.0, few, 0.15).holds == "yes"
    assert trends.is_below("", 0.0, few, 0.05).holds == "no"
    assert trends.is_below("", 0.0, few, 0.1).holds == "undecided"
    assert trends.is_close("", (0.0, 0.0), few, many, 0.05).holds == "yes"
    assert trends.is_times("", 100.0, 9.9, 10.0).cells() == ("", "100 times", "9.9 times", "", "no")
    assert trends.is_times("", None, 9.96, 10.0).cells() == ("", "", "10.0 times", "", "yes")
    low, high = trends.difference(many, few)
    assert low < 0.8 < high
    assert high - low < 0.1


def normal_and_skewed(size: int = 4000) -> dict[tuple[str, int], Draws]:
    rng = np.random.default_rng(0)

    def draws_of(truth: str, b: int, draws: Array) -> Draws:
        return Draws(truth, b, draws)

    return {
        ("H0", 2): draws_of("H0", 2, 3.0 * rng.standard_normal(size)),
        ("H_A", 2): draws_of("H_A", 2, 3.0 * rng.standard_normal(size) + 1.0),
        ("H0", 10): draws_of("H0", 10, rng.standard_gamma(2.0, size) - 2.0),
        ("H_A", 10): draws_of("H_A", 10, rng.standard_normal(size) + 1.0),
    }


def test_moments_of_the_figure() -> None:
    draws = normal_and_skewed()
    assert [own.is_normal() for own in draws.values()] == [True, True, False, True]
    assert [own.is_normal_corrected() for own in draws.values()] == [True, True, False, True]
    ratio, low, high = variance_ratio(draws["H_A", 2], draws["H_A", 10])
    assert low < 9.0 < high
    assert low < ratio < high
    assert threshold(draws["H0", 2]) == pytest.approx(3.0 * 1.645, rel=0.05)
    counts = histogram(draws["H0", 2], draws["H_A", 2])
    assert sum(row["H0"] for row in counts) == sum(row["H_A"] for row in counts) == 4000
    found = {trend.said: trend.holds for trend in check(draws, (2, 10))}
    assert found["H0 at B = 10 fails a KS test of normality"] == "yes"
    assert found["the variance under H_A falls from B = 2 to B = 10"] == "yes"
    # The 95 % point of a gamma law is beyond that of the normal one.
    assert "no" in {holds for said, holds in found.items() if "conservative" in said}
