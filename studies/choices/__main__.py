"""Compare the ways to choose a kernel: ``python -m studies.choices``.

The same draws serve all choices of a cell. Finished pieces are kept beside the output, and an interrupted run goes on
where it was.
"""

from __future__ import annotations

from pathlib import Path

import click

from btests._core.threads import default_threads
from studies.choices import grid
from studies.choices.picture import draw_curve
from studies.choices.tables import write_tables
from studies.choices.tally import Tally, add_up, read_tallies, write_tallies
from studies.choices.trials import PIECE, run_piece
from studies.pieces import folder_of, run_pieces


def run(quick: bool, seed: int, out: Path, workers: int, only: tuple[str, ...] = ()) -> list[Tally]:
    """Run all pieces that are not done yet, or those of some parts, and return the tally of every choice."""
    cells = [cell for cell in grid.cells(quick) if not only or cell.study in only]
    kept = folder_of(out, quick, seed)
    files = run_pieces(cells, PIECE, run_piece, write_tallies, kept=kept, seed=seed, workers=workers)
    return add_up(tally for file in files for tally in read_tallies(file))


@click.command()
@click.option("--quick", is_flag=True, help="Few trials: a minute or two.")
@click.option("--seed", default=2013, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=int, default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/choices"), show_default=True)
@click.option("--only", type=click.Choice(grid.STUDIES), multiple=True, help="This part alone; several times.")
@click.option(
    "--rest", type=click.Path(dir_okay=False, exists=True, path_type=Path), default=None, help="Counts of other parts."
)
def main(*, quick: bool, seed: int, workers: int | None, out: Path, only: tuple[str, ...], rest: Path | None) -> None:
    """Measure level, power and time of every choice, and write choices.csv, choices.md and choices.png."""
    before = [] if rest is None else [tally for tally in read_tallies(rest) if only and tally.study not in only]
    tallies = before + run(quick, seed, out, workers or default_threads(), only)
    write_tallies(out / "choices.csv", tallies)
    parts = "".join(f" --only {name}" for name in only) + (f" --rest {rest}" if rest is not None else "")
    command = f"python -m studies.choices{' --quick' if quick else ''} --seed {seed}{parts}"
    write_tables(out / "choices.md", tallies, command)
    draw_curve(out / "choices.png", tallies)
    click.echo(f"wrote choices.csv, choices.md and choices.png to {out}")


if __name__ == "__main__":
    main()
