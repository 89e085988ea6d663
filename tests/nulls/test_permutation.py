"""Permutations against all ways to relabel the rows, done by hand and by scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from btests import Gaussian, Permutation, btest
from btests.nulls.permutation import _random_labels
from tests import reference
from tests.bounds import count_bounds
from tests.kernels.formulas import radial
from tests.nulls.summaries import gram_of, two_samples

GAUSSIAN = radial(1.0)[0].formula


@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (2, 3), (3, 4), (5, 3), (5, 5)])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_exhaustive_law_is_every_relabelling(n_x: int, n_y: int, shift: float) -> None:
    x, y = two_samples(n_x, n_y, shift)
    rows = np.concatenate([x, y])
    gram = gram_of(x, y)
    null_distribution = Permutation().distribution(gram, seed=0)
    values = reference.relabelled_values(Gaussian(1.0)(rows, rows), n_x)
    assert null_distribution.exhaustive
    np.testing.assert_allclose(null_distribution.draws, np.sort(values), rtol=1e-12, atol=1e-14)
    statistic = Permutation().statistic(gram)
    assert statistic == pytest.approx(reference.mmd_unpaired(GAUSSIAN, x.tolist(), y.tolist()), rel=1e-11)
    assert null_distribution.pvalue(statistic) == float(np.mean(values >= values[0] - 1e-12))


@pytest.mark.parametrize(("n_x", "n_y"), [(3, 4), (4, 4), (6, 3)])
def test_scipy_finds_the_same_pvalue(n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y, 1.0)
    rows = np.concatenate([x, y])

    def statistic(p: Any, q: Any) -> float:
        return reference.mmd_unpaired(GAUSSIAN, rows[p].tolist(), rows[q].tolist())

    numbers = np.arange(n_x + n_y)
    wanted = stats.permutation_test(
        (numbers[:n_x], numbers[n_x:]), statistic, n_resamples=9999, alternative="greater", vectorized=False
    )
    found = btest(x, y, kernel=Gaussian(1.0), null=Permutation(), seed=1)
    assert found.statistic == pytest.approx(float(wanted.statistic), rel=1e-11)
    assert found.pvalue == pytest.approx(float(wanted.pvalue), rel=1e-12)


@pytest.mark.parametrize(("n_x", "n_y"), [(20, 20), (9, 14)])
def test_random_draws_are_those_of_their_labels(n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y, 0.5)
    rows = np.concatenate([x, y])
    labels = _random_labels(n_x, n_y, 30, seed=5)
    assert (labels.sum(axis=1) == n_x).all()
    assert len(np.unique(labels, axis=0)) == 30
    values = [reference.mmd_unpaired(GAUSSIAN, rows[a].tolist(), rows[~a].tolist()) for a in labels]
    null_distribution = Permutation(30).distribution(gram_of(x, y), seed=5)
    assert not null_distribution.exhaustive
    np.testing.assert_allclose(null_distribution.draws, np.sort(values), rtol=1e-11, atol=1e-14)


def test_ties_do_not_depend_on_the_order_of_additions() -> None:
    """Few different values: most relabellings are ties of others, and rounding must not tell them apart."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 2, size=(n, 1)).astype(float) for n in (30, 34))
    gram = gram_of(x, y)
    null_distribution, statistic = Permutation(999).distribution(gram, 1), gram.margins().unbiased()
    ones = _random_labels(30, 34, 999, 1) @ np.concatenate([x, y])[:, 0]
    # The statistic depends on the share of ones in x alone, and grows with its distance from that in y.
    distance = np.abs(ones / 30 - (np.concatenate([x, y]).sum() - ones) / 34)
    observed = abs(x.mean() - y.mean())
    assert null_distribution.pvalue(statistic) == (1 + int((distance >= observed - 1e-9).sum())) / 1000


def test_draws_have_the_closed_variance() -> None:
    """Mean and variance of 4000 draws: 5.5 standard errors, false alarm below 1e-6 in all."""
    x, y = two_samples(30, 45)
    rows = np.concatenate([x, y])
    null_distribution = Permutation(4000).distribution(gram_of(x, y), seed=1)
    z = null_distribution.draws / math.sqrt(reference.relabelling_variance(Gaussian(1.0)(rows, rows), 30))
    assert abs(z.mean()) < 5.5 / math.sqrt(4000)
    assert abs(np.mean(z**2) - 1.0) < 5.5 * math.sqrt((float(np.mean(z**4)) - 1.0) / 4000)


def test_the_level_is_held() -> None:
    """400 tests of 15 and 20 equal rows at 10 %: between the bounds of a binomial, false alarm 1e-6."""
    rejections = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(15, 1)), rng.normal(size=(20, 1))
        rejections += btest(x, y, kernel=Gaussian(1.0), null=Permutation(99), seed=seed).rejects(0.1)
    low, high = count_bounds(400, 0.1, 0.1)
    assert low <= rejections <= high


def test_seeds_and_threads() -> None:
    x, y = two_samples(300, 260, 0.05)
    one, two = (btest(x, y, null="permutation", seed=7, n_threads=n) for n in (1, 2))
    assert one == two
    assert one.null == Permutation()
    assert btest(x, y, null="permutation", seed=8).pvalue != one.pvalue


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "99", None])
def test_number_of_resamples(number: int) -> None:
    with pytest.raises(ValueError, match="n_resamples must be a whole number of at least 1"):
        Permutation(number)
