"""How often a watched test ever raises a false alarm, on a few small problems; the full table is a study of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from btests import Gaussian, SequentialTest
from tests.bounds import FALSE_ALARM, count_bounds
from tests.reference import Array

N, N_TRIALS = 160, 300

Draw = Callable[[int, np.random.Generator], Array]
PROBLEMS: dict[str, Draw] = {
    "normal": lambda n, rng: rng.normal(size=(n, 1)),
    "heavy tails": lambda n, rng: rng.standard_t(2, size=(n, 2)),
    "coin": lambda n, rng: rng.integers(0, 2, size=(n, 1)).astype(np.float64),
}
LEVELS = (0.1, 0.05)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kernel", [None, Gaussian(1.0)])
def test_the_wealth_seldom_reaches_one_over_the_level(problem: str, kernel: Gaussian | None) -> None:
    """By Ville's inequality at most alpha of the runs: twelve binomial counts, a false alarm of 1e-6 in all."""
    counts = dict.fromkeys(LEVELS, 0)
    for seed in range(N_TRIALS):
        rng = np.random.default_rng(seed)
        watch = SequentialTest(kernel, window_size=64)
        watch.update(PROBLEMS[problem](N, rng), PROBLEMS[problem](N, rng))
        result = watch.result()
        for alpha in LEVELS:
            counts[alpha] += result.rejects(alpha)
    for alpha, count in counts.items():
        _, high = count_bounds(N_TRIALS, alpha, alpha, FALSE_ALARM / 12)
        assert count <= high, f"{count} of {N_TRIALS} at level {alpha}"
