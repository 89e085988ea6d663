"""Compare the ways to choose a kernel: ``python -m btests.experiments.choices``.

The same draws serve all choices of a cell. Finished pieces are kept beside the output, and an interrupted run goes on
where it was.
"""

from __future__ import annotations

from pathlib import Path

import click

from btests.experiments.choices import grid
from btests.experiments.choices.picture import draw_curve
from btests.experiments.choices.tables import write_tables
from btests.experiments.choices.tally import Tally, add_up, read_tallies, write_tallies
from btests.experiments.choices.trials import PIECE, run_piece
from btests.experiments.pieces import folder_of, run_pieces
from btests.fast.pool import default_threads


def run(quick: bool, seed: int, out: Path, workers: int) -> list[Tally]:
    """Run all pieces that are not done yet, and return the tally of every choice in every cell."""
    cells = list(grid.cells(quick))
    kept = folder_of(out, quick, seed)
    files = run_pieces(cells, PIECE, run_piece, write_tallies, kept=kept, seed=seed, workers=workers)
    return add_up(tally for file in files for tally in read_tallies(file))


@click.command()
@click.option("--quick", is_flag=True, help="Few trials: a minute or two.")
@click.option("--seed", default=2013, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=int, default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/choices"), show_default=True)
def main(quick: bool, seed: int, workers: int | None, out: Path) -> None:
    """Measure level, power and time of every choice, and write choices.csv, choices.md and choices.png."""
    tallies = run(quick, seed, out, workers or default_threads())
    write_tallies(out / "choices.csv", tallies)
    command = f"python -m btests.experiments.choices{' --quick' if quick else ''} --seed {seed}"
    write_tables(out / "choices.md", tallies, command)
    draw_curve(out / "choices.png", tallies)
    click.echo(f"wrote choices.csv, choices.md and choices.png to {out}")


if __name__ == "__main__":
    main()
