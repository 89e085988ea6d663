"""Trials of a cell of the study, and how often each method found something."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from btests.comparison.cells import pool
from btests.comparison.compare_options import Options
from btests.comparison.filters import why_excluded
from btests.comparison.tests import run_tests
from btests.nulls import SignFlip
from studies.mixed.changes import CHANGES
from studies.mixed.flights import first_week, flights
from studies.mixed.usual import corrected, usual_pvalues

ALPHA = 0.05

#: Trials that one task does.
PIECE = 50

# Fewer flips than the default, to save time: the level is exact for both.
_N_RESAMPLES = 499

SOURCES = {"flights": flights, "week": first_week}

#: What is counted: the verdict and its three looks, any column and any pair by corrected p-values, the column that was
#: changed by its own corrected p-value, and the usual tests, any of them and those of the changed column.
METHODS = ("verdict", "together", "columns", "pairs", "named", "usual", "usual named")


@dataclass(frozen=True, slots=True)
class Cell:
    """A table, how many rows of it make each side, a change of the second side and its size."""

    source: str
    n_a: int
    n_b: int
    change: str
    size: float
    trials: int

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.source}-{self.n_a}-{self.n_b}-{self.change}-{self.size:g}"


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a method found something in a cell."""

    source: str
    n_a: int
    n_b: int
    change: str
    size: float
    method: str
    trials: int
    found: int

    @property
    def key(self) -> tuple[Any, ...]:
        """What is counted."""
        return self.source, self.n_a, self.n_b, self.change, self.size, self.method


def run_piece(cell: Cell, piece: int, seed: int) -> list[Tally]:
    """Do the trials of one piece of a cell."""
    n = min(PIECE, cell.trials - piece * PIECE)
    counts = np.zeros(len(METHODS), dtype=np.int64)
    for trial in range(n):
        number = sum(map(ord, cell.name))
        rng = np.random.default_rng([seed, number, cell.n_a, cell.n_b, piece, trial])
        counts += one_trial(cell, rng)
    return [
        Tally(cell.source, cell.n_a, cell.n_b, cell.change, cell.size, method, n, int(count))
        for method, count in zip(METHODS, counts, strict=True)
    ]


def one_trial(cell: Cell, rng: np.random.Generator) -> Sequence[int]:
    """Return for each method whether it finds a difference between two random parts of the table."""
    table = SOURCES[cell.source]()
    rows = rng.choice(table.num_rows, cell.n_a + cell.n_b, replace=False)
    a, b = table.take(rows[: cell.n_a]), table.take(rows[cell.n_a :])
    columns = [pool(name, a[name], b[name]) for name in table.column_names]
    changed = ""
    if cell.change != "none":
        change, changed, _ = CHANGES[cell.change]
        columns = change(columns, cell.size, rng)
    columns = [cells for cells in columns if why_excluded(cells, named=False) is None]
    ours = run_tests(columns, _options(int(rng.integers(2**32))), lambda share: None)
    by_column = ours.column_tests.by_column.corrected()
    named = [p for cells, p in zip(columns, by_column, strict=True) if cells.name == changed]
    usual = usual_pvalues(columns)
    holm = corrected([p for _, p in usual])
    pvalues = [
        ours.pvalue,
        ours.pvalues[0],
        by_column.min(),
        ours.pvalues[2],
        min(named, default=1.0),
        min(holm),
        min((p for (name, _), p in zip(usual, holm, strict=True) if name == changed), default=1.0),
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


def write_tallies(path: Path, tallies: Iterable[Tally]) -> None:
    """Write tallies to a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Tally)])
        writer.writerows(astuple(tally) for tally in tallies)


def read_tallies(path: Path) -> list[Tally]:
    """Read tallies from a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Tally(
                row["source"],
                int(row["n_a"]),
                int(row["n_b"]),
                row["change"],
                float(row["size"]),
                row["method"],
                int(row["trials"]),
                int(row["found"]),
            )
            for row in csv.DictReader(file)
        ]


def add_up(tallies: Iterable[Tally]) -> list[Tally]:
    """Return one tally for each method and cell."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    for tally in tallies:
        total = sums.setdefault(tally.key, [0, 0])
        total[0] += tally.trials
        total[1] += tally.found
    return [Tally(*key, *total) for key, total in sums.items()]
