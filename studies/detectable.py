"""Power of ``btests.compare`` at the changes that it says it would have shown: ``python -m studies.detectable``.

Tables of independent normal columns and one of two values, of which one column changes by so much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import click
import numpy as np

import btests
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.report import Report

_TASK_TRIALS = 25

#: Rows of both sides.
SIZES = ((50, 50), (200, 200), (60, 240), (500, 100))


@dataclass(frozen=True, slots=True)
class Cell:
    """Rows of both sides, number of normal columns, what changes (``"share"`` or ``"shift"``), and trials."""

    n_a: int
    n_b: int
    n_columns: int
    change: str
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.n_a}-{self.n_b}-{self.n_columns}-{self.change}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid."""
    for n_a, n_b in SIZES:
        for n_columns in (1, 7):
            for change in ("share", "shift"):
                yield Cell(n_a, n_b, n_columns, change, 10 if quick else 200)


def tables(cell: Cell, rng: np.random.Generator, size: float) -> list[dict[str, Any]]:
    """Return two tables, one column of which changed by ``size``."""
    found = []
    for n, sign in ((cell.n_a, -1.0), (cell.n_b, 1.0)):
        table: dict[str, Any] = {f"x{j}": rng.normal(size=n) for j in range(cell.n_columns)}
        share = 0.5 + sign * 0.5 * size * (cell.change == "share")
        table["paid"] = np.where(rng.random(n) < share, "card", "cash")
        table["x0"] += sign * 0.5 * size * (cell.change == "shift")
        found.append(table)
    return found


@cache
def stated(cell: Cell) -> float:
    """Return the change that a comparison of so many rows, where nothing changed, says it would have shown."""
    for seed in range(100):
        document = btests.compare(*tables(cell, np.random.default_rng(seed), 0.0), seed=seed).to_dict()
        if document["detectable"] is not None:
            return float(document["detectable"][cell.change])
    raise AssertionError("every comparison of equal distributions found a difference")


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return in how many trials the tables, and the column, were found to differ."""
    size, verdicts, columns = stated(cell), 0, 0
    name = "paid" if cell.change == "share" else "x0"
    for trial in trials:
        rng = np.random.default_rng([seed, cell.n_a, cell.n_b, cell.n_columns, cell.change == "share", trial])
        found = btests.compare(*tables(cell, rng, size), seed=trial)
        verdicts += found.different
        columns += found[name].changed
    own = {"n_a": cell.n_a, "n_b": cell.n_b, "columns": cell.n_columns + 1, "change": cell.change, "size": size}
    return [own | {"trials": len(trials), "verdict": verdicts, "column": columns}]


def text(rows: Sequence[Row], command: str) -> str:
    """Return the powers as Markdown."""
    lines = [f"Printed by `{command}`.", ""]
    found = []
    for row in rows:
        shown = [proportion(row[name], row["trials"], 0.95) for name in ("verdict", "column")]
        size = f"{100 * row['size']:.2g} %" if row["change"] == "share" else f"{row['size']:.2g} sd"
        powers = [f"{share.value:.2f} ({share.interval()})" for share in shown]
        found.append((f"{row['n_a']} and {row['n_b']}", row["columns"], row["change"], size, row["trials"], *powers))
    heads = ("rows", "columns", "change", "stated for power .8", "tables", "verdict (95 % interval)", "the column")
    return "\n".join([*lines, *table_lines(heads, found, "lrlrrll"), ""])


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    counts = sorted(rows, key=lambda row: (row["n_a"] != row["n_b"], row["n_a"], row["columns"], row["change"]))
    return Report("detectable", counts=counts, text=lambda command: text(counts, command))


@click.command()
@shared_options("Few tables: a minute.")
def main(**shared: Any) -> None:
    """Measure power at the changes that comparisons state, and write detectable.csv and detectable.md."""
    options = Options("detectable", **shared)
    study = Grid("detectable", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
