"""Distances between the points of two stacks without cancellation, and their exponential decay."""

from __future__ import annotations

import math

import numpy as np

from btests._core.constants import DIRECT_COORDINATES
from btests.plan import Array

# A difference of this much less than its terms has lost three digits.
_CANCELLED = 1e-3
# Distances that are summed up at a time: three passes over them for each coordinate stay in the cache.
_IN_CACHE = 2**14
# Coordinates of the pairs that are recomputed at a time.
_AT_ONCE = 2**20
# The compiled loops take 2^-q for 0 beyond this exponent: such floats lose their digits one by one before they are 0.
_LAST = 1020.5 * math.log(2.0)


def squared_distances(x: Array, y: Array, unit: float = 1.0) -> Array:
    """Return squared Euclidean distances, in ``1 / unit``: two stacks (..., b, d) and (..., c, d) to (..., b, c).

    Differences are scaled, not coordinates (which would lose digits far from the origin) or squares (which may overflow
    or underflow). Up to ``DIRECT_COORDINATES`` columns there is one pass over the Gram matrix per coordinate; wider
    data use a matrix product.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.shape[-1] > DIRECT_COORDINATES:
        return _by_product(x, y, unit)
    out = np.zeros((*x.shape[:-1], y.shape[-2]))
    step = max(1, _IN_CACHE // max(1, math.prod(out.shape[:-2]) * out.shape[-1]))
    for i in range(0, x.shape[-2], step):
        _add_squares(out[..., i : i + step, :], x[..., i : i + step, :], y, unit)
    return out


def _add_squares(out: Array, x: Array, y: Array, unit: float) -> None:
    """Add squared distances to ``out``, coordinate by coordinate."""
    difference = np.empty_like(out)
    for k in range(x.shape[-1]):
        np.subtract(x[..., :, None, k], y[..., None, :, k], out=difference)
        if unit != 1.0:
            difference *= unit
        difference *= difference
        out += difference


def _by_product(x: Array, y: Array, unit: float) -> Array:
    # |x - y|^2 = |x|^2 + |y|^2 - 2 x.y loses digits when both norms are large: move the origin into the data first.
    some = x[..., :: max(1, x.shape[-2] // 16), :]
    origin = np.median(some, axis=-2, keepdims=True)
    p, q = (x - origin) * unit, (y - origin) * unit
    norms = _squares(p)[..., :, None] + _squares(q)[..., None, :]
    out = np.asarray(norms - 2.0 * (p @ np.swapaxes(q, -1, -2)))
    # Outliers still lose digits, or are inf - inf: such pairs are recomputed from differences.
    lost = np.nonzero(~(out > _CANCELLED * norms))
    step = max(1, _AT_ONCE // x.shape[-1])
    for start in range(0, lost[0].size, step):
        *stack, i, j = (index[start : start + step] for index in lost)
        out[(*stack, i, j)] = _squares((x[(*stack, i)] - y[(*stack, j)]) * unit)
    return out


def _squares(x: Array) -> Array:
    """Return squared norms: (..., d) to (...)."""
    return np.asarray(np.einsum("...k,...k->...", x, x))


def distances(x: Array, y: Array, unit: float = 1.0) -> Array:
    """Return Euclidean distances, in ``1 / unit``: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
    out = squared_distances(x, y, unit)
    return np.sqrt(out, out=out)


def city_block_distances(x: Array, y: Array, unit: float = 1.0) -> Array:
    """Return sums of absolute differences, in ``1 / unit``: stacks (..., b, d) and (..., c, d) to (..., b, c)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    out = np.zeros((*x.shape[:-1], y.shape[-2]))
    for k in range(x.shape[-1]):
        out += np.abs(x[..., :, None, k] - y[..., None, :, k])
    out *= unit
    return out


def decay(exponent: Array) -> Array:
    """Return exp(-exponent), 0 where that is below 2^-1020.5: (...) to (...), in place."""
    exponent[exponent > _LAST] = np.inf
    return np.exp(np.negative(exponent, out=exponent), out=exponent)
