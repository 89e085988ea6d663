"""Compare kernel choices: ``python -m studies.choices``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from studies.choices import cells
from studies.choices.curve_figure import draw
from studies.choices.tables import tables
from studies.choices.trials import TASK_TRIALS, count
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row, read_csv
from studies.harness.grid import Grid
from studies.harness.report import Report


@click.command()
@shared_options("Few trials: a minute or two.")
@click.option("--only", type=click.Choice(cells.STUDIES), multiple=True, help="This part alone; several times.")
@click.option("--rest", type=click.Path(dir_okay=False, exists=True, path_type=Path), help="Counts of other parts.")
def main(*, only: tuple[str, ...], rest: Path | None, **shared: Any) -> None:
    """Measure level, power and time of every choice, and write choices.csv, choices.md and choices.png."""
    options = Options("choices", **shared)
    before = [] if rest is None else [row for row in read_csv(rest) if only and row["study"] not in only]
    chosen = tuple(cell for cell in cells.cells(options.quick) if not only or cell.study in only)

    def to_report(rows: list[Row]) -> Report:
        rows = before + rows
        counts = [{**row, "seconds": f"{row['seconds']:.3f}"} for row in rows]
        text, figure = (lambda command: tables(rows, command)), (lambda figure: draw(figure, rows))
        return Report("choices", counts=counts, draw=figure, size=(9.0, 6.0), text=text)

    arguments = [word for name in only for word in ("--only", name)] + (["--rest", str(rest)] if rest else [])
    study = Grid("choices", chosen, count, TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command(*arguments))


if __name__ == "__main__":
    main()
