"""Distributions of rows that the studies draw from."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from btests.datasets import blobs
from btests.plan import Array

#: From a number of rows and a generator to rows (n, d).
Draw = Callable[[int, np.random.Generator], Array]


def normal(d: int, *, shift: float = 0.0, scale: float = 1.0, n_changed: int | None = None) -> Draw:
    """Return standard normal rows, the first ``n_changed`` coordinates shifted and then scaled (None: all)."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, d))
        rows[:, :n_changed] += shift
        rows[:, :n_changed] *= scale
        return rows

    return draw


def equicorrelated(d: int, correlation: float, *, scale: float = 1.0) -> Draw:
    """Return normal rows with the same correlation between any two coordinates."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, d))
        return np.asarray(scale * (math.sqrt(correlation) * common + math.sqrt(1.0 - correlation) * own))

    return draw


def student(d: int, degrees: float, *, shift: float = 0.0, scale: float = 1.0) -> Draw:
    """Return rows of independent Student t coordinates."""
    return lambda n, rng: scale * rng.standard_t(degrees, (n, d)) + shift


def poisson(d: int, rate: float) -> Draw:
    """Return rows of independent Poisson counts."""
    return lambda n, rng: rng.poisson(rate, (n, d)).astype(np.float64)


def bernoulli(probability: float) -> Draw:
    """Return rows of one coordinate that is 1 with a probability, else 0."""
    return lambda n, rng: rng.binomial(1, probability, (n, 1)).astype(np.float64)


def uniform(d: int) -> Draw:
    """Return uniform rows of the unit cube."""
    return lambda n, rng: rng.random((n, d))


def lognormal(d: int, *, scale: float = 1.0) -> Draw:
    """Return rows of independent lognormal coordinates."""
    return lambda n, rng: scale * np.exp(rng.standard_normal((n, d)))


def waves(height: float, n_waves: int, *, proposals: int) -> Draw:
    """Return values of density 1 + height sin(2 pi n_waves t) on the unit interval.

    By rejection, of so many ``proposals`` for each row at a time; the draws depend on their number.
    """

    def draw(n: int, rng: np.random.Generator) -> Array:
        found = np.empty((0, 1))
        while len(found) < n:
            t, u = rng.random((2, proposals * n, 1))
            inside = u * (1.0 + height) <= 1.0 + height * np.sin(2.0 * math.pi * n_waves * t)
            found = np.concatenate([found, t[inside][:, None]])
        return found[:n]

    return draw


def rotated_blobs(n: int, rng: np.random.Generator) -> Array:
    """Return blobs with eigenvalues 10 and 1, rotated: P of the paper."""
    return blobs(n, rng)


def round_blobs(n: int, rng: np.random.Generator) -> Array:
    """Return blobs with the identity covariance: Q of the paper."""
    return blobs(n, rng, rotated=False)
