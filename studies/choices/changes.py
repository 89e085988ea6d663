"""The problems of the study: differences of many kinds, each of a size that some choices find and others miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests.datasets import blobs
from btests.kernels import Gaussian, Kernel
from btests.plan import Array
from studies.choices.perturbed import perturbed_uniform, published_samples
from studies.problems import Draw


@dataclass(frozen=True, slots=True)
class Change:
    """A distribution, another one, how many rows of each, and the kernel that one who knows both would pick, if any.

    Attributes
    ----------
    name
        What it is called in the tables.
    n
        Rows of the second sample.
    draw, draw_other
        The two distributions; under the null hypothesis both samples come from the first.
    picked
        The hand-picked kernel.
    rows_of_x
        Rows of the first sample for each of the second.
    draw_both
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


def _normal(d: int, shift: float = 0.0, *, scale: float = 1.0, n_shifted: int | None = None) -> Draw:
    """Gaussian rows, ``scale`` times as large, the first ``n_shifted`` coordinates moved by ``shift`` before."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        points = rng.standard_normal((n, d))
        points[:, :n_shifted] += shift
        return scale * points

    return draw


def _correlated(d: int, correlation: float, *, scale: float = 1.0) -> Draw:
    """Gaussian rows, the same correlation between any two coordinates."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        common = rng.standard_normal((n, 1))
        own = rng.standard_normal((n, d))
        return np.asarray(scale * (np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own))

    return draw


def _with_cluster(share: float) -> Draw:
    """A standard Gaussian with a share of its rows in a cluster around 1, of standard deviation 0.01."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        points = rng.standard_normal((n, 1))
        inside = rng.random(n) < share
        points[inside] = 1.0 + 0.01 * rng.standard_normal((int(inside.sum()), 1))
        return points

    return draw


def _bumps(d: int, n_bumps: int) -> Draw:
    return lambda n, rng: perturbed_uniform(n, rng, d=d, n_bumps=n_bumps)


def _uniform(d: int) -> Draw:
    return lambda n, rng: rng.random((n, d))


def _student(scale: float) -> Draw:
    return lambda n, rng: scale * rng.standard_t(2.0, (n, 2))


def _counts(rate: float) -> Draw:
    return lambda n, rng: rng.poisson(rate, (n, 3)).astype(np.float64)


def _coin(probability: float) -> Draw:
    return lambda n, rng: rng.binomial(1, probability, (n, 1)).astype(np.float64)


def _laplace(n: int, rng: np.random.Generator) -> Array:
    """Variance 1, as the Gaussian that it is compared with."""
    return rng.laplace(scale=np.sqrt(0.5), size=(n, 1))


def _round_blobs(n: int, rng: np.random.Generator) -> Array:
    return blobs(n, rng, rotated=False)


#: The problems of the ranking.
CHANGES = (
    Change("blobs", 500, blobs, _round_blobs, Gaussian(2.0)),
    Change("mean, d = 1", 500, _normal(1), _normal(1, 0.3)),
    Change("mean, d = 10", 500, _normal(10), _normal(10, 0.15)),
    Change("mean, d = 100", 500, _normal(100), _normal(100, 0.08)),
    Change("scale, d = 10", 500, _normal(10), _normal(10, scale=1.15)),
    Change("one mean of 20", 500, _normal(20), _normal(20, 0.6, n_shifted=1)),
    Change("correlation, d = 5", 500, _normal(5), _correlated(5, 0.4)),
    Change("Student t(2), scale", 500, _student(1.0), _student(1.4)),
    Change("Gaussian or Laplace", 1000, _normal(1), _laplace),
    Change("tight cluster of 5 %", 2000, _normal(1), _with_cluster(0.05)),
    Change("Poisson counts, d = 3", 500, _counts(2.0), _counts(2.3)),
    Change("coin", 500, _coin(0.5), _coin(0.62)),
    Change("uniform, 2 bumps", 500, _uniform(1), _bumps(1, 2)),
    Change("uniform, 1 bump, d = 2", 500, _uniform(2), _bumps(2, 1)),
    Change("correlation, units of 1e-6", 500, _normal(5, scale=1e-6), _correlated(5, 0.4, scale=1e-6)),
    Change("mean, units of 1e6", 500, _normal(2, scale=1e6), _normal(2, 0.25, scale=1e6)),
    Change("mean, 5 x a y", 200, _normal(2), _normal(2, 0.3), rows_of_x=5),
    Change("blobs, 5 x a y", 400, blobs, _round_blobs, Gaussian(2.0), rows_of_x=5),
)

#: The problems that MMDAgg was published with, in quadratic time: dimensions, bumps a side and rows.
_PUBLISHED = ((1, 1, 500), (1, 2, 500), (1, 3, 500), (1, 4, 500), (2, 2, 2000))


def _shared(d: int, n_bumps: int) -> Callable[[int, np.random.Generator], tuple[Array, Array]]:
    return lambda n, rng: published_samples(n, rng, d=d, n_bumps=n_bumps)


#: Ends the name of a problem whose samples share rows, as the published ones do.
SHARED = ", rows shared"

PUBLISHED_CHANGES = (
    *(Change(f"uniform, d = {d}, P = {p}", n, _uniform(d), _bumps(d, p)) for d, p, n in _PUBLISHED),
    *(
        Change(f"uniform, d = {d}, P = {p}{SHARED}", n, _uniform(d), _bumps(d, p), draw_both=_shared(d, p))
        for d, p, n in _PUBLISHED
    ),
)

#: All of them by name.
BY_NAME = {change.name: change for change in (*CHANGES, *PUBLISHED_CHANGES)}
