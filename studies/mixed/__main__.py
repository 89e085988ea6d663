"""Measure level and power of ``btests.compare`` on the flights, beside tests of each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from studies.flights import flights
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.grid import Grid
from studies.harness.report import Report
from studies.mixed.perturbations import PERTURBATIONS
from studies.mixed.tables import tables
from studies.mixed.trials import TASK_TRIALS, Cell, count


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid: random splits, then known perturbations."""
    trials, power_trials = (50, 50) if quick else (1000, 200)
    yield Cell("flights", 500, 500, "none", 0.0, trials)
    yield Cell("flights", 300, 700, "none", 0.0, trials)
    yield Cell("week", 1000, 1000, "none", 0.0, trials)
    for name, perturbation in PERTURBATIONS.items():
        for size in perturbation.sizes[1:2] if quick else perturbation.sizes:
            yield Cell("flights", 1000, 1000, name, size, power_trials)


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    return Report("mixed", counts=rows, text=lambda command: tables(rows, command))


@click.command()
@shared_options("Few trials: a few minutes.")
def main(**shared: Any) -> None:
    """Measure level and power, and write mixed.csv and mixed.md."""
    options = Options("mixed", **shared)
    try:
        flights()
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None
    study = Grid("mixed", tuple(cells(options.quick)), count, TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
