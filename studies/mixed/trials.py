"""Trials of the study: whether each method finds a difference between two random parts of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btests.comparison.cells import pool
from btests.comparison.compare_options import Options
from btests.comparison.identifiers import why_excluded
from btests.comparison.tests import run_tests
from btests.multiple_testing import holm
from btests.nulls import SignFlip
from studies.column_tests import baseline_pvalues
from studies.flights import first_week, flights
from studies.harness.counts import Row
from studies.mixed.perturbations import PERTURBATIONS

ALPHA = 0.05

#: Trials of one task.
TASK_TRIALS = 50

# Fewer flips than the default, to save time: the level is exact for both.
_N_RESAMPLES = 499

SOURCES = {"flights": flights, "week": first_week}

#: What is counted: the verdict and its three tests (all columns, any column, any pair), the changed column by its own
#: corrected p-value, and the baselines, any of them and those of the changed column.
METHODS = ("verdict", "together", "columns", "pairs", "named", "usual", "usual named")


@dataclass(frozen=True, slots=True)
class Cell:
    """A table, rows of each side, a perturbation of the second side, its size, and trials."""

    source: str
    n_a: int
    n_b: int
    change: str
    size: float
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.source}-{self.n_a}-{self.n_b}-{self.change}-{self.size:g}"


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return how often each method finds a difference."""
    counts = np.zeros(len(METHODS), dtype=np.int64)
    number = sum(map(ord, cell.name))
    for trial in trials:
        key = [seed, number, cell.n_a, cell.n_b, *divmod(trial, TASK_TRIALS)]
        counts += one_trial(cell, np.random.default_rng(key))
    own = {name: getattr(cell, name) for name in ("source", "n_a", "n_b", "change", "size")}
    return [
        {**own, "method": method, "trials": len(trials), "found": int(found)}
        for method, found in zip(METHODS, counts, strict=True)
    ]


def one_trial(cell: Cell, rng: np.random.Generator) -> Sequence[int]:
    """Return for each method whether it finds a difference between two random parts of the table."""
    table = SOURCES[cell.source]()
    rows = rng.choice(table.num_rows, cell.n_a + cell.n_b, replace=False)
    a, b = table.take(rows[: cell.n_a]), table.take(rows[cell.n_a :])
    columns = [pool(name, a[name], b[name]) for name in table.column_names]
    changed = ""
    if cell.change != "none":
        perturbation = PERTURBATIONS[cell.change]
        changed, columns = perturbation.column, perturbation.apply(columns, cell.size, rng)
    columns = [cells for cells in columns if why_excluded(cells, named=False) is None]
    ours = run_tests(columns, _options(int(rng.integers(2**32))), lambda share: None)
    by_column = ours.column_tests.by_column.corrected()
    named = [p for cells, p in zip(columns, by_column, strict=True) if cells.name == changed]
    baselines = baseline_pvalues(columns)
    adjusted = holm(np.array([p for _, p in baselines]))
    pvalues = [
        ours.pvalue,
        ours.pvalues[0],
        by_column.min(),
        ours.pvalues[2],
        min(named, default=1.0),
        min(adjusted),
        min((p for (name, _), p in zip(baselines, adjusted, strict=True) if name == changed), default=1.0),
    ]
    return [int(p <= ALPHA) for p in pvalues]


def _options(seed: int) -> Options:
    return Options(
        by=None,
        value_a=None,
        value_b=None,
        columns=(),
        exclude=(),
        common=False,
        alpha=ALPHA,
        tolerance=None,
        kernel=None,
        null=SignFlip(_N_RESAMPLES),
        block_size=None,
        seed=seed,
        max_rows=10**9,
        delimiter=None,
    )
