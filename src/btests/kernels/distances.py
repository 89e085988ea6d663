"""Distances between the points of two stacks, without cancellation where it is affordable."""

from __future__ import annotations

import numpy as np

from btests.blocks import Array

# One pass over the Gram matrix per coordinate up to this width; wider data go through a matrix product.
_DIRECT_UP_TO = 36


def near_origin(x: Array, y: Array, unit: float) -> tuple[Array, Array]:
    """Return both stacks (..., b, d) and (..., c, d) times ``unit``, the origin moved to the first rows of x.

    The move comes first: scaled coordinates are rounded, which far from the origin would cost the differences digits.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    origin = x[..., :1, :]
    return (x - origin) * unit, (y - origin) * unit


def squared_distances(x: Array, y: Array) -> Array:
    """Return squared Euclidean distances: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.shape[-1] <= _DIRECT_UP_TO:
        out = np.zeros((*x.shape[:-1], y.shape[-2]))
        for k in range(x.shape[-1]):
            difference = x[..., :, None, k] - y[..., None, :, k]
            difference *= difference
            out += difference
        return out
    # |x - y|^2 = |x|^2 + |y|^2 - 2 x.y loses digits when both norms are large: move the origin into the data first.
    origin = x.mean(axis=-2, keepdims=True)
    x, y = x - origin, y - origin
    out = x @ np.swapaxes(y, -1, -2)
    out *= -2.0
    out += np.einsum("...ik,...ik->...i", x, x)[..., :, None]
    out += np.einsum("...ik,...ik->...i", y, y)[..., None, :]
    return np.maximum(out, 0.0, out=out)


def distances(x: Array, y: Array) -> Array:
    """Return Euclidean distances: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
    out = squared_distances(x, y)
    return np.sqrt(out, out=out)


def city_block_distances(x: Array, y: Array) -> Array:
    """Return sums of absolute differences: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    out = np.zeros((*x.shape[:-1], y.shape[-2]))
    for k in range(x.shape[-1]):
        out += np.abs(x[..., :, None, k] - y[..., None, :, k])
    return out
