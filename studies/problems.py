"""Pairs of distributions of the studies of levels and of the sequential test."""

from __future__ import annotations

from dataclasses import dataclass

from btests.kernels import Gaussian, Kernel
from studies.distributions import Draw, bernoulli, normal, poisson, rotated_blobs, round_blobs, student


@dataclass(frozen=True, slots=True)
class Problem:
    """A distribution, one that differs from it, and a kernel.

    Attributes
    ----------
    name : str
        Name in the tables.
    draw, draw_other : callable
        The two distributions.
    kernel : Kernel, optional
        The default if None.
    rows_of_x : int
        Rows of the first sample for each row of the second.
    has_ties : bool
        Whether so few values are possible that many swaps give the same statistic.
    """

    name: str
    draw: Draw
    draw_other: Draw
    kernel: Kernel | None = None
    rows_of_x: int = 1
    has_ties: bool = False


def _skewed(scale: float = 1.0) -> Draw:
    return lambda n, rng: scale * rng.standard_exponential((n, 1)) ** 2


#: Problems of the study of levels: fixed and median bandwidths, 1 to 100 dimensions, heavy tails, discrete data.
PROBLEMS = (
    Problem("blobs, bandwidth 2", rotated_blobs, round_blobs, Gaussian(2.0)),
    Problem("blobs, bandwidth 1", rotated_blobs, round_blobs, Gaussian(1.0)),
    Problem("Gaussian, d = 1", normal(1), normal(1, shift=0.2, n_changed=1)),
    Problem("Gaussian, d = 10", normal(10), normal(10, shift=0.4, n_changed=1)),
    Problem("Gaussian, d = 100", normal(100), normal(100, shift=0.8, n_changed=1)),
    Problem("Student t(2), d = 2", student(2, 2.0), student(2, 2.0, scale=1.3)),
    Problem("Poisson(2), d = 3", poisson(3, 2.0), poisson(3, 2.3)),
    Problem("coin, d = 1", bernoulli(0.5), bernoulli(0.6), has_ties=True),
    Problem("blobs, bandwidth 2, 5 x a y", rotated_blobs, round_blobs, Gaussian(2.0), rows_of_x=5),
    Problem("squared exponential, 5 x a y", _skewed(), _skewed(1.5), rows_of_x=5),
)

#: Problems of the default test, with its own kernels; many rows of the last two are equal.
DEFAULT_PROBLEMS = (
    Problem("blobs", rotated_blobs, round_blobs),
    *(problem for problem in PROBLEMS if problem.kernel is None),
    Problem("blobs, 5 x a y", rotated_blobs, round_blobs, rows_of_x=5),
    Problem("rare coin, d = 1", bernoulli(0.1), bernoulli(0.2), has_ties=True),
    Problem("rare coin, 5 x a y", bernoulli(0.1), bernoulli(0.2), rows_of_x=5, has_ties=True),
)
