"""The study of the watched test, ``python -m studies.anytime``: false alarms, and rows until it rejects.

Finished pieces are kept beside the output, and an interrupted run goes on where it was.
"""

from __future__ import annotations

import csv
import os
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from btests._core.threads import default_threads
from btests.api import btest
from btests.kernels import Gaussian, Kernel, median_bandwidth
from btests.plan import Array
from btests.sequential import SequentialTest
from btests.streaming.stream import Stream
from studies.pieces import folder_of, run_pieces
from studies.problems import PROBLEMS, Problem
from studies.reproduce.intervals import rate

ALPHA = 0.05

#: Rows between two looks at a stream, which are also those of a block.
LOOK = 50

#: Pairs of rows after which a watch gives up where there is a difference.
PATIENCE = 20_000

_PIECE = 50  # trials that one task does

#: Numbers of rows that a fixed-size test is tried with: a factor of 2^(1/4) apart.
SIZES = tuple(round(16 * 2 ** (k / 4)) for k in range(41))


@dataclass(frozen=True, slots=True)
class Cell:
    """What is counted (``alarms``, ``found`` or ``fixed``), for which problem (its place in PROBLEMS), and n pairs."""

    kind: str
    problem: int
    n: int
    trials: int

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.kind}-{self.problem}-{self.n}-{self.trials}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid: one dimension and ten, heavy tails, discrete rows, and the paper's blobs."""
    names = ("Gaussian, d = 1", "Gaussian, d = 10", "Student t(2), d = 2", "Poisson(2), d = 3", "coin, d = 1")
    chosen = [i for i, problem in enumerate(PROBLEMS) if problem.name in (*names, "blobs, bandwidth 2")]
    n, trials, power_trials = (300, 40, 20) if quick else (2000, 500, 100)
    for i in chosen:
        if PROBLEMS[i].name in names:
            yield Cell("alarms", i, n, trials)
    for i in chosen:
        yield Cell("found", i, n, power_trials)
        yield Cell("fixed", i, n, _PIECE if quick else power_trials)


def run_piece(cell: Cell, piece: int, seed: int) -> list[tuple[int, ...]]:
    """Return what each trial of a piece found: reproducible from its number, wherever it runs."""
    os.environ["BTESTS_THREADS"] = "1"
    problem = PROBLEMS[cell.problem]
    if cell.kind == "fixed":  # one search over the trials, not one row for each of them
        return [tuple(rows_for_half(problem, cell, seed, whole) for whole in (False, True))] if piece == 0 else []
    trials = range(piece * _PIECE, min((piece + 1) * _PIECE, cell.trials))
    work = alarms if cell.kind == "alarms" else found
    return [work(problem, cell, np.random.default_rng([seed, cell.problem, trial]), trial) for trial in trials]


def alarms(problem: Problem, cell: Cell, rng: np.random.Generator, trial: int) -> tuple[int, ...]:
    """Return whether a watch ever rejects x and y of one distribution, and a stream at any look, and at the last."""
    x, y = problem.draw(cell.n, rng), problem.draw(cell.n, rng)
    watch, stream = SequentialTest(), Stream(kernel_of(problem), LOOK, seed=trial)
    watch.update(x, y)
    looks = []
    for first in range(0, cell.n, LOOK):
        stream.update(x[first : first + LOOK], y[first : first + LOOK])
        looks.append(stream.result().rejects(ALPHA))
    return int(watch.result().rejects(ALPHA)), int(any(looks)), int(looks[-1])


def found(problem: Problem, cell: Cell, rng: np.random.Generator, trial: int) -> tuple[int, ...]:
    """Return the pairs that watches take to find a difference: by default, with one kernel, and after n quiet pairs."""
    quiet = problem.draw(cell.n, rng), problem.draw(cell.n, rng)
    late = SequentialTest()
    late.update(*quiet)
    return (
        pairs_until(SequentialTest(), problem, rng),
        pairs_until(SequentialTest(kernel_of(problem)), problem, rng),
        pairs_until(late, problem, rng) - cell.n,
    )


def pairs_until(watch: SequentialTest, problem: Problem, rng: np.random.Generator) -> int:
    """Return how many pairs a watch has seen when it rejects, or PATIENCE."""
    while watch.n_rows[0] < PATIENCE and not watch.result().rejects(ALPHA):
        watch.update(problem.draw(LOOK, rng), problem.draw_other(LOOK, rng))
    return dict(watch.result().rejected_at)[ALPHA] or PATIENCE


def rows_for_half(problem: Problem, cell: Cell, seed: int, whole: bool) -> int:
    """Return the smallest of SIZES at which a B-test, in blocks of sqrt(n) or one block, has power one half."""
    kernel = kernel_of(problem)

    def power(n: int) -> float:
        hits = 0
        for trial in range(cell.trials):
            rng = np.random.default_rng([seed, cell.problem, n, trial])
            x, y = problem.draw(n, rng), problem.draw_other(n, rng)
            result = btest(x, y, kernel=kernel, block_size=n if whole else "sqrt", seed=trial, shuffle=False)
            hits += result.rejects(ALPHA)
        return hits / cell.trials

    low, high = 0, len(SIZES) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power(SIZES[middle]) >= 0.5 else (middle + 1, high)
    return SIZES[low]


def kernel_of(problem: Problem) -> Kernel:
    """Return the kernel of a problem, or the Gaussian of its median distance."""
    rng = np.random.default_rng(0)
    rows: Array = np.concatenate([problem.draw(500, rng), problem.draw_other(500, rng)])
    return problem.kernel or Gaussian(median_bandwidth(rows))


def tables(results: dict[Cell, list[tuple[int, ...]]]) -> str:
    """Return both tables as Markdown."""
    n = next(cell.n for cell in results)
    lines = [
        f"| no difference | rows | runs | `SequentialTest` (99 % interval) | `Stream`, {n // LOOK} looks "
        "| `Stream`, one look |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for cell, rows in results.items():
        if cell.kind == "alarms":
            watched, peeked, once = (sum(column) for column in zip(*rows, strict=True))
            share = rate(watched, len(rows), 0.99)
            interval = f"{share.value:.3f} ({share.low:.3f} to {share.high:.3f})"
            others = " | ".join(f"{hits / len(rows):.3f}" for hits in (peeked, once))
            lines.append(f"| {PROBLEMS[cell.problem].name} | {cell.n} | {len(rows)} | {interval} | {others} |")
    lines += [
        "",
        f"| a difference | runs | `SequentialTest` | one kernel | after {n} rows alike | B-test, B = sqrt(n) | B = n |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    fixed = {cell.problem: rows[0] for cell, rows in results.items() if cell.kind == "fixed"}
    for cell, rows in results.items():
        if cell.kind == "found":
            medians = [statistics.median(column) for column in zip(*rows, strict=True)]
            numbers = " | ".join(f"{n:.0f}" for n in (*medians, *fixed[cell.problem]))
            lines.append(f"| {PROBLEMS[cell.problem].name} | {len(rows)} | {numbers} |")
    return "\n".join(lines)


def write_rows(path: Path, rows: list[tuple[int, ...]]) -> None:
    """Write what a piece found as CSV; the file appears whole or not at all."""
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    partial.replace(path)


def read_rows(path: Path) -> list[tuple[int, ...]]:
    """Return what ``write_rows`` wrote."""
    with path.open(newline="") as file:
        return [tuple(map(int, row)) for row in csv.reader(file)]


@click.command()
@click.option("--quick", is_flag=True, help="Fewer trials and rows: less than a minute.")
@click.option("--seed", default=2024, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=int, default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/anytime"), show_default=True)
def main(quick: bool, seed: int, workers: int | None, out: Path) -> None:
    """Count false alarms of watching and of peeking, and rows until a difference is found, and print both tables."""
    grid, kept = list(cells(quick)), folder_of(out, quick, seed)
    run_pieces(grid, _PIECE, run_piece, write_rows, kept=kept, seed=seed, workers=workers or default_threads())
    results = {
        cell: [
            row for piece in range(-(-cell.trials // _PIECE)) for row in read_rows(kept / f"{cell.name}.{piece}.csv")
        ]
        for cell in grid
    }
    click.echo(tables(results))


if __name__ == "__main__":
    main()
