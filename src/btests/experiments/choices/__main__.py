"""Compare the ways to choose a kernel: ``python -m btests.experiments.choices``.

The same draws serve all choices of a cell. Finished pieces are kept beside the output, and an interrupted run goes on
where it was.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import click

from btests.experiments.choices import grid
from btests.experiments.choices.picture import draw_curve
from btests.experiments.choices.tables import write_tables
from btests.experiments.choices.tally import Tally, add_up, read_tallies, write_tallies
from btests.experiments.choices.trials import PIECE, run_piece
from btests.fast.pool import default_threads


def run(quick: bool, seed: int, out: Path, workers: int) -> list[Tally]:
    """Run all pieces that are not done yet, and return the tally of every choice in every cell."""
    kept = out / f"pieces-{'quick' if quick else 'full'}-{seed}"
    kept.mkdir(parents=True, exist_ok=True)
    pieces = [(cell, p) for cell in grid.cells(quick) for p in range(-(-cell.trials // PIECE))]
    files = {(cell, p): kept / f"{cell.name}.{p}.csv" for cell, p in pieces}
    todo = [key for key in pieces if not files[key].exists()]
    with (
        ProcessPoolExecutor(workers) as pool,
        click.progressbar(length=len(todo), label="pieces", show_eta=True, show_pos=True) as bar,
    ):
        running = {pool.submit(run_piece, cell, p, seed): (cell, p) for cell, p in todo}
        for done in as_completed(running):
            write_tallies(files[running[done]], done.result())
            bar.update(1)
    return add_up(tally for key in pieces for tally in read_tallies(files[key]))


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
