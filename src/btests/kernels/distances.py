"""Distances between rows in stacks, and bandwidths from their median."""

from __future__ import annotations

import math

import numpy as np

from btests._core.constants import DIRECT_COORDINATES
from btests._validation import check_batch
from btests._warnings import DegenerateDataWarning, warn
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


def city_block_distances(x: Array, y: Array, unit: float) -> Array:
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


# Outliers are clipped to this many typical distances: their squares must not overflow.
_FAR = 1e75

# Rows of a strip of distances, which then stays in cache.
_STRIP = 64


def median_bandwidth(points: Array) -> float:
    r"""Return the bandwidth of the median heuristic, ``sqrt(median(|p_i - p_j|^2) / 2)`` over the pairs i < j.

    This is the convention of the paper's experiments: the Gaussian kernel falls to 1/e at the median distance. Where
    more than half of the pairs coincide (sparse or discrete data) the median is over the pairs that do not.

    Parameters
    ----------
    points : array_like of float, shape (n, d)
        Rows of both samples. Memory and time grow with n^2: a thousand rows are enough.

    Returns
    -------
    float
        The bandwidth, positive; 1.0 if all points are equal.

    Warns
    -----
    DegenerateDataWarning
        If all points are equal.

    See Also
    --------
    btests.MedianHeuristic : A kernel selector with this bandwidth.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schoelkopf, A. Smola, "A Kernel Two-Sample Test", Journal of
       Machine Learning Research 13, 2012, section 8.

    Examples
    --------
    >>> import numpy as np
    >>> from btests import median_bandwidth
    >>> round(median_bandwidth(np.array([[0.0], [1.0], [2.0]])), 4)
    0.7071
    """
    points = check_batch("points", points).astype(np.float64, copy=False)
    if len(points) == 0:
        raise ValueError("points has 0 rows; a bandwidth needs at least 1")
    # Squares of coordinates beyond 1e154 overflow, and below 1e-154 vanish: measure in units of a typical distance.
    centre = np.median(points, axis=0)
    reach = np.max(np.abs(points - centre), axis=1)
    unit = float(np.median(reach)) or float(np.max(reach))
    if unit == 0.0:
        warn(
            "all rows of the median heuristic are equal: there is no scale to choose a bandwidth by, and it is 1",
            DegenerateDataWarning,
        )
        return 1.0
    with np.errstate(over="ignore"):
        scaled = np.clip((points - centre) / unit, -_FAR, _FAR)
    squares = _squares_of_pairs(scaled)
    median = float(np.median(squares))
    if median == 0.0:
        median = float(np.median(squares[squares > 0.0]))
    return unit * math.sqrt(median / 2.0)


def _squares_of_pairs(points: Array) -> Array:
    """Return the squared distances of all pairs of rows, in any order: (n, d) to (n (n - 1) / 2,)."""
    n, d = points.shape
    step = _STRIP if d <= DIRECT_COORDINATES else n  # wider rows are a matrix product, faster as a whole
    found = []
    for start in range(0, n, step):
        squares = squared_distances(points[start : start + step], points[start:])
        m = len(squares)
        found += [squares[:, :m][np.triu_indices(m, 1)], squares[:, m:].ravel()]
    return np.concatenate(found)
