"""Level and power of ``btests.compare`` on the flights, beside tests of each column.

Finished pieces are kept beside the output, and an interrupted run goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from btests._core.threads import default_threads
from studies.mixed.changes import CHANGES
from studies.mixed.flights import flights
from studies.mixed.layout import write_markdown
from studies.mixed.trials import PIECE, Cell, Tally, add_up, read_tallies, run_piece, write_tallies
from studies.pieces import folder_of, run_pieces


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid: splits at random, then known changes."""
    trials, power_trials = (50, 50) if quick else (1000, 200)
    yield Cell("flights", 500, 500, "none", 0.0, trials)
    yield Cell("flights", 300, 700, "none", 0.0, trials)
    yield Cell("week", 1000, 1000, "none", 0.0, trials)
    for name, (_, _, sizes) in CHANGES.items():
        for size in sizes if not quick else sizes[1:2]:
            yield Cell("flights", 1000, 1000, name, size, power_trials)


def run(quick: bool, seed: int, out: Path, workers: int) -> list[Tally]:
    """Run all pieces that are not done yet, and return the tally of every method in every cell."""
    kept = folder_of(out, quick, seed)
    files = run_pieces(list(cells(quick)), PIECE, run_piece, write_tallies, kept=kept, seed=seed, workers=workers)
    return add_up(tally for file in files for tally in read_tallies(file))


@click.command()
@click.option("--quick", is_flag=True, help="Few trials: a few minutes.")
@click.option("--seed", default=2013, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=int, default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/mixed"), show_default=True)
def main(quick: bool, seed: int, workers: int | None, out: Path) -> None:
    """Measure level and power, and write mixed.csv and mixed.md."""
    try:
        flights()
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None
    workers = workers or default_threads()
    # One thread for each worker, also of the linear algebra.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", BTESTS_THREADS="1")
    tallies = run(quick, seed, out, workers)
    write_tallies(out / "mixed.csv", tallies)
    command = f"python -m studies.mixed{' --quick' if quick else ''} --seed {seed}"
    write_markdown(out / "mixed.md", tallies, command)
    click.echo(f"wrote mixed.csv and mixed.md to {out}")


if __name__ == "__main__":
    main()
