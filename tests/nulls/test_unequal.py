"""Samples of unequal sizes: relabellings, and the variance of cores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from btests import Gaussian, ThirdCumulant
from btests.blocks import Blocks
from tests import reference
from tests.bounds import FALSE_ALARM, deviations
from tests.nulls.summaries import summarize

SIZES = [(2, 3), (2, 8), (3, 4), (5, 10), (10, 20), (40, 40), (36, 50)]


@pytest.mark.parametrize(("b", "c"), [(2, 2), (2, 3), (3, 4), (2, 6), (4, 4), (5, 3)])
def test_variance_over_all_relabellings_is_closed(b: int, c: int) -> None:
    points = np.random.default_rng(b + c).normal(size=(b + c, 2))
    gram = Gaussian(1.0)(points, points)
    values = reference.relabelled_values(gram, b)
    assert values.size == math.comb(b + c, b)
    assert values.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.mean(values**2) == pytest.approx(reference.relabelling_variance(gram, b), rel=1e-10)


@pytest.mark.parametrize(("b", "c"), SIZES)
def test_cores_have_the_variance_of_the_relabellings_on_average(b: int, c: int) -> None:
    """Under H0 the average of 2 sum C^2, over the share that flips move, is that of the closed variance c V.

    Differences of 400 blocks against their standard error: false alarm 1e-6 / 7 for each pair of sizes.
    """
    m = 400
    rng = np.random.default_rng([b, c])
    x, y = rng.normal(size=(m * b, 2)), rng.normal(size=(m * c, 2))
    differences = []
    kernel = Gaussian(1.0)
    for i in range(m):
        p, q = x[i * b : (i + 1) * b], y[i * c : (i + 1) * c]
        blocks = Blocks(b, c, 1)
        core = summarize(p, q, 1, kernel).cores[0]
        pooled = np.concatenate([p, q])
        closed = reference.relabelling_variance(kernel(pooled, pooled), b)
        if b == c:  # the paired estimate leaves out k(x_a, y_a)
            closed *= 8.0 / (b * (b - 1)) / reference.relabelling_factor(b, b)
        differences.append(2.0 * float((core**2).sum()) / blocks.flipped_share() - closed)
    error = float(np.mean(differences)) / (float(np.std(differences, ddof=1)) / math.sqrt(m))
    assert abs(error) < deviations(m - 1, FALSE_ALARM / len(SIZES))


@pytest.mark.parametrize(("n_x", "n_y", "n_blocks"), [(40, 40, 20), (100, 100, 3), (40, 400, 20), (40, 2000, 20)])
def test_third_cumulant_has_the_variance_of_the_statistic(n_x: int, n_y: int, n_blocks: int) -> None:
    """Under H0 statistic^2 - sd^2 is 0 on average: 800 trials against their standard error, false alarm 1e-6 / 4."""
    differences = []
    for seed in range(800):
        rng = np.random.default_rng([seed, n_x, n_y])
        summary = summarize(rng.normal(size=(n_x, 1)), rng.normal(size=(n_y, 1)), n_blocks)
        differences.append(summary.mean() ** 2 - ThirdCumulant().learn(summary, 0).sd ** 2)
    error = float(np.mean(differences)) / (float(np.std(differences, ddof=1)) / math.sqrt(800))
    assert abs(error) < deviations(799, FALSE_ALARM / 4)


@pytest.mark.parametrize(("n", "n_blocks", "share"), [(40, 20, 1.0), (320, 10, 1.0), (64, 1, 1.0 - 1.0 / 63.0)])
def test_share_of_paired_samples(n: int, n_blocks: int, share: float) -> None:
    """One row a group: flips move every pair. Two rows a group: all but one of 63 that a row is in."""
    assert Blocks(n, n, n_blocks).flipped_share() == pytest.approx(share, rel=1e-12)
