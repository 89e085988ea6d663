"""Power and CPU time of the default beside other tests: ``python -m studies.power``.

Finished pieces are kept beside the output, and an interrupted run goes on where it was. Remove the output after a
change of the package or of the problems.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from btests._core.threads import default_threads
from studies.pieces import folder_of, run_pieces
from studies.power.methods import GROUPS, methods
from studies.power.penguins import section
from studies.power.problems import PROBLEMS, SIZES
from studies.power.tables import missing_of, report
from studies.power.trials import (
    PIECE,
    Cell,
    Costs,
    Power,
    add_up,
    cells_of,
    measure,
    read_costs,
    read_powers,
    run_piece,
    write_costs,
    write_powers,
)

# Trials at every size.
_TRIALS = dict(zip(SIZES, (200, 200, 100, 25, 100, 10), strict=True))
_QUICK_TRIALS = 5


def trials_by_size(quick: bool, trials: int | None, only: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Return the number of trials at every size, or at those of ``only`` rows of x."""
    sizes = [size for size in (SIZES[:1] if quick else SIZES) if not only or size[0] in only]
    return {size: trials or (_QUICK_TRIALS if quick else _TRIALS[size]) for size in sizes}


def run(
    group: str,
    counts: dict[tuple[int, int], int],
    only: tuple[str, ...] = (),
    *,
    seed: int,
    kept: Path,
    workers: int,
    limit: float,
) -> tuple[list[Power], Costs]:
    """Measure the time of every test, run all pieces that are not done yet, and return counts and times."""
    file = kept / f"costs-{group}.csv"
    costs = measure(group, list(counts), seed, read_costs(file), only)
    write_costs(file, costs)
    cells = cells_of(group, counts, costs, limit, only)
    click.echo(f"{group}: {len(cells)} cells, about {estimate(cells, costs) / workers / 60:.0f} minutes")
    files = run_pieces(cells, PIECE, run_piece, write_powers, kept=kept, seed=seed, workers=workers)
    return add_up(power for file in files for power in read_powers(file)), costs


def estimate(cells: list[Cell], costs: Costs) -> float:
    """Return the CPU seconds that cells take."""
    return sum(cell.trials * costs[cell.method, cell.n_x, cell.n_y] for cell in cells)


@click.command()
@click.option("--quick", is_flag=True, help="Few trials and rows: a minute.")
@click.option("--families", is_flag=True, help="Families of kernels for the default, in place of the peers.")
@click.option("--rows", type=int, multiple=True, help="Only the sizes with so many rows of x; several times.")
@click.option("--trials", type=click.IntRange(min=1), default=None, help="Trials of each test; 20 to 200 by default.")
@click.option("--only", multiple=True, help="Only the tests of these names; several times.")
@click.option("--limit", default=2.0, show_default=True, help="Seconds of one test above which it is left out.")
@click.option("--seed", default=2013, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=click.IntRange(min=1), default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/power"), show_default=True)
def main(
    *,
    quick: bool,
    families: bool,
    rows: tuple[int, ...],
    trials: int | None,
    only: tuple[str, ...],
    limit: float,
    seed: int,
    workers: int | None,
    out: Path,
) -> None:
    """Measure power and CPU time, print the tables, and write them and the counts behind them."""
    workers = workers or default_threads()
    # One thread for each worker, also of the linear algebra.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1", BTESTS_THREADS="1")
    group = GROUPS[1] if families else GROUPS[0]
    counts = trials_by_size(quick, trials, rows)
    if not counts:
        raise click.UsageError(f"--rows must be among {', '.join(str(n_x) for n_x, _ in SIZES)}, got {rows}.")
    kept = folder_of(out, quick, seed)
    powers, costs = run(group, counts, only, seed=seed, kept=kept, workers=workers, limit=limit)
    name = "power" if group == GROUPS[0] else f"power-{group}"
    text = report(powers, group, costs, missing_of(methods(group, only)))
    if group == GROUPS[0]:
        text += "\n" + section()
    write_powers(out / f"{name}.csv", powers)
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    click.echo(text)
    click.echo(f"{len(PROBLEMS)} problems; wrote {name}.csv and {name}.md to {out}")


if __name__ == "__main__":
    main()
