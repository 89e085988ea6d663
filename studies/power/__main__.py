"""Measure power and CPU time of the default test beside other tests: ``python -m studies.power``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row, add_up
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.grid import split
from studies.harness.report import Report
from studies.power.methods import GROUPS, methods
from studies.power.penguins import section
from studies.power.problems import SIZES
from studies.power.tables import missing_of, tables
from studies.power.trials import TASK_TRIALS, Costs, cells_of, count, measure, slug

# Trials at every size.
_TRIALS = dict(zip(SIZES, (200, 100, 40, 25, 100, 10), strict=True))
_QUICK_TRIALS = 5

_TIMES = "seconds-"


def trials_by_size(quick: bool, trials: int | None, only: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Return the number of trials at every size, or at those of ``only`` rows of x."""
    sizes = [size for size in (SIZES[:1] if quick else SIZES) if not only or size[0] in only]
    return {size: trials or (_QUICK_TRIALS if quick else _TRIALS[size]) for size in sizes}


@dataclass(frozen=True, slots=True)
class Power:
    """The tests of a group: each is timed first; slow tests have fewer trials or none.

    Attributes
    ----------
    group : str
        One of GROUPS.
    trials : dict
        Trials at every size.
    limit : float
        Seconds of one test above which it is excluded.
    only : tuple of str
        Names of the tests to run; all by default.
    seed : int
        Seed of all draws.
    """

    group: str
    trials: dict[tuple[int, int], int]
    limit: float
    only: tuple[str, ...]
    seed: int

    @property
    def name(self) -> str:
        """Name of the files."""
        return "power" if self.group == "peers" else f"power-{self.group}"

    @property
    def cost(self) -> float:
        """Approximate seconds of one core."""
        return float(sum(task.cost for task in self.plan({})))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return the measurements of time and, once they are done, the trials."""
        names = [method.name for method in methods(self.group, self.only) if not method.missing]
        times = [
            Task(
                f"{_TIMES}{slug(name)}-{n_x}-{n_y}", measure, (self.group, name, (n_x, n_y), self.seed), exclusive=True
            )
            for name in names
            for n_x, n_y in self.trials
        ]
        if any(task.name not in done for task in times):
            return times
        costs = costs_of(done)
        cells = cells_of(self.group, self.trials, costs, self.limit, self.only)
        return times + [
            task
            for cell in cells
            for task in split(cell, count, TASK_TRIALS, self.seed, costs[cell.method, cell.n_x, cell.n_y])
        ]

    def report(self, done: Done) -> Sequence[Report]:
        """Return the tables and the counts."""
        rows = add_up(row for name, own in done.items() if not name.startswith(_TIMES) for row in own)
        text = tables(rows, self.group, costs_of(done), missing_of(methods(self.group, self.only)))
        if self.group == "peers":
            text += "\n" + section()
        counts: list[Row] = [{**row, "seconds": f"{row['seconds']:.4f}"} for row in rows]
        return [Report(self.name, counts=counts, text=lambda _: text)]


def costs_of(done: Done) -> Costs:
    """Return the measured seconds of one call of every test."""
    return {(row["method"], row["n_x"], row["n_y"]): row["seconds"] for row in rows_of(done, _TIMES)}


@click.command()
@shared_options("Few trials and rows: a minute.")
@click.option("--families", is_flag=True, help="Families of kernels for the default, in place of the peers.")
@click.option("--fisher", is_flag=True, help="The default with and without kernel Fisher discriminants.")
@click.option("--rows", type=int, multiple=True, help="Only the sizes with so many rows of x; several times.")
@click.option("--trials", type=click.IntRange(min=1), default=None, help="Trials of each test; 20 to 200 by default.")
@click.option("--only", multiple=True, help="Only the tests of these names; several times.")
@click.option("--limit", default=2.0, show_default=True, help="Seconds of one test above which it is excluded.")
def main(
    *,
    families: bool,
    fisher: bool,
    rows: tuple[int, ...],
    trials: int | None,
    only: tuple[str, ...],
    limit: float,
    **shared: Any,
) -> None:
    """Measure power and CPU time, print the tables, and write them and the counts behind them."""
    options = Options("power", **shared)
    counts = trials_by_size(options.quick, trials, rows)
    if not counts:
        raise click.UsageError(f"--rows must be among {', '.join(str(n_x) for n_x, _ in SIZES)}, got {rows}.")
    if families and fisher:
        raise click.UsageError("name --families or --fisher, not both.")
    study = Power(GROUPS[1 if families else 2 if fisher else 0], counts, limit, only, options.seed)
    execute([study], options, lambda name: options.command())
    click.echo((options.folder / f"{study.name}.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
