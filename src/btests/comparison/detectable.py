"""Smallest changes of one column that the rows of a comparison would have shown, by approximation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, chndtr, chndtrix, ndtr, ndtri

from btests.comparison.cells import Cells
from btests.comparison.features import N_COSINES
from btests.plan import Array

#: Power at which a change counts as one that the rows would have shown.
POWER = 0.8

# Points and ends of the grid on which a standard normal is integrated.
_POINTS, _END = 512, 7.0

# Steps of bisection, and the largest shift in standard deviations.
_STEPS, _MOST = 40, 20.0


@dataclass(frozen=True, slots=True)
class PowerSetting:
    """Numbers of rows and tests that the power of column tests depends on.

    Attributes
    ----------
    n_a, n_b : int
        Rows of both sides.
    n_signs : int
        Number of signs that are drawn: of groups of rows that swap sides, or of bins that are relabelled.
    level : float
        Level of the test of one column, corrected for all tests.
    """

    n_a: int
    n_b: int
    n_signs: int
    level: float

    @property
    def n_effective(self) -> float:
        """Rows n such that the variance of a difference of means is 1 / n times that of a row."""
        return self.n_a * self.n_b / (self.n_a + self.n_b)


def column_level(columns: Sequence[Cells], alpha: float, weight: float) -> float:
    """Return the level of the test of one column: the part of alpha for columns, by Bonferroni's correction.

    ``weight`` is the part of alpha that all columns share. Missing cells have a test of their own.
    """
    return alpha * weight / sum(1 + bool(cells.missing.any()) for cells in columns)


def detectable_share(design: PowerSetting, n_levels: int) -> float | None:
    """Return the change of the share of a value, around one half, that is found with power ``POWER``; None if none is.

    ``n_levels`` is the number of values of the column: with more than two, each is tested, and all of them together.
    """
    level = design.level if n_levels <= 2 else design.level / (2 + n_levels)
    critical = -float(ndtri(0.5 * level))

    def power(share: float) -> float:
        z = share * np.sqrt(design.n_effective) / np.sqrt(0.25 - 0.25 * share**2)
        return float(ndtr(z - critical * np.sqrt(1.0 + z**2 / design.n_signs)))

    return _smallest(power, 1.0 - 1e-9)


def detectable_shift(design: PowerSetting) -> float | None:
    """Return the shift of a normal column, in standard deviations, found with power ``POWER``; None if none is."""
    return _smallest(lambda shift: _power_of_shift(design, shift), _MOST)


def _smallest(power: Callable[[float], float], most: float) -> float | None:
    """Return by bisection where an increasing power reaches ``POWER``; None if it does not up to ``most``."""
    if power(most) < POWER:
        return None
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def _power_of_shift(design: PowerSetting, shift: float) -> float:
    r"""Return the power of the test of one number, whose two sides are normal, one of them shifted.

    The statistic is the squared length of sqrt(n) times the difference of the mean features, n ``n_effective``: normal
    with mean m and covariance S within the sides. Its null distribution, over the signs, is that of a centred normal
    with covariance S + m m' / ``n_signs``. Both squared lengths are approximated by four moments.
    """
    x = np.linspace(-_END, _END + shift, _POINTS)
    densities = np.exp(-0.5 * (x - np.array([[0.0], [shift]])) ** 2)
    densities /= densities.sum(axis=1, keepdims=True)
    shares = np.array([design.n_a, design.n_b]) / (design.n_a + design.n_b)
    features = _features(x, shares[0] * ndtr(x) + shares[1] * ndtr(x - shift), shares @ densities)
    means = densities @ features
    within = sum(
        share * (features - mean).T @ ((features - mean) * density[:, None])
        for share, mean, density in zip(shares, means, densities, strict=True)
    )
    m = np.sqrt(design.n_effective) * (means[1] - means[0])
    critical = _isf(design.level, _cumulants(within + np.outer(m, m) / design.n_signs, np.zeros_like(m)))
    return _sf(critical, _cumulants(within, m))


def _features(x: Array, rank: Array, weights: Array) -> Array:
    """Return the features of numbers in tests of columns: (p,) twice and their probabilities (p,) to (p, 9)."""
    cosines = [np.sqrt(2.0 / j) * np.cos(np.pi * j * rank) for j in range(1, N_COSINES + 1)]
    # The scale of arcsinh is robust: that of the pooled rows, here by their standard deviation.
    centre = weights @ x
    values = np.arcsinh((x - centre) / np.sqrt(weights @ (x - centre) ** 2))
    return np.stack([*cosines, values / np.sqrt(weights @ (values - weights @ values) ** 2)], axis=1)


def _cumulants(covariance: Array, mean: Array) -> Array:
    """Return c_k = tr S^k + k m' S^(k - 1) m, k = 1 .. 4, of the squared length of a normal vector: (4,)."""
    power, found = np.eye(len(mean)), []
    for k in range(1, 5):
        before, power = power, power @ covariance
        found.append(np.trace(power) + k * mean @ before @ mean)
    return np.array(found)


def _matched(c: Array) -> tuple[float, float, float]:
    """Return degrees of freedom, noncentrality and scale of the chi-squared distribution with these cumulants.

    Liu, Tang, Zhang (2009), "A new chi-square approximation to the distribution of non-negative definite quadratic
    forms in non-central normal variables".
    """
    skewness, kurtosis = c[2] / c[1] ** 1.5, c[3] / c[1] ** 2
    if skewness**2 <= kurtosis:
        return float(1.0 / skewness**2), 0.0, float(1.0 / skewness)
    a = 1.0 / (skewness - np.sqrt(skewness**2 - kurtosis))
    noncentral = skewness * a**3 - a**2
    return float(a**2 - 2.0 * noncentral), float(noncentral), float(a)


def _sf(value: float, c: Array) -> float:
    """Return the probability that a squared length with these cumulants is larger than ``value``."""
    freedom, noncentral, a = _matched(c)
    standard = (value - c[0]) / np.sqrt(2.0 * c[1])
    at = max(0.0, standard * np.sqrt(2.0) * a + freedom + noncentral)
    return float(1.0 - chndtr(at, freedom, noncentral))


def _isf(level: float, c: Array) -> float:
    """Return the value that a squared length with these cumulants exceeds with probability ``level``."""
    freedom, noncentral, a = _matched(c)
    upper = chdtri(freedom, level) if noncentral == 0.0 else chndtrix(1.0 - level, freedom, noncentral)
    return float(c[0] + np.sqrt(2.0 * c[1]) * (upper - freedom - noncentral) / (np.sqrt(2.0) * a))
