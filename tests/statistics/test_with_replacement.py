"""Blocks drawn with replacement: values, moments and flips against double loops, and the level."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Aggregate, Bootstrap, Gaussian, Laplacian, Pairwise, SignFlip, Stream, WithReplacement, btest
from btests.block_range import BlockRange
from btests.data.sample import Sample
from btests.statistics import plan_for, summarize_all
from btests.symmetries.swap_groups import unpack
from tests import reference
from tests.bounds import count_bounds, deviations

RNG = np.random.default_rng(4)
X: Any = RNG.normal(size=(90, 2))
Y: Any = RNG.normal(0.4, 1.2, size=(90, 2))
STATISTIC = WithReplacement((Gaussian(1.0), Laplacian(2.0)), seed=7)


def scalar(kernel: Any) -> Any:
    """Return a kernel as a function of two points."""
    return lambda p, q: float(kernel(np.array([p]), np.array([q]))[0, 0])


def drawn_values(kernel: Any, x: Any, y: Any, rows: Any) -> Any:
    """Return the MMD^2 of the rows of each block, by double loops."""
    return np.array([reference.mmd_paired(scalar(kernel), x[own], y[own]) for own in rows])


def test_values_and_moments_are_those_of_double_loops() -> None:
    plan = plan_for(STATISTIC, 90, 90, 11)
    rows = STATISTIC.rows(BlockRange.of(plan))
    assert rows.shape == (8, 11)
    assert all(len(set(own)) == 11 for own in rows)
    weights = np.zeros((90, 90))  # in how many blocks a pair of rows is
    for own in rows:
        weights[np.ix_(own, own)] += 1.0
    for kernel, summary in zip(
        STATISTIC.kernels, summarize_all(STATISTIC, Sample(X), Sample(Y), plan, n_threads=1), strict=True
    ):
        np.testing.assert_allclose(summary.values, drawn_values(kernel, X, Y, rows), rtol=1e-12)
        wanted = np.zeros((64, 64))
        k = scalar(kernel)
        for a, b in permutations(range(90), 2):
            if weights[a, b] and a % 64 != b % 64:
                wanted[a % 64, b % 64] += weights[a, b] * reference.h(k, X, Y, a, b) / 110.0
        np.testing.assert_allclose(summary.moments.sum(axis=0), wanted, rtol=1e-10, atol=1e-14)


def test_a_draw_is_the_statistic_after_swaps() -> None:
    plan = plan_for(STATISTIC, 90, 90, 11)
    summary = summarize_all(STATISTIC, Sample(X), Sample(Y), plan)[0]
    draws: Any = summary.draw(5, 3)
    signs = unpack(draws.signs.words, 5)[0]
    rows = STATISTIC.rows(BlockRange.of(plan))
    for found, sign in zip(summary.drawn(draws), signs.T, strict=True):
        swapped = sign[np.arange(90) % 64, None] < 0.0
        x, y = np.where(swapped, Y, X), np.where(swapped, X, Y)
        assert found == pytest.approx(drawn_values(Gaussian(1.0), x, y, rows).mean(), rel=1e-10)
    many = summary.drawn(summary.draw(20_000, 1))
    assert np.std(many) == pytest.approx(summary.deviation(), rel=0.05)
    centred = (many - many.mean()) / many.std()
    assert np.mean(centred**3) == pytest.approx(summary.draw_skewness(), abs=0.2)


def test_subsets_are_uniform_and_independent() -> None:
    """Counts of rows and of pairs of rows in 4000 blocks of 3 of 9: within 6.5 standard errors each, 1e-8 in all."""
    statistic = WithReplacement((Gaussian(1.0),))
    plan = plan_for(statistic, 9, 9, 3)
    rows = statistic.rows(BlockRange.of(plan, (0, 4000)))
    inside = np.zeros((4000, 9))
    np.put_along_axis(inside, rows, 1.0, axis=1)
    pairs = inside.T @ inside
    for share, counts in ((3 / 9, np.diag(pairs)), (6 / 72, pairs[~np.eye(9, dtype=bool)])):
        assert np.abs(counts - 4000 * share).max() < 6.5 * np.sqrt(4000 * share * (1.0 - share))
    agree = (inside[:-1] * inside[1:]).sum(axis=1)  # hypergeometric: mean 1, variance 1/2
    assert abs(agree.mean() - 1.0) < deviations() * np.sqrt(0.5 / 4000)
    np.testing.assert_array_equal(statistic.rows(BlockRange.of(plan, (17, 20))), rows[17:20])
    assert not np.array_equal(WithReplacement((Gaussian(1.0),), seed=1).rows(BlockRange.of(plan, (0, 20))), rows[:20])


def test_results_repeat_and_families_and_objects_work() -> None:
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 10, "statistic": WithReplacement}
    one = btest(X, Y, seed=1, **options)
    assert one == btest(X, Y, seed=1, n_threads=1, **options)
    assert one.statistic != btest(X, Y, seed=1, **options | {"statistic": partial(WithReplacement, seed=5)}).statistic
    assert "9 blocks of 10, drawn with replacement" in str(one)
    family = btest(X, Y, kernel=Aggregate(), statistic=WithReplacement, block_size=10, seed=1)
    assert len(family.candidates) > 1
    words = [f"{'ab' * (i % 5)}c" for i in range(40)]
    same = Pairwise(lambda p, q: float(p == q))
    assert btest(words, words[::-1], kernel=same, statistic=WithReplacement, block_size=10, seed=1).pvalue > 0.05
    alike = np.ones((30, 1))
    assert btest(alike, alike, kernel=Gaussian(1.0), statistic=WithReplacement, block_size=5, seed=1).pvalue == 1.0


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 10, "statistic": WithReplacement, "seed": 0}
    np.save(tmp_path / "x.npy", X)
    for x in (tmp_path / "x.npy", iter(np.split(X, 9))):
        with pytest.raises(ValueError, match=r"WithReplacement draws its blocks from all rows.* in memory"):
            btest(x, Y, **options)
    with pytest.raises(ValueError, match="must be in memory"):
        Stream(STATISTIC, 10).update(np.tile(X, (9, 1)), np.tile(Y, (9, 1)))
    with pytest.raises(ValueError, match="one length, got 90 and 80 rows"):
        btest(X, Y[:80], **options)
    for null, reason in (("cross-mmd", "share no rows"), ("tu", "share no rows"), ("permutation", "draws blocks")):
        with pytest.raises(ValueError, match=reason):
            btest(X, Y, **options | {"block_size": 90 if null == "permutation" else 10}, null=null)
    with pytest.raises(ValueError, match="no interval"):
        btest(X, Y, **options).confidence_interval()


def test_jackknife_and_bootstrap_are_those_of_the_block_values() -> None:
    """The bootstrap deviation of 20,000 resamples has a relative error of about .005: 10 % are beyond chance."""
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 3, "statistic": WithReplacement, "seed": 2}
    values = btest(X, Y, **options).block_values
    m = values.size
    left_out = np.array([np.delete(values, b).mean() for b in range(m)])
    jackknife = np.sqrt((m - 1.0) / m * np.sum((left_out - left_out.mean()) ** 2))
    found: Any = btest(X, Y, null="jackknife", **options).null_distribution
    assert found.sd == pytest.approx(jackknife, rel=1e-10)
    found = btest(X, Y, null=Bootstrap(20_000), **options).null_distribution
    assert found.sd == pytest.approx(jackknife * np.sqrt((m - 1.0) / m), rel=0.1)
    with pytest.raises(ValueError, match="at least 2 of them, got 1"):
        btest(X, Y, kernel=Gaussian(1.0), null="bootstrap", block_size=90)
    with pytest.raises(ValueError, match="n_resamples must be a whole number of at least 2"):
        Bootstrap(1)


def test_level() -> None:
    """600 tests of 60 rows in blocks of 10 at 10 %: between the bounds of a binomial, false alarm 1e-6."""
    rejections = 0
    for seed in range(600):
        x, y = np.random.default_rng(seed).exponential(size=(2, 60, 1))
        found = btest(
            x, y, kernel=Gaussian(1.0), statistic=WithReplacement, block_size=10, null=SignFlip(99), seed=seed
        )
        rejections += found.rejects(0.1)
    low, high = count_bounds(600, 0.1, 0.1)
    assert low <= rejections <= high


def test_the_average_over_draws_of_blocks_is_the_estimate_of_all_rows() -> None:
    """Averages of 300 draws of 9 blocks: within the two-sided t quantile of a false alarm of 1e-6."""
    samples, means = (Sample(X), Sample(Y)), []
    for seed in range(300):
        statistic = WithReplacement((Gaussian(1.0),), seed=seed)
        means.append(summarize_all(statistic, *samples, plan_for(statistic, 90, 90, 10))[0].mean())
    whole = btest(X, Y, kernel=Gaussian(1.0), block_size=90, shuffle=False, seed=0).statistic
    error = np.std(means, ddof=1) / np.sqrt(300)
    assert abs(np.mean(means) - whole) < deviations(299) * error
