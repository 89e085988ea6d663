"""Problems of the study: a distribution of x, and one of y that differs by an effect, which falls with the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btests.datasets import blobs
from btests.plan import Array
from studies.distributions import Draw, bernoulli, equicorrelated, lognormal, normal, poisson, student, waves

# Rows that effects are stated for; of two lengths their harmonic mean counts.
_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Problem:
    """A distribution of x, and one of y for every effect.

    Attributes
    ----------
    name : str
        Name in the tables.
    draw_x : callable
        ``(n, rng)`` to n rows of x.
    draw_other : callable
        From an effect to ``(n, rng)`` to n rows of y.
    effect : float
        Effect at 16,384 rows a side. It falls as n^-1/2.
    short : float
        Effect at 16,384 rows of samples of different lengths, n their harmonic mean; 0 if it is not tested there.
    """

    name: str
    draw_x: Draw
    draw_other: Callable[[float], Draw]
    effect: float
    short: float = 0.0

    def samples(self, n_x: int, n_y: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the samples (n_x, d) and (n_y, d)."""
        rows = 2.0 / (1.0 / n_x + 1.0 / n_y)
        effect = (self.effect if n_x == n_y else self.short) * math.sqrt(_ROWS / rows)
        return self.draw_x(n_x, rng), self.draw_other(effect)(n_y, rng)


def _blobs(stretch: float) -> Draw:
    return lambda n, rng: blobs(n, rng, long_axis=1.0 + stretch)


def _neighbours(d: int, correlation: float) -> Draw:
    """Return Gaussian rows of variance 1 whose neighbouring coordinates are correlated in pairs."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        rows = rng.standard_normal((n, d))
        rows[:, 1::2] = correlation * rows[:, ::2] + math.sqrt(1.0 - correlation**2) * rows[:, 1::2]
        return rows

    return draw


def _ring(height: float, n_waves: int = 5) -> Draw:
    """Return rows around the unit circle, their density by angle 1 + height sin(5 angle), by rejection."""

    def draw(n: int, rng: np.random.Generator) -> Array:
        angle = 2.0 * math.pi * waves(height, n_waves, proposals=2)(n, rng)
        return np.hstack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((n, 2))

    return draw


#: Effects were set by ten trials with some of the tests, drawn from another seed than those of the study.
PROBLEMS = (
    Problem("mean, d = 10", normal(10), lambda e: normal(10, shift=e), 0.013, 0.011),
    Problem("scale, d = 10", normal(10), lambda e: normal(10, scale=1.0 + e), 0.012, 0.01),
    Problem("correlation, d = 5", normal(5), lambda e: equicorrelated(5, e), 0.026, 0.022),
    Problem("Student t, d = 2", normal(2), lambda e: student(2, 1.0 / e), 0.028, 0.026),
    Problem("blobs, d = 2", _blobs(0.0), _blobs, 0.25, 0.25),
    Problem("ring, d = 2", _ring(0.0), _ring, 0.1, 0.11),
    Problem("mean, d = 100", normal(100), lambda e: normal(100, shift=e), 0.0085),
    Problem("pairs, d = 20", normal(20), lambda e: _neighbours(20, e), 0.07),
    Problem("waves, d = 1", waves(0.0, 8, proposals=2), lambda e: waves(e, 8, proposals=2), 0.085),
    Problem("t(2) scale, d = 5", student(5, 2.0), lambda e: student(5, 2.0, scale=1.0 + e), 0.025),
    Problem("Poisson, d = 3", poisson(3, 2.0), lambda e: poisson(3, 2.0 + e), 0.025),
)


def _sorted(draw: Draw) -> Draw:
    """Return the same rows, sorted by their first column."""

    def draw_sorted(n: int, rng: np.random.Generator) -> Array:
        rows = draw(n, rng)
        return rows[np.argsort(rows[:, 0])]

    return draw_sorted


# Trials of samples of one length, of others, and of those in which the longer sample has rows in no bin, of which
# hundreds of bins are drawn.
_MANY, _SOME, _FEW = 10_000, 3000, 1000

#: Distributions of both samples, the rows of x and of y, and trials, by name. Swaps and relabellings are exact for any
#: number of rows, so few rows make many trials affordable.
NULLS: dict[str, tuple[Draw, int, int, int]] = {
    "Poisson(.5), d = 2": (poisson(2, 0.5), 64, 64, _MANY),
    "normal, d = 5": (normal(5), 64, 64, _MANY),
    "lognormal, d = 3": (lognormal(3), 64, 64, _MANY),
    "normal, sorted, d = 3": (_sorted(normal(3)), 64, 64, _MANY),
    "Student t(2), d = 2": (student(2, 2.0), 64, 64, _MANY),
    "coin, d = 1": (bernoulli(0.5), 64, 64, _MANY),
    "normal, d = 100": (normal(100), 64, 64, _MANY),
    "normal, d = 5, 20 to 1": (normal(5), 120, 6, _SOME),
    "lognormal, d = 3, 20 to 1": (lognormal(3), 120, 6, _SOME),
    "Poisson(.5), sorted, d = 2, 20 to 1": (_sorted(poisson(2, 0.5)), 120, 6, _SOME),
    "lognormal, d = 3, some rows in no bin": (lognormal(3), 700, 35, _FEW),
    "lognormal, d = 3, some of the shorter in no bin": (lognormal(3), 100, 63, _SOME),
}
