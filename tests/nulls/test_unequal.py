"""Samples of unequal sizes: relabellings, and what swaps of partners move."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from btests import CrossMMD, FewBlocksWarning, Gaussian, SignFlip, ThirdCumulant, btest
from btests.plan import Plan
from tests import reference
from tests.bounds import FALSE_ALARM, count_bounds, deviations
from tests.nulls.summaries import summarize

SIZES = [(2, 3), (2, 8), (3, 4), (5, 10), (20, 10), (40, 37), (36, 50)]


@pytest.mark.parametrize(("b", "c"), [(2, 2), (2, 3), (3, 4), (2, 6), (4, 4), (5, 3)])
def test_variance_over_all_relabellings_is_closed(b: int, c: int) -> None:
    points = np.random.default_rng(b + c).normal(size=(b + c, 2))
    gram = Gaussian(1.0)(points, points)
    values = reference.relabelled_values(gram, b)
    assert values.size == math.comb(b + c, b)
    assert values.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.mean(values**2) == pytest.approx(reference.relabelling_variance(gram, b), rel=1e-10)


@pytest.mark.parametrize(("b", "c"), SIZES)
def test_cores_are_what_swaps_move(b: int, c: int) -> None:
    """The statistic of really swapped rows is a constant plus s'Cs, s with a last entry of 1."""
    rng = np.random.default_rng([b, c])
    x, y = rng.normal(size=(b, 2)), rng.normal(0.5, 1.0, size=(c, 2))
    summary = summarize(x, y, 1, Gaussian(1.0))
    core, n_groups = summary.moments[0], summary.plan.n_groups
    constant = summary.mean() - float(core.sum())
    for _ in range(10):
        signs = np.append(rng.choice([-1.0, 1.0], n_groups), 1.0)
        p, q = x.copy(), y.copy()
        swap = np.flatnonzero(signs[np.arange(min(b, c)) % n_groups] < 0)
        p[swap], q[swap] = y[swap], x[swap]
        assert summarize(p, q, 1, Gaussian(1.0)).mean() == pytest.approx(constant + signs @ core @ signs, abs=1e-13)


@pytest.mark.parametrize(("n_x", "n_y", "n_blocks"), [(3, 5, 1), (6, 4, 2), (7, 12, 3)])
def test_laws_are_those_of_all_swaps(n_x: int, n_y: int, n_blocks: int) -> None:
    rng = np.random.default_rng([n_x, n_y])
    summary = summarize(rng.normal(size=(n_x, 1)), rng.normal(size=(n_y, 1)), n_blocks, Gaussian(1.0))
    moments, plan = summary.moments / n_blocks, summary.plan
    constant = summary.mean() - float(moments.sum())
    values = []
    for pattern in itertools.product([1.0, -1.0], repeat=plan.n_strata * plan.n_groups):
        signs = np.hstack([np.reshape(pattern, (plan.n_strata, -1)), np.ones((plan.n_strata, 1))])
        values.append(constant + float(np.einsum("fu,fuv,fv->", signs, moments, signs)))
    null_distribution = SignFlip(2**12).distribution(summary, 0)
    assert null_distribution.exhaustive
    np.testing.assert_allclose(null_distribution.draws, np.sort(values), atol=1e-13)
    with pytest.warns(FewBlocksWarning):
        closed = ThirdCumulant().distribution(summary, 0)
    assert closed.mean == pytest.approx(np.mean(values), abs=1e-13)
    assert closed.sd == pytest.approx(np.std(values), rel=1e-10)
    deviations_ = np.array(values) - np.mean(values)
    assert closed.skewness == pytest.approx(np.mean(deviations_**3) / np.std(values) ** 3, abs=1e-9)


@pytest.mark.parametrize(("n_x", "n_y"), [(10, 1000), (200, 20)])
def test_rare_values_do_not_reject_too_often(n_x: int, n_y: int) -> None:
    """Flips between means over few and over many rows would reject in most trials; false alarm 1e-6 / 2 each."""
    trials = 500
    rejections = 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, n_x])
        result = btest(rng.random(n_x) < 0.05, rng.random(n_y) < 0.05, kernel=Gaussian(1.0), seed=seed)
        rejections += result.rejects(0.05)
    assert rejections <= count_bounds(trials, 0.05, 0.05, FALSE_ALARM / 2)[1]


def test_cross_blocks_refuse_different_lengths() -> None:
    with pytest.raises(ValueError, match=r"needs samples of one length, got 8 and 9 rows; take null=SignFlip"):
        btest(np.arange(8.0), np.arange(9.0), null=CrossMMD(), seed=1)


@pytest.mark.parametrize(("n_x", "n_y", "n_blocks"), [(40, 40, 20), (100, 100, 3)])
def test_third_cumulant_has_the_variance_of_the_statistic(n_x: int, n_y: int, n_blocks: int) -> None:
    """Under H0 statistic^2 - sd^2 is 0 on average: 800 trials against their standard error, false alarm 1e-6 / 2."""
    differences = []
    for seed in range(800):
        rng = np.random.default_rng([seed, n_x, n_y])
        summary = summarize(rng.normal(size=(n_x, 1)), rng.normal(size=(n_y, 1)), n_blocks)
        differences.append(summary.mean() ** 2 - ThirdCumulant().distribution(summary, 0).sd ** 2)
    error = float(np.mean(differences)) / (float(np.std(differences, ddof=1)) / math.sqrt(800))
    assert abs(error) < deviations(799, FALSE_ALARM / 2)


@pytest.mark.parametrize(("n", "n_blocks", "share"), [(40, 20, 1.0), (320, 10, 1.0), (64, 1, 1.0 - 1.0 / 63.0)])
def test_share_of_paired_samples(n: int, n_blocks: int, share: float) -> None:
    """One row a group: flips move every pair. Two rows a group: all but one of 63 that a row is in."""
    assert Plan(n, n, n_blocks).flipped_share() == pytest.approx(share, rel=1e-12)
