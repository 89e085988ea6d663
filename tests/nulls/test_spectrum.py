"""The spectrum null: eigenvalues, all of them and the leading ones, and the law that they give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from btests import Energy, Gaussian, Kernel, Linear, Spectrum, btest
from btests.nulls import spectrum
from btests.nulls.spectrum import Eigenvalues, all_eigenvalues, leading_eigenvalues
from btests.statistics.tiled_gram import relabelled_mean, relabelled_sd
from tests.bounds import FALSE_ALARM, count_bounds, deviations
from tests.nulls.summaries import gram_of, two_samples
from tests.reference import Array


def centred(kernel: Kernel, n: int) -> Array:
    """Return the centred Gram matrix of normal rows."""
    x = np.random.default_rng(n).normal(size=(n, 2))
    centring = np.eye(n) - 1.0 / n
    return np.asarray(centring @ kernel(x, x) @ centring)


@pytest.mark.parametrize(("kernel", "digits"), [(Gaussian(1.0), 1e-6), (Gaussian(0.2), 0.1), (Energy(), 1e-2)])
def test_leading_eigenvalues_are_the_first_of_all(kernel: Kernel, digits: float) -> None:
    matrix = centred(kernel, 600)
    every = all_eigenvalues(matrix).leading
    found = leading_eigenvalues(matrix, 64, np.random.default_rng(0))
    np.testing.assert_allclose(found.leading[:20], every[:20], rtol=digits)
    # Whatever they miss is in the rest: mean and variance of the law are exact.
    assert found.leading.sum() + found.rest == pytest.approx(every.sum(), rel=1e-12)
    assert (found.leading**2).sum() + found.rest_norm**2 == pytest.approx((every**2).sum(), rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(0.2), Gaussian(0.02), Energy()], ids=repr)
def test_leading_and_all_eigenvalues_give_one_law(kernel: Kernel) -> None:
    """Two samples of 20,000 draws: Kolmogorov-Smirnov at a false alarm of 1e-6, so laws within about 0.025."""
    matrix = centred(kernel, 600)
    rng = np.random.default_rng(1)
    one = spectrum._draw(all_eigenvalues(matrix), 20_000, rng)
    two = spectrum._draw(leading_eigenvalues(matrix, 128, rng), 20_000, rng)
    assert stats.ks_2samp(one, two).pvalue > FALSE_ALARM / 4


def test_draws_of_one_eigenvalue_are_chi_squared() -> None:
    draws = spectrum._draw(Eigenvalues(np.array([2.0]), 0.0, 0.0), 5000, np.random.default_rng(0))
    assert stats.kstest(draws / 2.0, stats.chi2(1).cdf).pvalue > FALSE_ALARM


def test_draws_of_the_rest_are_normal() -> None:
    draws = spectrum._draw(Eigenvalues(np.array([]), 3.0, 0.5), 5000, np.random.default_rng(0))
    assert stats.kstest(draws, stats.norm(3.0, math.sqrt(2.0) * 0.5).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "99", None])
def test_number_of_draws(number: int) -> None:
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        Spectrum(number)


def test_an_empty_spectrum() -> None:
    rng = np.random.default_rng(0)
    assert leading_eigenvalues(np.zeros((200, 200)), 16, rng)[1:] == (0.0, 0.0)


@pytest.mark.parametrize(("n_x", "n_y"), [(50, 50), (30, 80)])
def test_law_has_the_mean_of_all_relabellings(n_x: int, n_y: int) -> None:
    """(1/n_x + 1/n_y) tr(HKH) / (N - 1), and the variance of the chi-squares: 20,000 draws, false alarm 1e-6 in all."""
    x, y = two_samples(n_x, n_y)
    null_distribution = Spectrum(20_000).distribution(gram_of(x, y), 0)
    rows, n = np.concatenate([x, y]), n_x + n_y
    centring = np.eye(n) - 1.0 / n
    values = np.linalg.eigvalsh(centring @ Gaussian(1.0)(rows, rows) @ centring) / (n - 1) * n / (n_x * n_y)
    sd = math.sqrt(2.0 * (values**2).sum())
    bound = deviations(false_alarm=FALSE_ALARM / 2)
    assert abs(null_distribution.draws.mean() - values.sum()) < bound * sd / math.sqrt(20_000)
    fourth = float(np.mean(((null_distribution.draws - values.sum()) / sd) ** 4))
    assert abs(null_distribution.draws.var() / sd**2 - 1.0) < bound * math.sqrt((fourth - 1.0) / 20_000)


def test_linear_kernel_in_one_dimension_is_a_squared_normal() -> None:
    """MMD_b^2 is the squared difference of the means; the law has one eigenvalue: the pooled variance."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 1)), rng.normal(0.4, 1.0, size=(60, 1))
    result = btest(x, y, kernel=Linear(), null=Spectrum(100_000), seed=1)
    difference = float(x.mean() - y.mean())
    assert result.statistic == pytest.approx(difference**2, rel=1e-10)
    variance = np.concatenate([x, y]).var(ddof=1) * (1 / 40 + 1 / 60)
    wanted = float(stats.chi2(1).sf(difference**2 / variance))
    low, high = count_bounds(100_000, wanted, wanted)
    assert low <= result.pvalue * 100_001 - 1 <= high


def test_many_rows_take_the_leading_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = two_samples(400, 300, 0.02)
    full = btest(x, y, kernel=Gaussian(1.0), null=Spectrum(20_000), seed=1)
    monkeypatch.setattr(spectrum, "_FULL", 100)
    some = btest(x, y, kernel=Gaussian(1.0), null=Spectrum(20_000), seed=1)
    assert some.statistic == full.statistic
    # Two estimates of one p-value from 20,000 draws each.
    assert abs(some.pvalue - full.pvalue) < deviations() * math.sqrt(2 * 0.25 / 20_000)
    assert btest(x, y, kernel=Gaussian(1.0), null=Spectrum(20_000), seed=1) == some


@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (40, 100)])
def test_the_level_is_nearly_held(n_x: int, n_y: int) -> None:
    """500 tests at 5 %, consistent but not exact: a true level of 3 to 7 % passes, false alarm 1e-6 / 2 each."""
    rejections = 0
    for seed in range(500):
        rng = np.random.default_rng([seed, n_x])
        x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
        rejections += btest(x, y, kernel=Gaussian(1.0), null=Spectrum(199), seed=seed).rejects(0.05)
    low, high = count_bounds(500, 0.03, 0.07, FALSE_ALARM / 2)
    assert low <= rejections <= high


@pytest.mark.parametrize("bandwidth", [0.02, 0.2, 2.0])
@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (40, 90)])
def test_corrected_draws_have_the_moments_of_all_relabellings(bandwidth: float, n_x: int, n_y: int) -> None:
    gram = gram_of(*two_samples(n_x, n_y), Gaussian(bandwidth))
    draws = Spectrum(20_000).distribution(gram, 1).draws
    mean, sd = relabelled_mean(gram.margins()), relabelled_sd(gram.margins())
    # Mean and variance of sums of chi-squares, the worst of which is a single one: 6 standard errors, below 1e-8.
    assert abs(draws.mean() - mean) < 6.0 * sd / math.sqrt(20_000)
    assert abs(draws.var() / sd**2 - 1.0) < 6.0 * math.sqrt(14.0 / 20_000)


def test_the_correction_is_for_narrow_kernels_and_few_rows() -> None:
    def widths(bandwidth: float, n: int) -> float:
        gram = gram_of(*two_samples(n, n), Gaussian(bandwidth))
        one, two = (Spectrum(999, corrected=corrected).distribution(gram, 1).draws.std() for corrected in (True, False))
        return float(one / two)

    assert widths(0.05, 50) < 0.6 < widths(0.05, 400) < 1.0
    assert widths(2.0, 400) == pytest.approx(1.0, abs=0.01)


def test_a_narrow_kernel_keeps_the_level_with_the_correction() -> None:
    """150 tests of equal distributions: bounds of a false-alarm probability of 1e-6, which the published law fails."""
    rejected = {True: 0, False: 0}
    for i in range(150):
        rng = np.random.default_rng([5, i])
        x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
        for corrected in rejected:
            null = Spectrum(199, corrected=corrected)
            rejected[corrected] += btest(x, y, kernel=Gaussian(0.2), null=null, seed=i).rejects(0.3)
    low, high = count_bounds(150, 0.3, 0.3)
    assert low <= rejected[True] <= high
    assert rejected[False] < low


@pytest.mark.parametrize("corrected", [1, None, "yes"])
def test_corrected_is_true_or_false(corrected: bool) -> None:
    with pytest.raises(TypeError, match="corrected must be True or False"):
        Spectrum(corrected=corrected)
