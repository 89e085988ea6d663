"""The study behind the default null: levels and powers of every null, ``python -m studies.levels``.

Every cell is a problem, a number of rows and a block size. The same draws serve all nulls, so that the columns of a
row can be compared. Finished pieces are kept beside the output, and an interrupted run goes on where it was.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from btests._core.threads import default_threads
from btests._warnings import BTestWarning
from btests.api import btest
from btests.block_size import BlockRule
from btests.conclude import conclude
from btests.data.sample import Sample
from btests.nulls import CrossMMD, Normal, Null, SignFlip, ThirdCumulant
from btests.pipeline import choose
from btests.plan import Plan
from btests.selection import Setting
from btests.statistics import MMD, summarize
from studies.counts import LEVELS, Counts, read_counts, write_counts
from studies.pieces import folder_of, run_pieces
from studies.problems import DEFAULT_PROBLEMS, PROBLEMS, Problem
from studies.tables import write_default_table, write_tables

#: The nulls of the study. 999 flips, not the default 1999, to save time: the level is exact for both.
NULLS: dict[str, Null] = {
    "SignFlip": SignFlip(999),
    "Normal": Normal(),
    "ThirdCumulant": ThirdCumulant(),
    "CrossMMD": CrossMMD(),
}

_PIECE = 250  # trials that one task does


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem (by its place in PROBLEMS), rows of x, block sizes, and whether the null hypothesis holds."""

    problem: int
    n: int
    block_sizes: tuple[int, ...]
    trials: int
    is_null: bool

    @property
    def name(self) -> str:
        """A name for files."""
        if self.block_sizes == (0,):
            return f"default-{self.problem}-{self.n}"
        return f"{self.problem}-{self.n}-{'_'.join(map(str, self.block_sizes))}-{'H0' if self.is_null else 'HA'}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid, cheap cells first: B from 2 to n/2, n from 200 to 20000."""
    trials, power_trials = (200, 100) if quick else (10_000, 1_000)
    equal = [i for i, problem in enumerate(PROBLEMS) if problem.rows_of_x == 1]
    unequal = [i for i, problem in enumerate(PROBLEMS) if problem.rows_of_x > 1]
    small: list[tuple[list[int], int, tuple[int, ...]]] = [
        (equal, 200, (2, 14, 50, 100)),
        (unequal, 200, (2, 6, 20)),
        (equal, 2000, (2, 8, 45, 250, 1000)),
        (unequal, 2000, (2, 20, 200)),
    ]
    for problems, n, sizes in small:
        for i in problems:
            yield Cell(i, n, sizes, trials, True)
            yield Cell(i, n, sizes, power_trials, False)
    if quick:
        return
    wide = [i for i in equal if "100" in PROBLEMS[i].name]
    narrow = [i for i in equal if i not in wide]
    large: list[tuple[list[int], tuple[int, ...]]] = [
        (narrow, (2, 141)),
        (wide, (2, 141)),
        (narrow[1:], (1000,)),
        (narrow[:1], (1000, 10000)),  # 0.4 G kernel values a trial: the largest blocks on one problem alone
    ]
    for problems, sizes in large:
        for i in problems:
            yield Cell(i, 20000, sizes, trials, True)


#: What ``btest(x, y)`` does, with 999 flips, and other ways to count ties where there are many.
DEFAULTS: dict[str, SignFlip] = {
    "default": SignFlip(999),
    "ties midp": SignFlip(999, "midp"),
    "ties random": SignFlip(999, "random"),
}


def default_cells(quick: bool) -> Iterator[Cell]:
    """Yield the cells of the default test, whose block size is its own: written as 0."""
    trials = 100 if quick else 10_000
    for i, problem in enumerate(DEFAULT_PROBLEMS):
        if problem.has_ties:
            yield Cell(i, 50, (0,), trials, True)
        yield Cell(i, 200, (0,), trials, True)


def run_default_piece(cell: Cell, piece: int, seed: int) -> list[Counts]:
    """Return the rejections of the default test in one piece of a cell."""
    os.environ["BTESTS_THREADS"] = "1"
    problem = DEFAULT_PROBLEMS[cell.problem]
    names = list(DEFAULTS) if problem.has_ties else ["default"]
    counts = {name: [0] * len(LEVELS) for name in names}
    first, last = piece * _PIECE, min((piece + 1) * _PIECE, cell.trials)
    for trial in range(first, last):
        rng = np.random.default_rng([seed, cell.problem, cell.n, 2, trial])
        x, y = problem.draw(cell.n, rng), problem.draw(cell.n // problem.rows_of_x, rng)
        for name in names:
            pvalue = btest(x, y, null=DEFAULTS[name], seed=trial, shuffle=False).pvalue
            for k, level in enumerate(LEVELS):
                counts[name][k] += pvalue <= level
    return [Counts(problem.name, cell.n, 0, True, name, last - first, *hits) for name, hits in counts.items()]


def run_piece(cell: Cell, piece: int, seed: int) -> list[Counts]:
    """Return the rejections of one piece of a cell: reproducible from its number, wherever it runs."""
    os.environ["BTESTS_THREADS"] = "1"
    problem: Problem = PROBLEMS[cell.problem]
    counts = {(b, null): [0] * len(LEVELS) for b in cell.block_sizes for null in NULLS}
    first, last = piece * _PIECE, min((piece + 1) * _PIECE, cell.trials)
    for trial in range(first, last):
        rng = np.random.default_rng([seed, cell.problem, cell.n, int(cell.is_null), trial])
        # Fresh rows are in random order already: no shuffle.
        x = Sample(problem.draw(cell.n, rng))
        n_y = cell.n // problem.rows_of_x
        y = Sample((problem.draw if cell.is_null else problem.draw_other)(n_y, rng))
        for b in cell.block_sizes:
            kernel = choose(
                problem.kernel, x, y, Setting(BlockRule(b))
            ).kernel  # without a kernel, the median heuristic
            summary = summarize(MMD(kernel), x, y, Plan.of_size(cell.n, n_y, b), 1)
            for name, null in NULLS.items():
                if name == "CrossMMD" and problem.rows_of_x > 1:
                    continue  # it needs samples of one length
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BTestWarning)
                    pvalue = conclude((kernel,), (summary,), null, trial).pvalue
                for k, level in enumerate(LEVELS):
                    counts[b, name][k] += pvalue <= level
    return [
        Counts(problem.name, cell.n, b, cell.is_null, null, last - first, *rejections)
        for (b, null), rejections in counts.items()
    ]


def run(quick: bool, seed: int, out: Path, workers: int, *, default: bool = False) -> list[Counts]:
    """Run all pieces that are not done yet, and return the counts of every cell, of the nulls or of the default."""
    kept = folder_of(out, quick, seed)
    todo, work = (default_cells(quick), run_default_piece) if default else (cells(quick), run_piece)
    files = run_pieces(list(todo), _PIECE, work, write_counts, kept=kept, seed=seed, workers=workers)
    counts = Counts.total(count for file in files for count in read_counts(file))
    place = {problem.name: i for i, problem in enumerate(DEFAULT_PROBLEMS if default else PROBLEMS)}
    return sorted(counts, key=lambda c: (place[c.problem], c.n, c.block_size))


@click.command()
@click.option("--quick", is_flag=True, help="Fewer trials and rows: a minute or two.")
@click.option("--default", is_flag=True, help="Levels of btest(x, y), its block size and kernels its own, alone.")
@click.option("--seed", default=2013, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=int, default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/levels"), show_default=True)
def main(*, quick: bool, default: bool, seed: int, workers: int | None, out: Path) -> None:
    """Measure level and power of every null, or the level of the default test, and write the tables."""
    counts = run(quick, seed, out, workers or default_threads(), default=default)
    name, write = ("levels-default", write_default_table) if default else ("levels", write_tables)
    options = (" --default" if default else "") + (" --quick" if quick else "")
    write_counts(out / f"{name}.csv", counts)
    write(out / f"{name}.md", counts, f"python -m studies.levels{options} --seed {seed}")
    click.echo(f"wrote {name}.csv and {name}.md to {out}")


if __name__ == "__main__":
    main()
