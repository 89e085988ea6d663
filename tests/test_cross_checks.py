"""The same numbers as other packages give: dcor, hyppo and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import btests
from tests.other_packages import computed

N = 60


def samples(d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(d)
    return rng.normal(size=(N, d)), 1.4 * rng.normal(size=(N, d)) + 0.1


def unbiased(x: Any, y: Any, kernel: Any) -> float:
    """Return our MMD^2 of one block of all rows, row i of x the partner of row i of y."""
    return btests.btest(x, y, kernel=kernel, block_size=N, shuffle=False, seed=0).statistic


def biased_energy(x: Any, y: Any) -> float:
    """Return the energy distance with the pairs that the unbiased estimate leaves out: rows with themselves."""
    partners = np.linalg.norm(x - y, axis=1).sum()
    return float((N - 1) / N * unbiased(x, y, "energy") + 2.0 * partners / N**2)


def test_energy_distance_is_that_of_dcor() -> None:
    (x, y), (wide_x, wide_y) = samples(1), samples(10)
    code = "import dcor; out = [float(dcor.energy_distance(*own)) for own in ((x, y), (wide_x, wide_y))]"
    theirs = computed(code, x=x, y=y, wide_x=wide_x, wide_y=wide_y)
    assert [biased_energy(x, y), biased_energy(wide_x, wide_y)] == pytest.approx(theirs, rel=1e-12)


def test_energy_distance_of_one_column_is_that_of_scipy() -> None:
    x, y = samples(1)
    assert biased_energy(x, y) == pytest.approx(scipy.stats.energy_distance(x[:, 0], y[:, 0]) ** 2, rel=1e-12)


@pytest.mark.parametrize("d", [1, 5])
def test_mmd_is_that_of_hyppo(d: int) -> None:
    """Compare with the root of the correlation of kernel matrix and labels, times a constant of the lengths."""
    x, y = samples(d)
    gamma = 0.7 / d
    kernel = btests.Gaussian((2.0 * gamma) ** -0.5)
    pooled = np.concatenate([x, y])
    gram, labels = np.asarray(kernel(pooled, pooled)), np.kron(np.eye(2), np.ones((N, N)))
    centring = np.eye(2 * N) - 1.0 / (2 * N)
    centred, of_labels = centring @ gram @ centring, centring @ labels @ centring
    partners = np.diag(np.asarray(kernel(x, y))).sum()
    biased = (N - 1) / N * unbiased(x, y, kernel) + 2.0 * (N - partners) / N**2
    covariance = N**2 * biased / 2.0  # sum over all pairs of rows
    correlation = covariance / np.sqrt(np.sum(centred**2) * np.sum(of_labels**2))
    test = "MMD(compute_kernel='gaussian', bias=True, gamma=float(gamma))"
    theirs = computed(f"from hyppo.ksample import MMD; out = float({test}.statistic(x, y))", x=x, y=y, gamma=gamma)
    assert theirs == pytest.approx(np.sqrt(correlation) * 2.0 * N**4 / (2 * N) ** 4, rel=1e-10)
