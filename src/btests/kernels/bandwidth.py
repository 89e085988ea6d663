"""The median heuristic."""

from __future__ import annotations

import math

import numpy as np

from btests._core.constants import DIRECT_COORDINATES
from btests._validation import check_batch
from btests._warnings import DegenerateDataWarning, warn
from btests.kernels.distances import squared_distances
from btests.plan import Array

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
