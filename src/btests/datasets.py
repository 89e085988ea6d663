"""Synthetic data sets: the blobs of the paper."""

from __future__ import annotations

import math

import numpy as np

from btests.plan import Array

#: Blobs along each side of the grid, and the distance between the centres of neighbours.
BLOBS_A_SIDE = 5
BLOB_SPACING = 15.0

# Long and short axis of the covariance of P, and how far it is turned.
_EIGENVALUES = (10.0, 1.0)
_ANGLE = math.pi / 4.0


def blobs(
    n: int,
    rng: np.random.Generator,
    *,
    rotated: bool = True,
    long_axis: float = _EIGENVALUES[0],
    n_side: int = BLOBS_A_SIDE,
) -> Array:
    r"""Return points from a grid of 5 x 5 Gaussian blobs (Zaremba et al. 2013, Figure 2): (n, 2).

    The centres are (15 i, 15 j), i, j = 1 .. 5, and each point takes one of them uniformly at random. P and Q differ
    in the shape of a blob alone, at a scale much finer than that of the grid: a kernel as wide as the data misses it.
    (The paper's text has the two names the other way round.)

    Parameters
    ----------
    n : int
        Number of points.
    rng : numpy.random.Generator
        Source of randomness.
    rotated : bool
        True for P, covariance with eigenvalues 10 and 1, its long axis turned by pi/4; False for Q, covariance 1.
    long_axis : float
        The larger eigenvalue of P, in place of 10.
    n_side : int
        Blobs along each side of the grid, 5 in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from btests.datasets import blobs
    >>> p = blobs(100_000, np.random.default_rng(0))
    >>> inside = p[(abs(p - 45) < 7.5).all(axis=1)]  # the blob in the middle
    >>> bool(np.corrcoef(inside.T)[0, 1] > 0.7)
    True
    """
    points = rng.standard_normal((n, 2))
    if rotated:
        points *= np.sqrt((long_axis, _EIGENVALUES[1]))
        cosine, sine = math.cos(_ANGLE), math.sin(_ANGLE)
        points = points @ np.array([[cosine, sine], [-sine, cosine]])
    points += BLOB_SPACING * rng.integers(1, n_side + 1, size=(n, 2))
    return points
