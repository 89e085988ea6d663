"""The moment fits against all relabellings and all flips, and their laws against scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from btests import Energy, Gamma, Gaussian, Kernel, Linear, Pearson, Polynomial, btest
from btests.nulls import BetaDistribution, PearsonIIIDistribution
from btests.nulls.moment_matching import flip_moments
from btests.statistics.tiled_gram import relabelled_mean, relabelled_sd
from tests import reference
from tests.bounds import FALSE_ALARM, count_bounds
from tests.kernels.formulas import radial
from tests.nulls.summaries import gram_of, two_samples
from tests.reference import Array

GAUSSIAN = radial(1.0)[0].formula
# Kernels whose k(a, a) is constant, and whose is not.
KERNELS: list[Kernel] = [Gaussian(1.0), Gaussian(0.3), Energy(), Linear(), Polynomial(3)]


def biased_values(gram: Array, n_x: int) -> Array:
    """Return the biased MMD^2 of every way to call ``n_x`` of the rows x."""
    n = len(gram)
    values = []
    for chosen in itertools.combinations(range(n), n_x):
        rest = [i for i in range(n) if i not in chosen]
        xx, yy, xy = (gram[np.ix_(p, q)].mean() for p, q in ((chosen, chosen), (rest, rest), (chosen, rest)))
        values.append(xx + yy - 2.0 * xy)
    return np.array(values)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (2, 3), (3, 3), (2, 6), (5, 3), (4, 4)])
def test_gamma_has_the_moments_of_all_relabellings(kernel: Kernel, n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y, 0.5)
    rows = np.concatenate([x, y])
    values = biased_values(kernel(rows, rows), n_x)
    gram = gram_of(x, y, kernel)
    assert Gamma().statistic(gram) == pytest.approx(values[0], rel=1e-11)
    null_distribution = Gamma().distribution(gram, 0)
    assert null_distribution.mean == pytest.approx(values.mean(), rel=1e-11)
    assert null_distribution.sd == pytest.approx(values.std(), rel=1e-9)
    shape = (values.mean() / values.std()) ** 2
    wanted = stats.gamma.sf(values[0], shape, scale=values.mean() / shape)
    assert null_distribution.pvalue(values[0]) == pytest.approx(float(wanted), rel=1e-7)


def test_gamma_of_a_kernel_that_is_not_positive() -> None:
    """Nothing is promised for it, but the answer is a p-value."""
    x, y = two_samples(20, 20)
    gram = gram_of(x, y, lambda p, q: -Gaussian(1.0)(p, q))
    assert relabelled_mean(gram.margins()) < 0.0 < relabelled_sd(gram.margins())
    assert 0.0 < Gamma().distribution(gram, 0).pvalue(Gamma().statistic(gram)) <= 1.0


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n", [2, 3, 6])
def test_pearson_has_the_moments_of_all_flips(kernel: Kernel, n: int) -> None:
    x, y = two_samples(n, n, 0.5)
    gram = gram_of(x, y, kernel)
    h = gram.h_matrix()
    sums = reference.sign_sums(h[None]) / (n * (n - 1))
    null_distribution = Pearson().distribution(gram, 0)
    assert isinstance(null_distribution, PearsonIIIDistribution)
    assert null_distribution.sd == pytest.approx(math.sqrt(np.mean(sums**2)), rel=1e-10)
    assert null_distribution.skewness == pytest.approx(np.mean(sums**3) / np.mean(sums**2) ** 1.5, rel=1e-8, abs=1e-9)
    assert Pearson().statistic(gram) == pytest.approx(sums[0], rel=1e-10)


def test_pearson_statistic_is_the_papers() -> None:
    x, y = two_samples(12, 12, 0.5)
    wanted = reference.mmd_paired(GAUSSIAN, x.tolist(), y.tolist())
    assert Pearson().statistic(gram_of(x, y)) == pytest.approx(wanted, rel=1e-11)
    assert btest(x, y, kernel=Gaussian(1.0), null="pearson", shuffle=False).statistic == pytest.approx(
        wanted, rel=1e-11
    )


def test_third_moment_in_pieces() -> None:
    h = np.random.default_rng(0).normal(size=(1200, 1200))
    h += h.T
    np.fill_diagonal(h, 0.0)
    variance, third = 2.0 * (h**2).sum(), 8.0 * np.trace(h @ h @ h)
    sd, skewness = flip_moments(h.copy())
    assert sd == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert skewness == pytest.approx(third / variance**1.5, rel=1e-8)


@pytest.mark.parametrize("kurtosis", ["gamma", "bound"])
def test_pearson_refuses_different_lengths(kurtosis: str) -> None:
    x, y = two_samples(8, 9)
    with pytest.raises(
        ValueError, match=r"needs samples of one length, got 8 and 9 rows; take null=Gamma\(\), null=Sp"
    ):
        btest(x, y, null=Pearson(kurtosis), seed=1)


@pytest.mark.parametrize("kurtosis", ["normal", "", None, 3])
def test_kurtosis_is_one_of_two(kurtosis: str) -> None:
    with pytest.raises(ValueError, match="kurtosis must be 'gamma' or 'bound', got"):
        Pearson(kurtosis)


# The law with the authors' kurtosis


@pytest.mark.parametrize("skewness", [-2.8, -1.0, 0.0, 0.05, 0.5, 1.0, 1.3, 1.38, 1.45, 1.6, 2.0, 2.8])
def test_bound_law_has_its_moments(skewness: float) -> None:
    """By the quantiles: the mean of their powers over a fine grid of levels."""
    null_distribution = BetaDistribution(2.0, skewness)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    # Levels crowd at both ends, where the tails are: u = s^2 (3 - 2 s) has no weight there.
    s = (nodes + 1.0) / 2.0
    levels, weights = s**2 * (3.0 - 2.0 * s), weights / 2.0 * 6.0 * s * (1.0 - s)
    z = np.array([null_distribution.threshold(float(level)) for level in levels]) / 2.0
    moments = [float(weights @ z**k) for k in (1, 2, 3, 4)]
    assert moments[0] == pytest.approx(0.0, abs=1e-4)
    assert moments[1] == pytest.approx(1.0, rel=1e-3)
    assert moments[2] == pytest.approx(skewness, rel=1e-2, abs=1e-3)
    assert moments[3] == pytest.approx(2.0 * (skewness**2 + 1.0), rel=0.1)


@pytest.mark.parametrize("skewness", [-2.8, -0.5, 0.0, 0.5, 1.4, math.sqrt(2.0), 1.42, 2.0, 2.8])
@pytest.mark.parametrize("alpha", [1e-4, 0.01, 0.05, 0.5, 0.95])
def test_bound_law_agrees_with_itself(skewness: float, alpha: float) -> None:
    null_distribution = BetaDistribution(0.1, skewness)
    assert null_distribution.pvalue(null_distribution.threshold(alpha)) == pytest.approx(alpha, rel=1e-8)
    assert 0.0 < null_distribution.pvalue(1e6) <= null_distribution.pvalue(0.0) <= null_distribution.pvalue(-1e6) <= 1.0


@pytest.mark.parametrize("z", [-0.5, 0.5, 1.645, 3.0])
def test_bound_law_meets_pearson_three(z: float) -> None:
    for square in (1.98, 1.9999, 2.0, 2.0001, 2.02):
        wanted = PearsonIIIDistribution(1.0, math.sqrt(2.0)).pvalue(z)
        assert BetaDistribution(1.0, math.sqrt(square)).pvalue(z) == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("z", [-1.0, 0.0, 1.0, 1.7, 2.5])
def test_bound_law_is_scipys_beta(z: float) -> None:
    """Skewness 0 and kurtosis 2: beta with both parameters 3/2. A squared skewness of 8: beta prime, b = 10."""
    beta = stats.beta(1.5, 1.5)
    assert BetaDistribution(1.0, 0.0).pvalue(z) == pytest.approx(
        max(float(beta.sf(0.5 + z * beta.std())), 5e-308), rel=1e-9
    )
    a = BetaDistribution(1.0, math.sqrt(8.0))._shape().a
    prime = stats.betaprime(a, 10.0)
    assert prime.stats("s") == pytest.approx(math.sqrt(8.0), rel=1e-9)
    wanted = float(prime.sf(prime.mean() + z * prime.std()))
    assert BetaDistribution(1.0, math.sqrt(8.0)).pvalue(z) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("null", [Gamma(), Pearson(), Pearson("bound")], ids=repr)
def test_the_level_is_in_the_region(null: Gamma | Pearson) -> None:
    """500 tests at 5 %: approximations, so that a true level of 2 to 8 % passes; false alarm 1e-6 / 3 each."""
    rejections = 0
    for seed in range(500):
        rng = np.random.default_rng([seed, 17])
        x, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
        rejections += btest(x, y, kernel=Gaussian(1.0), null=null, seed=seed).rejects(0.05)
    low, high = count_bounds(500, 0.02, 0.08, FALSE_ALARM / 3)
    assert low <= rejections <= high
