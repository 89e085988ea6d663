"""Pairs of distributions whose MMD^2 is known in closed form, or as a sum over a few integers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from btests.datasets import BLOB_SPACING, blobs
from btests.kernels import Gaussian
from btests.plan import Array
from studies.distributions import Draw


@dataclass(frozen=True, slots=True)
class Mixture:
    """Gaussians of one covariance with equal weights: means (k, d) and covariance (d, d)."""

    means: Array
    covariance: Array


@dataclass(frozen=True, slots=True)
class ExactProblem:
    """Two distributions, a kernel, and MMD^2 between them."""

    name: str
    draw: Draw
    draw_other: Draw
    kernel: Gaussian
    mmd2: float


def mixture_mmd2(p: Mixture, q: Mixture, bandwidth: float) -> float:
    """Return MMD^2 between two mixtures for a Gaussian kernel.

    The kernel is a normal density up to a factor, so that each expectation is a normal density at a difference of
    means.
    """
    return _expected(p, p, bandwidth) + _expected(q, q, bandwidth) - 2.0 * _expected(p, q, bandwidth)


def _expected(p: Mixture, q: Mixture, bandwidth: float) -> float:
    d = p.means.shape[1]
    total = p.covariance + q.covariance + bandwidth**2 * np.eye(d)
    differences = p.means[:, None] - q.means
    squares = np.einsum("abi,ij,abj->ab", differences, np.linalg.inv(total), differences)
    return float(bandwidth**d / math.sqrt(np.linalg.det(total)) * np.exp(-squares / 2.0).mean())


def integer_mmd2(p: Array, q: Array, bandwidth: float) -> float:
    """Return MMD^2 between two distributions on 0 .. k - 1 for a Gaussian kernel: probabilities (k,) and (k,)."""
    k = np.arange(len(p), dtype=np.float64)
    return float((p - q) @ np.exp(-((k[:, None] - k) ** 2) / (2.0 * bandwidth**2)) @ (p - q))


def gaussians(name: str, shift: Array, covariance: Array, bandwidth: float) -> ExactProblem:
    """Return N(0, I) against N(shift, covariance)."""
    d, root = len(shift), np.linalg.cholesky(covariance)
    mmd2 = mixture_mmd2(Mixture(np.zeros((1, d)), np.eye(d)), Mixture(shift[None], covariance), bandwidth)
    return ExactProblem(
        name,
        lambda n, rng: rng.standard_normal((n, d)),
        lambda n, rng: rng.standard_normal((n, d)) @ root.T + shift,
        Gaussian(bandwidth),
        mmd2,
    )


def paper_blobs(name: str, n_side: int, bandwidth: float) -> ExactProblem:
    """Return the paper's blobs on a grid of ``n_side`` x ``n_side``: turned and long against round."""
    grid = BLOB_SPACING * np.stack(np.meshgrid(*2 * [np.arange(1.0, n_side + 1.0)]), axis=-1).reshape(-1, 2)
    turned = np.array([[5.5, 4.5], [4.5, 5.5]])  # eigenvalues 10 and 1, the long axis along (1, 1)
    return ExactProblem(
        name,
        lambda n, rng: blobs(n, rng, n_side=n_side),
        lambda n, rng: blobs(n, rng, rotated=False, n_side=n_side),
        Gaussian(bandwidth),
        mixture_mmd2(Mixture(grid, turned), Mixture(grid, np.eye(2)), bandwidth),
    )


def poisson(name: str, rate: float, other: float, bandwidth: float) -> ExactProblem:
    """Return two Poisson distributions; the sum leaves out less than 1e-12 of either for rates up to 10."""
    k = np.arange(60.0)
    log_factorials = np.cumsum(np.log(np.maximum(k, 1.0)))
    p, q = (np.exp(k * math.log(lam) - lam - log_factorials) for lam in (rate, other))
    return ExactProblem(
        name,
        lambda n, rng: rng.poisson(rate, (n, 1)).astype(np.float64),
        lambda n, rng: rng.poisson(other, (n, 1)).astype(np.float64),
        Gaussian(bandwidth),
        integer_mmd2(p, q, bandwidth),
    )


def null(name: str, problem: ExactProblem) -> ExactProblem:
    """Return the first distribution of a problem against itself."""
    return ExactProblem(name, problem.draw, problem.draw, problem.kernel, 0.0)


def _shift(d: int, by: float) -> Array:
    return np.asarray(by * np.eye(d)[0])


def _correlated(c: float) -> Array:
    return np.array([[1.0, c], [c, 1.0]])


_DIFFERENT = (
    gaussians("mean shift 0.7, d = 1", _shift(1, 0.7), np.eye(1), 1.0),
    gaussians("mean shift 1.2, d = 1", _shift(1, 1.2), np.eye(1), 1.0),
    gaussians("mean shift 1, d = 5", _shift(5, 1.0), np.eye(5), 2.5),
    gaussians("mean shift 1.6, d = 5", _shift(5, 1.6), np.eye(5), 2.5),
    gaussians("scale 2, d = 1", _shift(1, 0.0), 4.0 * np.eye(1), 1.0),
    gaussians("scale 3, d = 1", _shift(1, 0.0), 9.0 * np.eye(1), 1.0),
    gaussians("correlation 0.8, d = 2", _shift(2, 0.0), _correlated(0.8), 1.0),
    gaussians("correlation 0.95, d = 2", _shift(2, 0.0), _correlated(0.95), 1.0),
    paper_blobs("blobs, 3 x 3", 3, 2.0),
    paper_blobs("blobs, 2 x 2", 2, 2.0),
    poisson("Poisson 2 and 3.5", 2.0, 3.5, 1.0),
    poisson("Poisson 2 and 6", 2.0, 6.0, 1.0),
)

#: The problems of the study of coverage.
EXACT_PROBLEMS = (
    *_DIFFERENT,
    null("no difference, d = 1", _DIFFERENT[0]),
    null("no difference, d = 5", _DIFFERENT[2]),
    null("no difference, Poisson 2", _DIFFERENT[10]),
)
