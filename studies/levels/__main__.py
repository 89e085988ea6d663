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


def study(options: Options, *, default: bool) -> Grid[trials.Cell]:
    """Return the experiment on all nulls, or on the default test."""
    grid, problems = (trials.default_cells, DEFAULT_PROBLEMS) if default else (trials.cells, PROBLEMS)
    name, count, to_text = (
        ("levels-default", trials.count_default, default_tables) if default else ("levels", trials.count, tables)
    )
    order = [problem.name for problem in problems]

    def report(rows: list[Row]) -> Report:
        counts = sorted(rows, key=lambda row: (order.index(row["problem"]), row["n"], row["block_size"]))
        return Report(name, counts=counts, text=lambda command: to_text(counts, command))

    return Grid(name, tuple(grid(options.quick)), count, trials.TASK_TRIALS, options.seed, report)


@click.command()
@shared_options("Fewer trials and rows: a minute or two.")
@click.option("--default", is_flag=True, help="Only btest(x, y), with its own block size and kernels.")
def main(*, default: bool, **shared: Any) -> None:
    """Measure level and power of every null, or the level of the default test, and write the tables."""
    options = Options("levels", **shared)
    execute([study(options, default=default)], options, lambda name: options.command(*["--default"] * default))


if __name__ == "__main__":
    main()
