"""The least number of rows for a Type II error of 5 %: doubling, bisection, and a fit with an interval.

Everything here is a function of counts. Which sizes are tried next depends on the counts so far and on nothing else, so
a search that was interrupted takes the same way again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from btests.plan import Array
from studies.harness.estimates import NORMAL_95, Estimate

TARGET = 0.05

# The fit is local: sizes up to this factor away, and the points beside the answer at that factor.
_WINDOW = 1.6
_ASIDE = 1.15

# How often the answer may move before it is taken as it is.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """Trials of each stage: of doubling, of bisection, at the answer and beside it; all are multiples of ``task``."""

    task: int
    doubling: int
    bisection: int
    answer: int
    aside: int


#: Errors in each task of the trials at a size, from the first task on.
Counts = Mapping[int, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Step:
    """Where a search stands: sizes wanted with the trials at each, and the answer once there is nothing more to do.

    Attributes
    ----------
    wanted
        Trials by size, those that are done among them.
    centre
        The size with the most trials, nearest to the answer; 0 until there is one.
    answer
        The size with a Type II error of 5 % and its 95 % interval; None until there is one, and infinite where even the
        last size has a larger error.
    """

    wanted: Mapping[int, int]
    centre: int = 0
    answer: Estimate | None = None


@dataclass(slots=True)
class _Tries:
    """The counts of a search, and what it has asked for."""

    counts: Counts
    task: int
    wanted: dict[int, int] = field(default_factory=dict)

    def error(self, n: int, trials: int) -> float | None:
        """Return the error of the first ``trials`` trials at a size, None where they have to be done first."""
        self.wanted[n] = max(self.wanted.get(n, 0), trials)
        # Of these trials and no others, so that trials which come later do not change a decision that is made.
        errors = self.counts.get(n, ())[: trials // self.task]
        return sum(errors) / trials if len(errors) == trials // self.task else None

    def near(self, centre: int) -> dict[int, tuple[int, int]]:
        """Return (trials, errors) of the sizes that a fit may use."""
        return {
            n: (trials, sum(self.counts[n][: trials // self.task]))
            for n, trials in self.wanted.items()
            if centre / _WINDOW <= n <= centre * _WINDOW
        }


def step(counts: Counts, effort: Effort, first: int, last: int) -> Step:
    """Return what to do next; the search doubles from ``first`` up to ``last``."""
    tries = _Tries(counts, effort.task)
    high = first
    while (found := tries.error(high, effort.doubling)) is not None and found > TARGET:
        if high >= last:
            return Step(tries.wanted, last, Estimate(math.inf, last, math.inf, effort.doubling))
        high = min(2 * high, last)
    low = high // 2
    for _ in range(2):
        if found is None:
            return Step(tries.wanted)
        middle = _round(math.sqrt(low * high))
        found = tries.error(middle, effort.bisection)
        low, high = (low, middle) if found is not None and found <= TARGET else (middle, high)
    if found is None:
        return Step(tries.wanted)
    middle = _round(math.sqrt(low * high))
    guess = fit(tries.near(middle), middle).value
    return _settle(tries, effort, _round(min(max(guess, low / _ASIDE), high * _ASIDE)))


def _settle(tries: _Tries, effort: Effort, centre: int) -> Step:
    """Return the answer near ``centre``, or what has to be done for it."""
    for last_round in (False,) * (_ROUNDS - 1) + (True,):
        found = [tries.error(centre, effort.answer)]
        found += [tries.error(_round(centre * factor), effort.aside) for factor in (1.0 / _ASIDE, _ASIDE)]
        if None in found:
            break
        answer = fit(tries.near(centre), centre)
        if last_round or centre / _ASIDE <= answer.value <= centre * _ASIDE:
            return Step(tries.wanted, centre, answer)
        centre = _round(min(max(answer.value, centre / _WINDOW), centre * _WINDOW))
    return Step(tries.wanted)


def _round(n: float) -> int:
    """Return a whole number of three digits."""
    unit = 10.0 ** max(0, math.floor(math.log10(n)) - 2)
    return max(4, round(unit * round(n / unit)))


def fit(counts: Mapping[int, tuple[int, int]], centre: int) -> Estimate:
    """Return the size with an error of 5 %, with its interval, by a probit regression of the error on log n.

    ``counts`` holds (trials, errors) by size. The interval is that of the regression (delta method, on the scale of
    log n). Where the error does not fall with n the answer is ``centre``, and the interval spans the sizes.
    """
    from scipy.special import ndtri

    sizes = np.array(sorted(counts), dtype=np.float64)
    trials, errors = np.array([counts[int(n)] for n in sizes], dtype=np.float64).T
    total = int(trials.sum())
    x = np.log(sizes / centre)
    beta = np.array([float(ndtri(TARGET)), -1.0])
    covariance = np.eye(2)
    for _ in range(50):
        change, covariance = _newton(x, trials, errors, beta)
        beta = beta + np.clip(change, -1.0, 1.0)
        if np.abs(change).max() < 1e-10:
            break
    a, b = beta
    if not (np.isfinite(beta).all() and b < -1e-3):
        return Estimate(float(centre), float(sizes.min()), float(sizes.max()), total)
    offset = (float(ndtri(TARGET)) - a) / b
    gradient = np.array([-1.0 / b, -offset / b])
    half = NORMAL_95 * math.sqrt(float(gradient @ covariance @ gradient))
    low, middle, high = (centre * math.exp(min(offset + d, 30.0)) for d in (-half, 0.0, half))
    return Estimate(middle, low, high, total)


def _newton(x: Array, trials: Array, errors: Array, beta: Array) -> tuple[Array, Array]:
    """Return a step of Fisher scoring for ``P(error) = Phi(beta_0 + beta_1 x)``: (2,), and the covariance: (2, 2)."""
    from scipy.special import ndtr

    score = beta[0] + beta[1] * x
    p = np.clip(ndtr(score), 1e-9, 1.0 - 1e-9)
    density = np.exp(-0.5 * score**2) / math.sqrt(2.0 * math.pi)
    weight = trials * density**2 / (p * (1.0 - p)) + 1e-12
    design = np.stack([np.ones_like(x), x], axis=1)
    covariance = np.linalg.pinv(design.T @ (weight[:, None] * design))
    return covariance @ (design.T @ (density * (errors - trials * p) / (p * (1.0 - p)))), covariance
