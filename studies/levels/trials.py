"""Cells and trials of the study of levels.

A cell is a problem, a number of rows and block sizes. All nulls are tested on the same draws, so that the columns of a
table can be compared.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from btests._warnings import BTestWarning
from btests.api import btest
from btests.block_size import BlockRule
from btests.conclude import BlockSummaries, conclude
from btests.data.sample import Sample
from btests.nulls import CrossMMD, Normal, Null, SignFlip, ThirdCumulant
from btests.plan import Plan
from btests.selection import Setting, choose
from btests.statistics import MMD, summarize
from studies.harness.counts import Row
from studies.problems import DEFAULT_PROBLEMS, PROBLEMS

#: Levels of the tests, by the columns of their counts.
LEVELS = {"at_05": 0.05, "at_01": 0.01, "at_001": 0.001}

#: The nulls of the study. 999 flips, not the default 1999, to save time: the level is exact for both.
NULLS: dict[str, Null] = {
    "SignFlip": SignFlip(999),
    "Normal": Normal(),
    "ThirdCumulant": ThirdCumulant(),
    "CrossMMD": CrossMMD(),
}

#: ``btest(x, y)`` with 999 flips, and with other rules for ties where there are many.
DEFAULTS: dict[str, SignFlip] = {
    "default": SignFlip(999),
    "ties midp": SignFlip(999, "midp"),
    "ties random": SignFlip(999, "random"),
}

#: Trials of one task.
TASK_TRIALS = 250


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem (its index in PROBLEMS), rows of x, block sizes, trials, and whether the null hypothesis holds."""

    problem: int
    n: int
    block_sizes: tuple[int, ...]
    trials: int
    is_null: bool

    @property
    def name(self) -> str:
        """Name for files."""
        sizes = "_".join(map(str, self.block_sizes))
        return f"{self.problem}-{self.n}-{sizes}-{'H0' if self.is_null else 'HA'}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid, cheap cells first: B from 2 to n/2, n from 200 to 20000."""
    trials, power_trials = (200, 100) if quick else (10_000, 1_000)
    equal = [i for i, problem in enumerate(PROBLEMS) if problem.rows_of_x == 1]
    unequal = [i for i, problem in enumerate(PROBLEMS) if problem.rows_of_x > 1]
    small: list[tuple[list[int], int, tuple[int, ...]]] = [
        (equal, 200, (2, 14, 50, 100)),
        (unequal, 200, (2, 6, 20)),
        (equal, 2000, (2, 8, 45, 250, 1000)),
        (unequal, 2000, (2, 20, 200)),
    ]
    for problems, n, sizes in small:
        for i in problems:
            yield Cell(i, n, sizes, trials, True)
            yield Cell(i, n, sizes, power_trials, False)
    if quick:
        return
    wide = [i for i in equal if "100" in PROBLEMS[i].name]
    narrow = [i for i in equal if i not in wide]
    large: list[tuple[list[int], tuple[int, ...]]] = [
        (narrow, (2, 141)),
        (wide, (2, 141)),
        (narrow[1:], (1000,)),
        (narrow[:1], (1000, 10000)),  # 0.4 G kernel values a trial: the largest blocks on one problem alone
    ]
    for problems, sizes in large:
        for i in problems:
            yield Cell(i, 20000, sizes, trials, True)


def default_cells(quick: bool, trials: int | None = None) -> Iterator[Cell]:
    """Yield the cells of the default test, whose automatic block size is written as 0."""
    trials = trials or (100 if quick else 10_000)
    for i, problem in enumerate(DEFAULT_PROBLEMS):
        for n in (50, 200) if problem.has_ties else (200,):
            yield Cell(i, n, (0,), trials, True)


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return the rejections of every null at every block size."""
    problem = PROBLEMS[cell.problem]
    n_y = cell.n // problem.rows_of_x
    hits: Counter[tuple[int, str, str]] = Counter()
    for trial in trials:
        rng = np.random.default_rng([seed, cell.problem, cell.n, int(cell.is_null), trial])
        # Fresh rows are in random order already: no shuffle.
        x = Sample(problem.draw(cell.n, rng))
        y = Sample((problem.draw if cell.is_null else problem.draw_other)(n_y, rng))
        for b in cell.block_sizes:
            # Without a kernel, the median heuristic.
            kernel = choose(problem.kernel, x, y, Setting(BlockRule(b))).kernel
            summary = summarize(MMD(kernel), x, y, Plan.of_size(cell.n, n_y, b), 1)
            for name, null in NULLS.items():
                if name == "CrossMMD" and problem.rows_of_x > 1:
                    continue  # it needs samples of one length
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BTestWarning)
                    pvalue = conclude(BlockSummaries((kernel,), (summary,)), null, trial).pvalue
                hits.update({(b, name, level): int(pvalue <= alpha) for level, alpha in LEVELS.items()})
    return [_row(cell, problem.name, (b, null), len(trials), hits) for b in cell.block_sizes for null in NULLS]


def count_default(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return the rejections of the default test; with other rules for ties where there are many."""
    problem = DEFAULT_PROBLEMS[cell.problem]
    nulls = DEFAULTS if problem.has_ties else {"default": DEFAULTS["default"]}
    hits: Counter[tuple[int, str, str]] = Counter()
    for trial in trials:
        rng = np.random.default_rng([seed, cell.problem, cell.n, 2, trial])
        x, y = problem.draw(cell.n, rng), problem.draw(cell.n // problem.rows_of_x, rng)
        for name, null in nulls.items():
            pvalue = btest(x, y, null=null, seed=trial, shuffle=False).pvalue
            hits.update({(0, name, level): int(pvalue <= alpha) for level, alpha in LEVELS.items()})
    return [_row(cell, problem.name, (0, name), len(trials), hits) for name in nulls]


def _row(cell: Cell, problem: str, test: tuple[int, str], trials: int, hits: Counter[tuple[int, str, str]]) -> Row:
    b, null = test
    row = {"problem": problem, "n": cell.n, "block_size": b, "is_null": cell.is_null, "null": null, "trials": trials}
    return row | {level: hits[b, null, level] for level in LEVELS}
