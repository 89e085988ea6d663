"""Problems of the study: a distribution, and others that differ from it by an effect chosen for each size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests.datasets import blobs
from btests.plan import Array
from studies.distributions import Draw, equicorrelated, lognormal, normal, student, waves

#: Rows of x and of y, in the order of the effects of a problem.
SIZES = ((100, 100), (200, 200), (500, 500), (2000, 2000), (600, 30), (10_000, 300))


@dataclass(frozen=True, slots=True)
class Problem:
    """A distribution of x, one of y for every effect, and the effect at every size.

    Attributes
    ----------
    name : str
        Name in the tables.
    draw_x : callable
        ``(n, rng)`` to n rows of x.
    draw_other : callable
        From an effect to ``(n, rng)`` to n rows of y.
    effects : tuple of float
        One for each of SIZES, such that one block of all rows finds the difference in about two of three samples.
        Empty: the null hypothesis holds.
    """

    name: str
    draw_x: Draw
    draw_other: Callable[[float], Draw]
    effects: tuple[float, ...] = ()

    @property
    def is_null(self) -> bool:
        """Whether both samples have one distribution."""
        return not self.effects

    def draw_y(self, n_x: int, n_y: int) -> Draw:
        """Return the distribution of y where x has ``n_x`` rows and y ``n_y``."""
        return self.draw_x if self.is_null else self.draw_other(self.effects[SIZES.index((n_x, n_y))])

    def samples(self, n_x: int, n_y: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the samples (n_x, d) and (n_y, d)."""
        x = self.draw_x(n_x, rng)
        return x, self.draw_y(n_x, n_y)(n_y, rng)


def _neighbours(d: int, correlation: float) -> Draw:
    """Return Gaussian rows whose coordinates are an autoregression of order one with variance 1."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, d))
        for k in range(1, d):
            rows[:, k] = correlation * rows[:, k - 1] + math.sqrt(1.0 - correlation**2) * rows[:, k]
        return rows

    return draw


def _blobs(long_axis: float) -> Draw:
    return lambda n, rng: blobs(n, rng, long_axis=long_axis)


def _ring(share: float) -> Draw:
    """Return Gaussian rows in the plane, a share of them moved to the circle of radius sqrt(2) in their direction."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, 2))
        moved = rng.random(n) < share
        rows[moved] *= math.sqrt(2.0) / np.linalg.norm(rows[moved], axis=1, keepdims=True)
        return rows

    return draw


def _waves(height: float) -> Draw:
    return waves(height, 3, proposals=3)


def _lognormal(scale: float) -> Draw:
    return lognormal(3, scale=scale)


def _contaminated(share: float) -> Draw:
    """Return Gaussian rows in the plane, a share of them in a cluster around (1.5, 1.5) of standard deviation 0.1."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, 2))
        inside = rng.random(n) < share
        rows[inside] = 1.5 + 0.1 * rows[inside]
        return rows

    return draw


#: Effects were chosen with one block of all rows at 100, 200 and 500 rows a side, before any other test had been run,
#: carried over to the other sizes as n^-1/2, and rounded.
PROBLEMS = (
    Problem(
        "mean of one of 10",
        normal(10),
        lambda e: normal(10, n_changed=1, shift=e),
        (0.5, 0.35, 0.22, 0.11, 0.75, 0.22),
    ),
    Problem("mean, d = 50", normal(50), lambda e: normal(50, shift=e), (0.115, 0.08, 0.052, 0.026, 0.16, 0.054)),
    Problem("scale, d = 5", normal(5), lambda e: normal(5, scale=e), (1.26, 1.17, 1.1, 1.05, 1.36, 1.1)),
    Problem("correlation, d = 5", normal(5), lambda e: equicorrelated(5, e), (0.43, 0.29, 0.18, 0.09, 0.5, 0.18)),
    Problem("Gaussian or Student t, d = 2", normal(2), lambda e: student(2, e), (2.3, 3.2, 5.3, 10.5, 1.8, 5.5)),
    Problem("blobs, d = 2", _blobs(1.0), _blobs, (14.0, 6.0, 3.0, 1.8, 30.0, 3.0)),
    Problem(
        "scale of one of 30", normal(30), lambda e: normal(30, n_changed=1, scale=e), (2.5, 2.0, 1.6, 1.28, 3.0, 1.6)
    ),
    Problem("ring, d = 2", normal(2), _ring, (0.42, 0.28, 0.17, 0.085, 0.6, 0.17)),
    Problem("waves on uniform, d = 1", _waves(0.0), _waves, (0.9, 0.6, 0.37, 0.185, 1.0, 0.37)),
    Problem(
        "t(2) location, d = 5",
        student(5, 2.0),
        lambda e: student(5, 2.0, shift=e),
        (0.33, 0.235, 0.145, 0.073, 0.47, 0.145),
    ),
    Problem("small cluster, d = 2", normal(2), _contaminated, (0.12, 0.085, 0.05, 0.025, 0.18, 0.05)),
    Problem("covariance, d = 100", normal(100), lambda e: _neighbours(100, e), (0.37, 0.27, 0.18, 0.1, 0.5, 0.19)),
    Problem("null: Gaussian, d = 5", normal(5), lambda e: normal(5)),
    Problem("null: lognormal, d = 3", _lognormal(1.0), _lognormal),
)


def _interaction(share: float) -> Draw:
    """Return Gaussian rows of three, the third with the sign of the product of the others in a share of the rows."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, 3))
        moved = rng.random(n) < share
        rows[moved, 2] = np.abs(rows[moved, 2]) * np.sign(rows[moved, 0] * rows[moved, 1])
        return rows

    return draw


def _peaked(share: float) -> Draw:
    """Return Gaussian rows of four, a share of them Laplace distributed with variance 1."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, 4))
        moved = rng.random(n) < share
        rows[moved] = rng.laplace(size=(int(moved.sum()), 4)) / math.sqrt(2.0)
        return rows

    return draw


def _two_hills(distance: float) -> Draw:
    """Return rows in the plane with variances 1, the first coordinate a mixture of two Gaussians."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, 2))
        rows[:, 0] = math.sqrt(1.0 - distance**2) * rows[:, 0] + distance * rng.choice([-1.0, 1.0], size=n)
        return rows

    return draw


#: Problems that played no part in choosing the kernels of the default; effects fall as n^-1/2.
UNSEEN = (
    Problem("covariance, d = 20", normal(20), lambda e: _neighbours(20, e), (0.4, 0.28, 0.18, 0.09, 0.53, 0.18)),
    Problem("mean, d = 200", normal(200), lambda e: normal(200, shift=e), (0.085, 0.06, 0.038, 0.019, 0.11, 0.038)),
    Problem("interaction, d = 3", normal(3), _interaction, (1.0, 0.8, 0.5, 0.25, 1.0, 0.5)),
    Problem("peaked, d = 4", normal(4), _peaked, (1.0, 0.9, 0.57, 0.28, 1.0, 0.57)),
    Problem("two hills, d = 2", normal(2), _two_hills, (0.95, 0.9, 0.82, 0.6, 0.97, 0.82)),
    Problem("lognormal scale, d = 3", _lognormal(1.0), _lognormal, (1.28, 1.2, 1.13, 1.06, 1.4, 1.13)),
)

#: All problems; their places in this order are part of the seeds.
ALL = PROBLEMS + UNSEEN
