"""Random Fourier features in place of blocks: power, CPU time and levels. ``python -m studies.features``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from studies.features.flights import count_flights, flight_cells
from studies.features.tables import flight_report, level_report, power_report
from studies.features.trials import (
    choice_cells,
    count_choices,
    count_equal,
    count_large,
    count_null,
    count_short,
    equal_cells,
    large_cells,
    null_cells,
    short_cells,
)
from studies.harness.command import Options, execute, shared_options
from studies.harness.grid import Grid

PARTS = ("power", "lengths", "discriminants", "levels", "flights", "large")

_TASK_TRIALS = 10


def study(part: str, quick: bool, seed: int) -> Grid[Any]:
    """Return one part of the study."""
    cells, count, report = {
        "power": (equal_cells, count_equal, power_report),
        "lengths": (short_cells, count_short, power_report),
        "discriminants": (choice_cells, count_choices, power_report),
        "levels": (null_cells, count_null, level_report),
        "large": (large_cells, count_large, power_report),
        "flights": (flight_cells, count_flights, flight_report),
    }[part]
    name = f"features-{part}"
    return Grid(name, tuple(cells(quick)), count, _TASK_TRIALS, seed, partial(report, name))


@click.command()
@shared_options("Few trials of few problems: less than a minute.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Part of the study; all by default.")
def main(parts: tuple[str, ...], **shared: Any) -> None:
    """Measure power, CPU time and levels of random Fourier features, and write features-*.csv and features-*.md."""
    options = Options("features", **shared)
    studies = [study(part, options.quick, options.seed) for part in parts or PARTS]
    execute(studies, options, lambda name: options.command())


if __name__ == "__main__":
    main()
