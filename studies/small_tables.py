"""Levels of ``btests.compare`` on random small tables of mixed columns: ``python -m studies.small_tables``.

A trial draws columns at random, with ties and missing cells, and two tables of them that do not differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import numpy.typing as npt

import btests
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.report import Report

LEVELS = {"rejections": 0.05, "at_01": 0.01}

#: What is counted: the verdict, and each of its tests where there is one.
TESTS = ("verdict", "joint", "columns", "pairs")

_TASK_TRIALS = 25

Column = npt.NDArray[Any]
Draw = Callable[[np.random.Generator, int], Column]


def _levels(rng: np.random.Generator) -> Draw:
    """Return a draw of a few values with random probabilities, some of them rare."""
    k = int(rng.integers(2, 8))
    shares = rng.dirichlet(np.full(k, rng.choice([0.3, 1.0, 10.0])))
    values = rng.choice([np.array(list("abcdefgh"))[:k], np.arange(k), rng.normal(size=k)][int(rng.integers(3))], k)
    return lambda own, n: own.choice(values, n, p=shares)


def _numbers(rng: np.random.Generator) -> Draw:
    """Return a draw of a continuous distribution, rounded or not."""
    shape, digits = rng.choice(["normal", "lognormal", "uniform", "cauchy"]), int(rng.choice([0, 1, 9]))

    def draw(own: np.random.Generator, n: int) -> Column:
        made: dict[str, Callable[..., Any]] = {
            "normal": own.normal,
            "lognormal": own.lognormal,
            "uniform": own.random,
            "cauchy": own.standard_cauchy,
        }
        return np.asarray(made[str(shape)](size=n)).round(digits)

    return draw


def _others(rng: np.random.Generator) -> Draw:
    """Return a draw of counts, booleans or days."""
    kind, rate = int(rng.integers(3)), float(rng.choice([0.1, 0.5, 3.0]))

    def draw(own: np.random.Generator, n: int) -> Column:
        if kind == 0:
            return own.poisson(rate, n)
        if kind == 1:
            return own.random(n) < min(0.5, rate)
        return np.datetime64("2024-01-01") + own.integers(0, 90, n).astype("m8[D]")

    return draw


def random_tables(rng: np.random.Generator, n_a: int, n_b: int) -> list[dict[str, list[Any]]]:
    """Return two tables of the same distribution, of one to six columns."""
    made = [(_numbers, _levels, _others)[int(rng.integers(3))](rng) for _ in range(int(rng.integers(1, 7)))]
    lost = rng.choice([0.0, 0.0, 0.05, 0.3, 0.8], len(made))
    # Cells are missing in the same rows of all such columns, or independently.
    together = bool(rng.integers(2))
    tables = []
    for n in (n_a, n_b):
        holes = rng.random(n)
        table = {}
        for k, (draw, share) in enumerate(zip(made, lost, strict=True)):
            is_missing = (holes if together else rng.random(n)) < share
            cells = zip(draw(rng, n).tolist(), is_missing, strict=True)
            table[f"c{k}"] = [None if gone else cell for cell, gone in cells]
        tables.append(table)
    return tables


@dataclass(frozen=True, slots=True)
class Cell:
    """Least and most rows of a table, whether both have the same number, and trials."""

    least: int
    most: int
    is_equal: bool
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.least}-{self.most}-{'equal' if self.is_equal else 'unequal'}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid: 2,000 pairs of tables."""
    for least, most in ((8, 30), (30, 120)):
        for is_equal in (True, False):
            yield Cell(least, most, is_equal, 20 if quick else 500)


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return how often the verdict and each of its tests reject."""
    rows: dict[str, Row] = {}
    for trial in trials:
        rng = np.random.default_rng([seed, cell.least, cell.most, int(cell.is_equal), trial])
        n_a = int(rng.integers(cell.least, cell.most + 1))
        n_b = n_a if cell.is_equal else int(rng.integers(cell.least, cell.most + 1))
        for name, pvalue in pvalues(random_tables(rng, n_a, n_b), trial).items():
            own = {"least": cell.least, "most": cell.most, "equal": cell.is_equal, "test": name, "trials": 0}
            row = rows.setdefault(name, own | dict.fromkeys(LEVELS, 0))
            row["trials"] += 1
            for level, alpha in LEVELS.items():
                row[level] += int(pvalue <= alpha)
    return list(rows.values())


def pvalues(tables: Sequence[dict[str, list[Any]]], seed: int) -> dict[str, float]:
    """Return the p-values of the verdict and of its tests; none where no column can be compared."""
    try:
        document = btests.compare(*tables, seed=seed).to_dict()
    except ValueError as error:
        if "remains to be compared" not in str(error):
            raise
        return {}
    found = {"verdict": float(document["verdict"]["pvalue"])}
    return found | {test["name"]: float(test["pvalue"]) for test in document["tests"]}


def tables(rows: Sequence[Row], command: str) -> str:
    """Return the levels as Markdown, of each cell and of all together."""
    whole = [_sum([row for row in rows if row["test"] == name]) for name in TESTS]
    lines = [f"Printed by `{command}`. Tables none of whose columns can be compared are not counted.", ""]
    found = []
    for row in [*rows, *whole]:
        size = f"{row['least']} to {row['most']}" if row["least"] else "all"
        lengths = {True: "equal", False: "unequal"}.get(row["equal"], "both")
        shares = [proportion(row[name], row["trials"], 0.99) for name in LEVELS]
        shown = [f"{share.value:.3f} ({share.interval()})" for share in shares]
        found.append((size, lengths, row["test"], row["trials"], *shown))
    heads = ("rows", "lengths", "test", "tables", "rejected at .05 (99 % interval)", "at .01 (99 % interval)")
    return "\n".join([*lines, *table_lines(heads, found, "lllrll"), ""])


def _sum(rows: Sequence[Row]) -> Row:
    counts = {name: sum(row[name] for row in rows) for name in ("trials", *LEVELS)}
    return {"least": 0, "most": 0, "equal": None, "test": rows[0]["test"], **counts}


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    counts = sorted(rows, key=lambda row: (row["least"], not row["equal"], TESTS.index(row["test"])))
    return Report("small-tables", counts=counts, text=lambda command: tables(counts, command))


@click.command()
@shared_options("Few tables: half a minute.")
def main(**shared: Any) -> None:
    """Measure levels on random small tables, and write small-tables.csv and small-tables.md."""
    options = Options("small_tables", **shared)
    study = Grid("small-tables", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
