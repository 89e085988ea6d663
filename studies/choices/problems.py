"""Problems of the study: differences of many kinds, each of a size that some choices find and others miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests.kernels import Gaussian, Kernel
from btests.plan import Array
from studies.choices.perturbed_uniform import perturbed_uniform, published_samples
from studies.distributions import (
    Draw,
    bernoulli,
    equicorrelated,
    normal,
    poisson,
    rotated_blobs,
    round_blobs,
    student,
    uniform,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Two distributions, rows, and a hand-picked kernel, if any.

    Attributes
    ----------
    name : str
        Name in the tables.
    n : int
        Rows of the second sample.
    draw, draw_other : callable
        The two distributions; under the null hypothesis both samples come from the first.
    picked : Kernel, optional
        The kernel that one who knows both distributions would pick.
    rows_of_x : int
        Rows of the first sample for each row of the second.
    draw_both : callable, optional
        Where the samples are not independent: both at once.
    """

    name: str
    n: int
    draw: Draw
    draw_other: Draw
    picked: Kernel | None = None
    rows_of_x: int = 1
    draw_both: Callable[[int, np.random.Generator], tuple[Array, Array]] | None = None

    def samples(self, n: int, rng: np.random.Generator, *, is_null: bool) -> tuple[Array, Array]:
        """Return both samples, the second of ``n`` rows."""
        if self.draw_both is not None:
            return self.draw_both(n, rng)
        x = self.draw(n * self.rows_of_x, rng)
        return x, (self.draw if is_null else self.draw_other)(n, rng)


def _with_cluster(share: float) -> Draw:
    """Return standard normal values, a share of them in a cluster around 1 of standard deviation 0.01."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        points = rng.standard_normal((n, 1))
        inside = rng.random(n) < share
        points[inside] = 1.0 + 0.01 * rng.standard_normal((int(inside.sum()), 1))
        return points

    return draw


def _bumps(d: int, n_bumps: int) -> Draw:
    return lambda n, rng: perturbed_uniform(n, rng, d=d, n_bumps=n_bumps)


def _laplace(n: int, rng: np.random.Generator) -> Array:
    """Return Laplace values of variance 1."""
    return rng.laplace(scale=np.sqrt(0.5), size=(n, 1))


#: Problems of the ranking.
PROBLEMS = (
    Problem("blobs", 500, rotated_blobs, round_blobs, Gaussian(2.0)),
    Problem("mean, d = 1", 500, normal(1), normal(1, shift=0.3)),
    Problem("mean, d = 10", 500, normal(10), normal(10, shift=0.15)),
    Problem("mean, d = 100", 500, normal(100), normal(100, shift=0.08)),
    Problem("scale, d = 10", 500, normal(10), normal(10, scale=1.15)),
    Problem("one mean of 20", 500, normal(20), normal(20, shift=0.6, n_changed=1)),
    Problem("correlation, d = 5", 500, normal(5), equicorrelated(5, 0.4)),
    Problem("Student t(2), scale", 500, student(2, 2.0), student(2, 2.0, scale=1.4)),
    Problem("Gaussian or Laplace", 1000, normal(1), _laplace),
    Problem("tight cluster of 5 %", 2000, normal(1), _with_cluster(0.05)),
    Problem("Poisson counts, d = 3", 500, poisson(3, 2.0), poisson(3, 2.3)),
    Problem("coin", 500, bernoulli(0.5), bernoulli(0.62)),
    Problem("uniform, 2 bumps", 500, uniform(1), _bumps(1, 2)),
    Problem("uniform, 1 bump, d = 2", 500, uniform(2), _bumps(2, 1)),
    Problem("correlation, units of 1e-6", 500, normal(5, scale=1e-6), equicorrelated(5, 0.4, scale=1e-6)),
    Problem("mean, units of 1e6", 500, normal(2, scale=1e6), normal(2, shift=0.25, scale=1e6)),
    Problem("mean, 5 x a y", 200, normal(2), normal(2, shift=0.3), rows_of_x=5),
    Problem("blobs, 5 x a y", 400, rotated_blobs, round_blobs, Gaussian(2.0), rows_of_x=5),
)

#: Problems that MMDAgg was published with, in quadratic time: dimensions, bumps a side and rows.
_PUBLISHED = ((1, 1, 500), (1, 2, 500), (1, 3, 500), (1, 4, 500), (2, 2, 2000))


def _shared(d: int, n_bumps: int) -> Callable[[int, np.random.Generator], tuple[Array, Array]]:
    return lambda n, rng: published_samples(n, rng, d=d, n_bumps=n_bumps)


#: Suffix of a problem whose samples share rows, as the published ones do.
SHARED = ", rows shared"

PUBLISHED_PROBLEMS = (
    *(Problem(f"uniform, d = {d}, P = {p}", n, uniform(d), _bumps(d, p)) for d, p, n in _PUBLISHED),
    *(
        Problem(f"uniform, d = {d}, P = {p}{SHARED}", n, uniform(d), _bumps(d, p), draw_both=_shared(d, p))
        for d, p, n in _PUBLISHED
    ),
)

#: All problems by name.
BY_NAME = {problem.name: problem for problem in (*PROBLEMS, *PUBLISHED_PROBLEMS)}
