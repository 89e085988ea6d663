"""Compress-then-test of goodpoints, with one bandwidth and with ten (Domingo-Enrich, Dwivedi and Mackey 2023).

Both take samples (n, d) and (m, d) and a seed, and return whether they reject at level .05.
"""

from __future__ import annotations

import contextlib
import io
import math

import numpy as np
from scipy.spatial.distance import pdist

from btests.plan import Array

#: The level of the tests.
LEVEL = 0.05

# Bins of each sample, the compression level, permutations, and the rows of each sample for the bandwidth.
_BINS = 16
_COMPRESSION = 3
_PERMUTATIONS = 499
_BANDWIDTH_ROWS = 500


def ctt(x: Array, y: Array, seed: int, compression: int = _COMPRESSION) -> bool:
    """Return whether compress-then-test rejects, Gaussian kernel of median bandwidth."""
    from goodpoints.ctt import ctt as compress_then_test

    x, y = _shuffled(x, y, seed)
    options = {"s": _BINS, "null_seed": seed, "statistic_seed": seed, "alpha": LEVEL}
    found = compress_then_test(x, y, compression, B=_PERMUTATIONS, lam=_bandwidth(x, y), **options)
    return _decided(found.rejects, seed)


def actt(x: Array, y: Array, seed: int) -> bool:
    """Return whether aggregated compress-then-test rejects: ten bandwidths, 2^-5 .. 2^4 x median."""
    from goodpoints.ctt import actt as aggregated

    x, y = _shuffled(x, y, seed)
    widths = _bandwidth(x, y) * 2.0 ** np.arange(-5.0, 5.0)
    weights = np.full(len(widths), 1.0 / len(widths))
    options = {"s": _BINS, "null_seed": seed, "statistic_seed": seed, "alpha": LEVEL}
    with contextlib.redirect_stdout(io.StringIO()):  # it prints every step of its bisection
        found = aggregated(x, y, _COMPRESSION, lam=widths, weights=weights, **options)
    return _decided(found.rejects, seed)


def median_distance(distances: Array) -> float:
    """Return the median of the distances of different rows; of those that are not 0 if it would be 0."""
    return float(np.median(distances)) or float(np.median(distances[distances > 0.0]))


def _bandwidth(x: Array, y: Array) -> float:
    """Return the median distance of some rows, the bandwidth of exp(-r^2 / bandwidth^2)."""
    rows = np.concatenate([x[:_BANDWIDTH_ROWS], y[:_BANDWIDTH_ROWS]])
    return math.sqrt(median_distance(pdist(rows, "sqeuclidean")))


def _shuffled(x: Array, y: Array, seed: int) -> tuple[Array, Array]:
    """Return contiguous copies in random order, as bins of consecutive rows need them."""
    rng = np.random.default_rng(seed)
    return np.ascontiguousarray(rng.permutation(x)), np.ascontiguousarray(rng.permutation(y))


def _decided(probability: float, seed: int) -> bool:
    """Return a rejection with a probability: few bins have few labellings, and ties are broken at random."""
    return float(np.squeeze(probability)) > np.random.default_rng(seed).random()
