"""The statistic of the default by features, with permutations of all rows in place of relabelled bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from btests.data.sample import Sample
from btests.kernels.random_fourier import Discriminant, cosines_and_sines, discriminant, frequencies_of, uncorrelated
from btests.plan import Array
from btests.selection import default_aggregate
from btests.selection.families import kernels_of, margin_kernels
from btests.selection.fisher import discriminants_of

_FREQUENCIES, _DRAWS = 256, 499

# Rows that covariances and bandwidths are computed from, and rows whose features are held at once.
_POOLED, _CHUNK = 1024, 8192


def permuted_features(x: Array, y: Array, seed: int, n_draws: int = _DRAWS) -> float:
    """Return the p-value of the members of the default by features, by permutations of all rows.

    Bandwidths and covariances are of pooled rows at random, which no permutation changes. The largest MMD^2 over its
    root mean square over all draws counts.
    """
    rng = np.random.default_rng([seed, 0xA11])
    rows = np.concatenate([x, y])
    some = rows[rng.permutation(len(rows))[:_POOLED]]
    labels = _labels(len(x), len(y), n_draws, rng)
    largest = np.full(n_draws + 1, -math.inf)
    for member in _members(some):
        values = _mmd(_sums(member, rows, some, labels), len(x), len(y))
        spread = float(np.sqrt(np.mean(values**2)))
        if spread > 0.0:
            largest = np.maximum(largest, values / spread)
    return float(np.mean(largest >= largest[0] - 1e-9))


def _members(rows: Array) -> Sequence[Any]:
    """Return the kernels and discriminants of the default, from pooled rows (m, d)."""
    half, aggregate = len(rows) // 2, default_aggregate()
    halves = Sample(rows, np.arange(half)), Sample(rows, half + np.arange(half))
    assert aggregate.one_block is not None
    kernels = kernels_of(aggregate.family, *halves) + discriminants_of(aggregate.one_block, *halves)
    return kernels + margin_kernels(*halves)


def _labels(n_x: int, n_y: int, n_draws: int, rng: np.random.Generator) -> Any:
    """Return 1 for the rows of y, those observed first: a sparse (n_draws + 1, n_x + n_y)."""
    n = n_x + n_y
    places = [n_x + np.arange(n_y), *(rng.choice(n, n_y, replace=False) for _ in range(n_draws))]
    edges = np.arange(n_draws + 2) * n_y
    return csr_array((np.ones(edges[-1]), np.concatenate(places), edges), shape=(n_draws + 1, n)).tocsc()


def _sums(member: Any, rows: Array, some: Array, labels: Any) -> tuple[Array, Array, Array, float]:
    """Return sums of features and of their squares over y for every draw, and over all rows: (r, f), (r,), (f,), ()."""
    kernel = member.kernel if isinstance(member, Discriminant) else member
    own, origin = frequencies_of(kernel, _FREQUENCIES, rows.shape[1]), np.median(some, axis=0)
    whitened = discriminant(member, uncorrelated(own, origin, some)) if isinstance(member, Discriminant) else None

    def features(part: Array) -> Array:
        found = cosines_and_sines(own.turns, part, origin)
        if whitened is None:
            return np.asarray(found * np.tile(np.sqrt(own.weights), 2))
        return np.asarray(whitened.map.combine(found) * np.sqrt(whitened.weights))

    centre = features(some).mean(axis=0)
    of_y, squares_of_y, total, squares = 0.0, 0.0, 0.0, 0.0
    for first in range(0, len(rows), _CHUNK):
        phi = features(rows[first : first + _CHUNK]) - centre
        # As in the default, the average of all rows for a discriminant, whose squares bins do not have.
        norms = np.sum(phi**2, axis=1) if whitened is None else np.full(len(phi), _average(whitened))
        part = labels[:, first : first + _CHUNK]
        of_y, squares_of_y = of_y + part @ phi, squares_of_y + part @ norms
        total, squares = total + phi.sum(axis=0), squares + float(norms.sum())
    return np.asarray(of_y), np.asarray(squares_of_y), np.asarray(total), squares


def _average(whitened: Any) -> float:
    return float(whitened.weights @ whitened.map.variances)


def _mmd(sums: tuple[Array, Array, Array, float], n: int, m: int) -> Array:
    """Return the unbiased MMD^2 of n rows of x and m of y from sums: see :func:`_sums`."""
    of_y, squares_of_y, total, squares = sums
    of_x = total - of_y
    yy = np.sum(of_y**2, axis=1) - squares_of_y
    xx = np.sum(of_x**2, axis=1) - (squares - squares_of_y)
    xy = np.sum(of_x * of_y, axis=1)
    return np.asarray(xx / (n * (n - 1.0)) + yy / (m * (m - 1.0)) - 2.0 * xy / (n * m))
