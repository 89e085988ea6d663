"""Trials of one test on one problem at one size: rejections and CPU time."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from studies.harness.counts import Row
from studies.power.methods import Method, methods
from studies.power.problems import ALL, PROBLEMS, SIZES

#: Trials of one task.
TASK_TRIALS = 50

#: Share of the trials, but not fewer than ten, of a test that takes at least so many CPU seconds.
SHARES = {1.5: 0.5, 0.0: 1.0}

#: Levels are measured where both samples have at most so many rows together.
NULL_ROWS = 700

# The problem whose first trial measures the time of a test.
_TIMED = PROBLEMS[0].name

# Rows of the call before the first trial, which imports and compiles the packages of a test.
_WARM_UP_ROWS = 40

#: Seconds of one test by its name and the rows of x and y.
Costs = dict[tuple[str, int, int], float]


@dataclass(frozen=True, slots=True)
class Cell:
    """A test of a group, a problem by its name, rows of x and y, and trials."""

    group: str
    problem: str
    n_x: int
    n_y: int
    method: str
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{slug(self.problem)}-{self.n_x}-{self.n_y}-{self.trials}-{self.group}-{slug(self.method)}"


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return rejections, which the seed determines, and CPU seconds, which it does not."""
    outcomes = [one_trial(cell, trial, seed) for trial in trials]
    own = {name: getattr(cell, name) for name in ("group", "problem", "n_x", "n_y", "method")}
    rejections, seconds = sum(rejects for rejects, _ in outcomes), sum(taken for _, taken in outcomes)
    return [{**own, "trials": len(trials), "rejections": rejections, "seconds": seconds}]


def one_trial(cell: Cell, trial: int, seed: int) -> tuple[bool, float]:
    """Return whether the test rejects in a trial, and its CPU seconds; all tests of a trial get the same samples."""
    place = [problem.name for problem in ALL].index(cell.problem)
    x, y = ALL[place].samples(cell.n_x, cell.n_y, np.random.default_rng([seed, place, cell.n_x, cell.n_y, trial]))
    method = _warmed_up(cell.group, cell.method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        rejects = method.rejects(x, y, trial)
        return rejects, time.process_time() - began


def measure(group: str, method: str, size: tuple[int, int], seed: int) -> list[Row]:
    """Return the CPU seconds of one call of a test."""
    _, seconds = one_trial(Cell(group, _TIMED, *size, method, 1), 0, seed)
    return [{"method": method, "n_x": size[0], "n_y": size[1], "seconds": seconds}]


def trials_of(seconds: float, trials: int, limit: float) -> int:
    """Return how many of ``trials`` are run of a test that takes so many seconds: none beyond ``limit``."""
    if seconds > limit:
        return 0
    share = next(share for above, share in SHARES.items() if seconds >= above)
    return min(trials, max(round(share * trials), 10))


def cells_of(
    group: str, trials: dict[tuple[int, int], int], costs: Costs, limit: float, only: Sequence[str] = ()
) -> list[Cell]:
    """Return the cells of a group at the sizes of ``trials``, small samples first."""
    found = []
    for n_x, n_y in sorted(trials, key=SIZES.index):
        for problem in ALL if group == "fisher" else PROBLEMS:
            if problem.is_null and n_x + n_y > NULL_ROWS:
                continue
            for method in methods(group, only):
                cost = costs.get((method.name, n_x, n_y), float("inf"))
                runs = trials_of(cost, trials[n_x, n_y], limit)
                if runs:
                    found.append(Cell(group, problem.name, n_x, n_y, method.name, runs))
    return found


@cache
def _warmed_up(group: str, name: str) -> Method:
    """Return a test by its name, called once: packages are imported and compiled before a trial is timed."""
    method = next(method for method in methods(group) if method.name == name)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.rejects(rng.standard_normal((_WARM_UP_ROWS, 3)), rng.standard_normal((_WARM_UP_ROWS, 3)), 0)
    return method


def slug(name: str) -> str:
    """Return a name as letters, digits and underscores, for files."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower().replace("+", "and")).strip("_")
