"""The level of the default test on a few small problems; the full table is a study of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.datasets import blobs
from tests.bounds import FALSE_ALARM, count_bounds
from tests.reference import Array

N = 200

Draw = Callable[[int, np.random.Generator], Array]
PROBLEMS: dict[str, Draw] = {
    "normal": lambda n, rng: rng.normal(size=(n, 1)),
    "blobs": blobs,
    "heavy tails": lambda n, rng: rng.standard_t(2, size=(n, 2)),
}
LEVELS = (0.05, 0.01)


def rejections(draw: Draw, n_x: int, n_y: int, block_size: int) -> tuple[int, dict[float, int]]:
    """Return the number of trials, and how often two samples of one distribution are told apart, per level.

    The kernels are those of the default for blocks of 14, and one that is given, which is faster, for
    others.
    """
    kernel, n_trials = (None, 500) if block_size == 14 else (Gaussian(2.0), 1200)
    counts = dict.fromkeys(LEVELS, 0)
    for seed in range(n_trials):
        rng = np.random.default_rng([seed, block_size, n_y])
        result = btest(draw(n_x, rng), draw(n_y, rng), kernel=kernel, block_size=block_size, seed=seed)
        for alpha in LEVELS:
            counts[alpha] += result.rejects(alpha)
    return n_trials, counts


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("block_size", [2, 14, 100])
def test_level_is_exact(problem: str, block_size: int) -> None:
    """Sign flips are exact for equal sizes: binomial counts, 18 of them, with a false alarm of 1e-6 in all."""
    n_trials, counts = rejections(PROBLEMS[problem], N, N, block_size)
    for alpha, count in counts.items():
        low, high = count_bounds(n_trials, alpha, alpha, FALSE_ALARM / 18)
        assert low <= count <= high, f"{count} of {n_trials} at level {alpha}"


@pytest.mark.parametrize(("n_y", "block_size"), [(300, 14), (1000, 14), (1000, 2)])
def test_level_of_different_lengths_is_exact(n_y: int, block_size: int) -> None:
    """Swaps of partners are as exact: six counts, with a false alarm of 1e-6 in all."""
    n_trials, counts = rejections(PROBLEMS["heavy tails"], N, n_y, block_size)
    for alpha, count in counts.items():
        low, high = count_bounds(n_trials, alpha, alpha, FALSE_ALARM / 6)
        assert low <= count <= high, f"{count} of {n_trials} at level {alpha}"
