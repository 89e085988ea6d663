"""The quadratic programme against all supports, against another solver, and against its own conditions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from btests.selection import weights
from btests.selection.weights import minimise
from tests.reference import Array


def random_problem(n: int, rank: int, seed: int) -> tuple[Array, Array]:
    """Return a covariance of some rank with 1e-3 on the diagonal, and means of both signs."""
    rng = np.random.default_rng([n, rank, seed])
    factor = rng.normal(size=(n, rank)) * np.exp(rng.normal(size=(n, 1)))
    means = rng.normal(0.3, 1.0, size=n)
    means[int(rng.integers(n))] = 1.0  # one at least is positive
    return factor @ factor.T + 1e-3 * np.eye(n), means


def over_all_supports(matrix: Array, means: Array) -> Array:
    """Return the solution by trying each set of kernels with a weight: on it, w is a multiple of A^-1 eta."""
    best, lowest = np.zeros(len(means)), np.inf
    for size in range(1, len(means) + 1):
        for support in itertools.combinations(range(len(means)), size):
            u = np.linalg.solve(matrix[np.ix_(support, support)], means[list(support)])
            gain = float(u @ means[list(support)])
            if u.min() >= 0.0 and gain > 0.0 and 1.0 / gain < lowest:
                best, lowest = np.zeros(len(means)), 1.0 / gain
                best[list(support)] = u / gain
    return best


def by_slsqp(matrix: Array, means: Array) -> Array:
    """Return the solution of scipy's general solver; where it stops for want of digits it is there all the same."""
    start = np.maximum(means, 0.0)
    minimize: Any = optimize.minimize  # whose stubs know no constraints of this kind
    found = minimize(
        lambda w: float(w @ matrix @ w),
        start / (start @ means),
        jac=lambda w: 2.0 * matrix @ w,
        bounds=[(0.0, None)] * len(means),
        constraints={"type": "eq", "fun": lambda w: means @ w - 1.0, "jac": lambda w: means},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 5000},
    )
    assert found.status in (0, 8), found.message
    return np.asarray(found.x)


def check_conditions(matrix: Array, means: Array, w: Array) -> None:
    """Assert what makes a point of this convex programme its solution (Karush, Kuhn and Tucker)."""
    assert (w >= 0.0).all()
    assert means @ w == pytest.approx(1.0, rel=1e-9)
    unit = np.sqrt(np.diagonal(matrix))
    value = float(w @ matrix @ w)  # the multiplier of the constraint
    slack = (matrix @ w - value * means) / unit / np.sqrt(value)
    assert slack.min() >= -1e-6
    assert np.abs(slack[w * unit > 1e-6 * (w * unit).max()]).max() <= 1e-6


def solve(matrix: Array, means: Array) -> Array:
    """Return the weights, which must be there."""
    w = minimise(matrix, means)
    assert w is not None
    return w


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(8))
def test_all_supports(n: int, seed: int) -> None:
    for rank in (1, n, 3 * n):
        matrix, means = random_problem(n, rank, seed)
        wanted = over_all_supports(matrix, means)
        np.testing.assert_allclose(solve(matrix, means), wanted, rtol=1e-6, atol=1e-6 * wanted.max())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [10, 26])
def test_another_solver(n: int, seed: int) -> None:
    matrix, means = random_problem(n, 40, seed)
    found, wanted = solve(matrix, means), by_slsqp(matrix, means)
    np.testing.assert_allclose(found / found.sum(), wanted / wanted.sum(), rtol=0.0, atol=1e-6)
    assert found @ matrix @ found <= wanted @ matrix @ wanted * (1.0 + 1e-9)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-12, 1.0, 1e12]))
def test_conditions(n: int, rank: int, seed: int, scale: float) -> None:
    matrix, means = random_problem(n, rank, seed)
    check_conditions(scale * matrix, means, solve(scale * matrix, means))
    check_conditions(matrix, scale * means, solve(matrix, scale * means))


@given(st.integers(2, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_kernels_of_very_different_scales(n: int, rank: int, seed: int) -> None:
    """Weights are those of scaled kernels, scaled back."""
    matrix, means = random_problem(n, rank, seed)
    units = 10.0 ** np.random.default_rng(seed).uniform(-9.0, 9.0, size=n)
    found = solve(matrix * np.outer(units, units), means * units) * units
    check_conditions(matrix, means, found)


@pytest.mark.parametrize("regulariser", [0.0, 1e-12, 1e-3])
def test_singular_covariance(regulariser: float) -> None:
    """Fewer blocks than kernels: conditions hold although the weights need not be the only ones."""
    factor = np.random.default_rng(0).normal(size=(12, 3))
    means = np.abs(factor[:, 0]) + 0.1
    matrix = factor @ factor.T + regulariser * np.eye(12)
    w = minimise(matrix, means)
    if w is not None:  # without a regulariser the minimum may be 0, out of reach of any multiplier
        assert (w >= 0.0).all()
        assert means @ w == pytest.approx(1.0, rel=1e-9)
    assert w is not None or regulariser == 0.0


def test_duplicates_share_a_weight() -> None:
    matrix, means = random_problem(4, 8, 1)
    again = [0, 1, 2, 3, *np.flatnonzero(solve(matrix, means) > 0.0)[:1].tolist()]
    twice, once = solve(matrix[np.ix_(again, again)], means[again]), solve(matrix, means)
    merged = twice[:4].copy()
    merged[again[4]] += twice[4]
    np.testing.assert_allclose(merged, once, rtol=1e-6, atol=1e-9)


def test_kernels_that_underflowed_get_nothing() -> None:
    matrix, means = random_problem(5, 10, 2)
    wide = 1e-3 * np.eye(9)
    wide[:5, :5] = matrix
    w = solve(wide, np.concatenate([means, np.zeros(4)]))
    assert not w[5:].any()
    np.testing.assert_allclose(w[:5], solve(matrix, means), rtol=1e-9)


@pytest.mark.parametrize("means", [[0.0, 0.0], [-1.0, 0.0], [-1.0, -2.0]])
def test_no_positive_mean_has_no_solution(means: list[float]) -> None:
    assert minimise(np.eye(2), np.array(means)) is None


def test_a_solver_that_fails_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*arguments: object, **options: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    matrix, means = random_problem(4, 8, 3)
    with monkeypatch.context() as patch:
        patch.setattr(optimize, "nnls", raises)
        assert weights.minimise(matrix, means) is None
    for wrong in (np.ones(4), np.zeros(4), np.full(4, np.nan)):
        with monkeypatch.context() as patch:
            patch.setattr(optimize, "nnls", lambda *a, answer=wrong, **k: (answer, 0.0))
            assert weights.minimise(matrix, means) is None
