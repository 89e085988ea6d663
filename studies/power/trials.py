"""Trials of one test on one problem at one size: rejections and CPU time."""

from __future__ import annotations

import csv
import os
import re
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from studies.counts import clopper_pearson, write_rows
from studies.power.methods import Method, methods
from studies.power.problems import PROBLEMS, SIZES

#: Trials of one piece.
PIECE = 50

#: The share of the trials, but not fewer than ten, that a test runs in which takes longer than so many CPU seconds.
SHARES = {1.5: 0.5, 0.0: 1.0}

#: Levels are measured where the rows of both samples are at most so many together.
NULL_ROWS = 700

# The problem whose first trial measures the time of a test.
_TIMED = PROBLEMS[0].name

# Rows of the call before the first trial, which loads and compiles the packages of a test.
_WARM_ROWS = 40

#: Seconds of one test by its name and the rows of x and y.
Costs = dict[tuple[str, int, int], float]


@dataclass(frozen=True, slots=True)
class Cell:
    """A test of a group, a problem by its name, rows of x and y, and how many trials."""

    group: str
    problem: str
    n_x: int
    n_y: int
    method: str
    trials: int

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{_slug(self.problem)}-{self.n_x}-{self.n_y}-{self.trials}-{self.group}-{_slug(self.method)}"


@dataclass(frozen=True, slots=True)
class Power:
    """Rejections and CPU seconds of a test in the trials of a cell."""

    group: str
    problem: str
    n_x: int
    n_y: int
    method: str
    trials: int
    rejections: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """Group, problem, sizes and test."""
        return self.group, self.problem, self.n_x, self.n_y, self.method

    @property
    def rate(self) -> float:
        """Share of rejections."""
        return self.rejections / self.trials

    @property
    def milliseconds(self) -> float:
        """CPU milliseconds of one test."""
        return 1e3 * self.seconds / self.trials

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of the power."""
        return clopper_pearson(self.rejections, self.trials, confidence)


def run_piece(cell: Cell, piece: int, seed: int) -> list[Power]:
    """Return the rejections of one piece of a cell, reproducible from its number; CPU times are not."""
    first, last = piece * PIECE, min((piece + 1) * PIECE, cell.trials)
    outcomes = [one_trial(cell, trial, seed) for trial in range(first, last)]
    rejections, seconds = sum(rejects for rejects, _ in outcomes), sum(taken for _, taken in outcomes)
    return [Power(cell.group, cell.problem, cell.n_x, cell.n_y, cell.method, last - first, rejections, seconds)]


def one_trial(cell: Cell, trial: int, seed: int) -> tuple[bool, float]:
    """Return whether the test rejects in a trial, and its CPU seconds; all tests of a trial get the same samples."""
    os.environ["BTESTS_THREADS"] = "1"
    place = [problem.name for problem in PROBLEMS].index(cell.problem)
    x, y = PROBLEMS[place].samples(cell.n_x, cell.n_y, np.random.default_rng([seed, place, cell.n_x, cell.n_y, trial]))
    method = _warmed(cell.group, cell.method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        rejects = method.rejects(x, y, trial)
        return rejects, time.process_time() - began


def measure(group: str, sizes: Sequence[tuple[int, int]], seed: int, known: Costs, only: Sequence[str] = ()) -> Costs:
    """Return the CPU seconds of one call of every test that runs here at every size, and those ``known``."""
    costs = dict(known)
    for method in methods(group, only):
        for n_x, n_y in () if method.missing else sizes:
            key = (method.name, n_x, n_y)
            if key not in costs:
                _, costs[key] = one_trial(Cell(group, _TIMED, n_x, n_y, method.name, 1), 0, seed)
    return costs


def trials_of(seconds: float, trials: int, limit: float) -> int:
    """Return how many of ``trials`` a test runs in that takes so many seconds: none beyond ``limit``."""
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
        for problem in PROBLEMS:
            if problem.is_null and n_x + n_y > NULL_ROWS:
                continue
            for method in methods(group, only):
                cost = costs.get((method.name, n_x, n_y), float("inf"))
                runs = trials_of(cost, trials[n_x, n_y], limit)
                if runs:
                    found.append(Cell(group, problem.name, n_x, n_y, method.name, runs))
    return found


def add_up(powers: Iterable[Power]) -> list[Power]:
    """Return one count for each key, in the order in which they first come."""
    sums: dict[tuple[str, str, int, int, str], Power] = {}
    for power in powers:
        sums[power.key] = _added(sums[power.key], power) if power.key in sums else power
    return list(sums.values())


def write_powers(path: Path, powers: Iterable[Power]) -> None:
    """Write counts as CSV; the file appears whole or not at all."""
    rows = ((*astuple(power)[:-1], f"{power.seconds:.4f}") for power in powers)
    write_rows(path, (field.name for field in fields(Power)), rows)


def read_powers(path: Path) -> list[Power]:
    """Return the counts of a file that ``write_powers`` wrote."""
    with path.open(newline="") as file:
        return [_parse(row) for row in csv.DictReader(file)]


def write_costs(path: Path, costs: Costs) -> None:
    """Write the seconds of one call of every test as CSV."""
    write_rows(path, ("method", "n_x", "n_y", "seconds"), ((*key, f"{taken:.4f}") for key, taken in costs.items()))


def read_costs(path: Path) -> Costs:
    """Return the seconds of a file that ``write_costs`` wrote; none if it does not exist."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {(r["method"], int(r["n_x"]), int(r["n_y"])): float(r["seconds"]) for r in csv.DictReader(file)}


@cache
def _warmed(group: str, name: str) -> Method:
    """Return a test by its name, called once: packages are imported and compiled before a trial is timed."""
    method = next(method for method in methods(group) if method.name == name)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.rejects(rng.standard_normal((_WARM_ROWS, 3)), rng.standard_normal((_WARM_ROWS, 3)), 0)
    return method


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower().replace("+", "and")).strip("_")


def _added(a: Power, b: Power) -> Power:
    return Power(*a.key, a.trials + b.trials, a.rejections + b.rejections, a.seconds + b.seconds)


def _parse(row: dict[str, str]) -> Power:
    key = row["group"], row["problem"], int(row["n_x"]), int(row["n_y"]), row["method"]
    return Power(*key, int(row["trials"]), int(row["rejections"]), float(row["seconds"]))
