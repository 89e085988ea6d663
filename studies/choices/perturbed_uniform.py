"""Uniform distributions with smooth bumps, on which MMDAgg was published."""

from __future__ import annotations

import math

import numpy as np

from btests.plan import Array

#: Height of the bumps in 1 and 2 dimensions, as published: the density just stays positive for one bump a side.
HEIGHTS = {1: 2.7, 2: 7.3}


def perturbed_uniform(n: int, rng: np.random.Generator, *, d: int, n_bumps: int) -> Array:
    r"""Return points of a uniform distribution with bumps of random signs (Schrab et al. 2023, section 5.4): (n, d).

    The unit cube is cut into ``P^d`` cells of side 1/P. With c the height for d dimensions, the density is
    ``1 + c P^-1 theta_j prod_r G(u_r)`` in cell j, u the place in the cell, from -1 to 0 in each coordinate, and
    ``G(u) = exp(-1 / (1 - (4u + 3)^2))`` left of -1/2, ``-exp(-1 / (1 - (4u + 1)^2))`` right of it. Every theta is 1 or
    -1, drawn anew with each sample. Smoothness s = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.choices.perturbed_uniform import perturbed_uniform
    >>> x = perturbed_uniform(100_000, np.random.default_rng(0), d=1, n_bumps=1)
    >>> bool(abs((x < 0.5).mean() - 0.5) > 0.05)  # more on the one side, less on the other
    True
    """
    signs = _signs(rng, d, n_bumps)
    accepted = np.empty((0, d))
    while len(accepted) < n:
        accepted = np.concatenate([accepted, _accepted(rng.random((2 * n, d + 1)), signs)])
    return accepted[:n]


def published_samples(n: int, rng: np.random.Generator, *, d: int, n_bumps: int) -> tuple[Array, Array]:
    """Return a perturbed and a uniform sample from one stream of random numbers: (n, d) each.

    The published program gives the generators of both samples one seed. The uniform sample is the start of the stream
    that the rejection sampler of the other one reads, d numbers for a point and one to accept it by, so that many rows
    are in both samples. This function repeats what was published; the two samples of a test should be independent.
    """
    signs = _signs(rng, d, n_bumps)
    stream = rng.random(4 * n * (d + 1))
    return _accepted(stream.reshape(-1, d + 1), signs)[:n], stream[: n * d].reshape(n, d)


def _signs(rng: np.random.Generator, d: int, n_bumps: int) -> Array:
    return rng.choice([-1.0, 1.0], size=(n_bumps,) * d)


def _accepted(proposals: Array, signs: Array) -> Array:
    """Return the points that rejection sampling by the last column accepts: (k, d + 1) to (some, d)."""
    points, d, n_bumps = proposals[:, :-1], signs.ndim, len(signs)
    height = HEIGHTS[d] / n_bumps
    cell = np.minimum((points * n_bumps).astype(np.int64), n_bumps - 1)
    bumps = np.prod(_bump(points * n_bumps - cell - 1.0), axis=1)
    density = 1.0 + height * signs[tuple(cell.T)] * bumps
    return np.asarray(points[proposals[:, -1] * (1.0 + height * math.exp(-d)) <= density])


def _bump(u: Array) -> Array:
    """Return G(u) for u between -1 and 0: a hill and a valley of the same shape."""
    left = u < -0.5
    inside = 1.0 - (4.0 * u + np.where(left, 3.0, 1.0)) ** 2
    with np.errstate(divide="ignore"):
        hill = np.where(inside > 0.0, np.exp(-1.0 / np.maximum(inside, 1e-300)), 0.0)
    return np.where(left, hill, -hill)
