"""Measure level and power of every null, or the level of the default test."""

from __future__ import annotations

from typing import Any

import click

from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.grid import Grid
from studies.harness.report import Report
from studies.levels import trials
from studies.levels.tables import default_tables, tables
from studies.problems import DEFAULT_PROBLEMS, PROBLEMS


def study(options: Options, *, default: bool, n_trials: int | None = None) -> Grid[trials.Cell]:
    """Return the experiment on all nulls, or on the default test."""
    problems = DEFAULT_PROBLEMS if default else PROBLEMS
    cells = trials.default_cells(options.quick, n_trials) if default else trials.cells(options.quick)
    name, count, to_text = (
        ("levels-default", trials.count_default, default_tables) if default else ("levels", trials.count, tables)
    )
    order = [problem.name for problem in problems]

    def report(rows: list[Row]) -> Report:
        counts = sorted(rows, key=lambda row: (order.index(row["problem"]), row["n"], row["block_size"]))
        return Report(name, counts=counts, text=lambda command: to_text(counts, command))

    return Grid(name, tuple(cells), count, trials.TASK_TRIALS, options.seed, report)


@click.command()
@shared_options("Fewer trials and rows: a minute or two.")
@click.option("--default", is_flag=True, help="Only btest(x, y), with its own block size and kernels.")
@click.option("--trials", type=click.IntRange(min=1), help="Trials of each cell with --default; 10,000 by default.")
def main(*, default: bool, trials: int | None, **shared: Any) -> None:
    """Measure level and power of every null, or the level of the default test, and write the tables."""
    options = Options("levels", **shared)
    if trials is not None and not default:
        raise click.UsageError("--trials is for --default.")
    words = ["--default"] * default + ([] if trials is None else ["--trials", str(trials)])
    execute([study(options, default=default, n_trials=trials)], options, lambda name: options.command(*words))


if __name__ == "__main__":
    main()
