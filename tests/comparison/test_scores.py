"""Several statistics under shared signs: p-values against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from btests.comparison.scores import ColumnFeatures, Scored, _of_many, combine, quadratic_scores


def scores_of(seed: int, n_units: int = 6) -> tuple[Scored, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Return scores under all signs of four statistics, and the statistics themselves: (4, 2^u)."""
    rng = np.random.default_rng(seed)
    moving, still = rng.normal(size=(n_units, 5)), 0.3 * rng.normal(size=5)
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=n_units))).T
    signs = np.concatenate([signs, np.ones((n_units, 1))], axis=1)
    weights = [
        np.ones((1, 1)),
        np.ones((2, 1)),
        np.array([[3.0, 0.0], [0.5, 1.0]]),
    ]
    groups = [slice(0, 1), slice(1, 3), slice(3, 5)]
    features = [
        ColumnFeatures(moving[:, g], still[g], w, np.ones(w.shape[1])) for g, w in zip(groups, weights, strict=True)
    ]
    squares = ((moving.T @ signs).T + still) ** 2
    plain = np.concatenate([(squares[:-1, g] @ w).T for g, w in zip(groups, weights, strict=True)])
    return quadratic_scores(features, signs, exhaustive=True), plain


@pytest.mark.parametrize("seed", range(5))
def test_own_pvalues_are_those_of_the_squares(seed: int) -> None:
    scored, plain = scores_of(seed)
    brute = (plain >= plain[:, :1] * (1.0 - 1e-9)).mean(axis=1)
    np.testing.assert_allclose(scored.pvalues(), brute)


@pytest.mark.parametrize("seed", range(5))
def test_corrected_pvalues_step_down(seed: int) -> None:
    scored, _ = scores_of(seed)
    draws, observed = scored.scores[:, :-1], scored.observed
    order = np.argsort(-observed)
    least = 0.0
    for k, j in enumerate(order):
        least = max(least, float((draws[order[k:]].max(axis=0) >= observed[j] - 1e-9).mean()))
        assert scored.corrected()[j] == pytest.approx(least)
    assert (scored.corrected() >= scored.pvalues()).all()


def test_moments_of_the_score_are_those_over_all_signs() -> None:
    # The normal score of a chi-squared law with the right two moments: 1 in 20 outcomes or so is beyond 1.645.
    scored, _ = scores_of(3, n_units=12)
    share = (scored.scores[:, :-1] > 1.645).mean(axis=1)
    assert (np.abs(share - 0.05) < 0.03).all()


def test_the_largest_of_many_statistics_is_on_the_scale_of_one() -> None:
    # The largest of 50 normal scores, corrected for their number, is as often beyond 1.645 as one: 5 % of 40,000 draws,
    # and more than six standard errors (0.0065) away with probability below 1e-6.
    scores = np.random.default_rng(0).normal(size=(50, 40_000))
    largest = _of_many(scores, np.full(50, 50.0)).max(axis=0)
    assert abs((largest > 1.645).mean() - 0.05) < 0.0065
    np.testing.assert_array_equal(_of_many(scores, np.ones(50)), scores)
    far = _of_many(np.array([[-9.0, 1.0, 20.0, 60.0]]), np.array([2.0]))[0]
    assert np.isfinite(far).all()
    assert (np.diff(far) > 0).all()
    assert (far < [-8.0, 1.0, 20.0, 60.0]).all()


def test_weights_of_looks() -> None:
    # One look alone decides: its p-value is corrected by its weight.
    scores = np.random.default_rng(0).normal(size=(2, 2000))
    scores[:, -1] = (np.sort(scores[0])[-40], -5.0)
    tests = [Scored(row[None, :], False) for row in scores]
    equal, heavy, light = (combine(tests, weights)[0] for weights in (None, [3.0, 1.0], [1.0, 3.0]))
    assert heavy < equal < light
    assert equal == combine(tests, [1.0, 1.0])[0]


def test_the_strongest_test_decides() -> None:
    rng = np.random.default_rng(0)
    quiet, loud = rng.exponential(size=(2, 1, 2000))
    quiet[0, -1], loud[0, -1] = 0.1, 50.0
    pvalue, own = combine([Scored(quiet, False), Scored(loud, False)])
    assert own[1] == 1 / 2000
    assert own[1] <= pvalue <= 2 / 2000
    assert combine([Scored(loud, False)])[0] == own[1]


def test_the_pvalue_of_several_looks_is_uniform_over_draws() -> None:
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=(3, 200))
    pvalues = []
    for j in range(200):  # every outcome in the place of the observed one
        moved = np.concatenate([np.delete(scores, j, axis=1), scores[:, [j]]], axis=1)
        pvalues.append(combine([Scored(row[None, :], False) for row in moved])[0])
    for alpha in (0.05, 0.1, 0.5):
        assert np.mean(np.array(pvalues) <= alpha) <= alpha
        assert np.mean(np.array(pvalues) <= alpha) > 0.7 * alpha
