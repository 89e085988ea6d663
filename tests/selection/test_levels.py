"""A kernel chosen on one half and sign flips on the other: the level is exact, whatever the choice."""

from __future__ import annotations

import numpy as np
import pytest

from btests import CrossValidation, MaxMMD, MaxRatio, MedianFamily, PerCoordinate, Selector, SignFlip, Weights, btest
from tests.bounds import count_bounds

SELECTORS: list[Selector] = [
    MaxMMD(),
    MaxRatio(),
    Weights(),
    Weights(MedianFamily()),
    Weights(PerCoordinate()),
    CrossValidation(MedianFamily()),
]
N_TRIALS = 400


@pytest.mark.filterwarnings("ignore::btests.SelectionWarning")
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (50, 80)])
def test_level(selector: Selector, n_x: int, n_y: int) -> None:
    """At 5 and 20 % over 400 skewed samples, each within binomial bounds; false alarm 1e-6 / 24 each."""
    pvalues = []
    for seed in range(N_TRIALS):
        rng = np.random.default_rng([seed, n_x])
        x, y = rng.exponential(size=(n_x, 2)), rng.exponential(size=(n_y, 2))
        pvalues.append(btest(x, y, kernel=selector, null=SignFlip(99), seed=seed).pvalue)
    for alpha in (0.05, 0.2):
        # Exact for samples of one length; where lengths differ, nearly.
        slack = 0.0 if n_x == n_y else 0.02
        low, high = count_bounds(N_TRIALS, alpha - slack, alpha + slack, 1e-6 / 24)
        assert low <= sum(p <= alpha for p in pvalues) <= high


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_power(selector: Selector) -> None:
    """Three times the spread in one of two coordinates and 1000 rows: found in 20 of 20 samples."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)) * [3.0, 1.0]
        assert btest(x, y, kernel=selector, seed=seed).rejects(0.05)
