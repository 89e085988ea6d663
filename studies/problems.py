"""Pairs of distributions that tests are tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests.datasets import blobs
from btests.kernels import Gaussian, Kernel
from btests.plan import Array

Draw = Callable[[int, np.random.Generator], Array]


@dataclass(frozen=True, slots=True)
class Problem:
    """A distribution, one that differs from it, and the kernel to tell them apart with (None: the default).

    The second sample has one row for every ``rows_of_x`` rows of the first. With ``has_ties``, so few values are
    possible that many swaps give the same statistic.
    """

    name: str
    draw: Draw
    draw_other: Draw
    kernel: Kernel | None = None
    rows_of_x: int = 1
    has_ties: bool = False


def _gaussian(d: int, shift: float = 0.0) -> Draw:
    def draw(n: int, rng: np.random.Generator) -> Array:
        points = rng.standard_normal((n, d))
        points[:, 0] += shift
        return points

    return draw


def _student(scale: float = 1.0) -> Draw:
    return lambda n, rng: scale * rng.standard_t(2.0, (n, 2))


def _counts(rate: float) -> Draw:
    return lambda n, rng: rng.poisson(rate, (n, 3)).astype(np.float64)


def _skewed(scale: float = 1.0) -> Draw:
    return lambda n, rng: scale * rng.standard_exponential((n, 1)) ** 2


def _coin(probability: float) -> Draw:
    return lambda n, rng: rng.binomial(1, probability, (n, 1)).astype(np.float64)


def _blobs(rotated: bool) -> Draw:
    return lambda n, rng: blobs(n, rng, rotated=rotated)


#: The problems of the study of levels: fixed and median bandwidths, 1 to 100 dimensions, heavy tails, discrete data.
PROBLEMS = (
    Problem("blobs, bandwidth 2", _blobs(True), _blobs(False), Gaussian(2.0)),
    Problem("blobs, bandwidth 1", _blobs(True), _blobs(False), Gaussian(1.0)),
    Problem("Gaussian, d = 1", _gaussian(1), _gaussian(1, 0.2)),
    Problem("Gaussian, d = 10", _gaussian(10), _gaussian(10, 0.4)),
    Problem("Gaussian, d = 100", _gaussian(100), _gaussian(100, 0.8)),
    Problem("Student t(2), d = 2", _student(), _student(1.3)),
    Problem("Poisson(2), d = 3", _counts(2.0), _counts(2.3)),
    Problem("coin, d = 1", _coin(0.5), _coin(0.6), has_ties=True),
    Problem("blobs, bandwidth 2, 5 x a y", _blobs(True), _blobs(False), Gaussian(2.0), rows_of_x=5),
    Problem("squared exponential, 5 x a y", _skewed(), _skewed(1.5), rows_of_x=5),
)

#: The problems that the default test is tried on, with kernels of its own; many of the last two rows are equal.
DEFAULT_PROBLEMS = (
    Problem("blobs", _blobs(True), _blobs(False)),
    *(problem for problem in PROBLEMS if problem.kernel is None),
    Problem("blobs, 5 x a y", _blobs(True), _blobs(False), rows_of_x=5),
    Problem("rare coin, d = 1", _coin(0.1), _coin(0.2), has_ties=True),
    Problem("rare coin, 5 x a y", _coin(0.1), _coin(0.2), rows_of_x=5, has_ties=True),
)
