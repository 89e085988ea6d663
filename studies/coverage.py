"""The study of confidence intervals for MMD^2: coverage at 95 %, ``python -m studies.coverage``.

Every cell is a problem with known MMD^2 and the lengths of both samples. The same draws serve both block rules: one
block of all rows, and blocks of [n^(1/2)] rows, n the smaller length. Finished pieces are kept beside the output.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import click
import numpy as np

from btests._core.threads import default_threads
from btests.data.sample import Sample
from btests.intervals import estimate_spread
from btests.plan import Plan
from btests.statistics import MMD, summarize, with_row_moments
from studies.closed_forms import EXACT_PROBLEMS, ExactProblem
from studies.counts import clopper_pearson, write_rows
from studies.pieces import folder_of, run_pieces

CONFIDENCE_LEVEL = 0.95

#: The wanted range of coverage, and the least ratio of MMD^2 to the standard deviation of its estimate that it is for.
TARGET = (0.94, 0.96)
LEAST_RATIO = 2.0

_PIECE = 500  # trials that one task does

#: Lengths of both samples: equal, 5 : 1, and 20 : 1.
LENGTHS = ((100, 100), (200, 200), (500, 500), (500, 100), (600, 30))


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem, by its place in EXACT_PROBLEMS, and rows of x and of y."""

    problem: int
    n_x: int
    n_y: int
    trials: int

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.problem}-{self.n_x}-{self.n_y}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Trials of a cell whose interval was below MMD^2 or above it, and sums over the estimates."""

    problem: str
    mmd2: float
    n_x: int
    n_y: int
    block_size: int
    trials: int
    below: int
    above: int
    sum_estimates: float
    sum_squares: float

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold MMD^2."""
        return self._covered / self.trials

    @property
    def _covered(self) -> int:
        return self.trials - self.below - self.above

    @property
    def ratio(self) -> float:
        """MMD^2 over the standard deviation of its estimate."""
        mean = self.sum_estimates / self.trials
        return self.mmd2 / math.sqrt(self.sum_squares / self.trials - mean**2)

    @property
    def group(self) -> str:
        """The block rule, lengths and size of the difference, as in the summary."""
        rule = "one block" if self.block_size == min(self.n_x, self.n_y) else "B = [n^(1/2)]"
        lengths = "equal" if self.n_x == self.n_y else f"{self.n_x // self.n_y} : 1"
        size = "none" if self.mmd2 == 0.0 else "weak" if self.ratio < LEAST_RATIO else "clear or moderate"
        return f"{rule} | {lengths} | {size}"

    def interval(self) -> tuple[float, float]:
        """Return the 95 % Monte Carlo interval of the coverage."""
        return clopper_pearson(self._covered, self.trials, 0.95)

    def misses_target(self) -> bool:
        """Return whether the Monte Carlo interval lies outside the target."""
        low, high = self.interval()
        return high < TARGET[0] or low > TARGET[1]

    @classmethod
    def total(cls, found: Iterable[Coverage]) -> list[Coverage]:
        """Return the sums over the pieces of each cell, in the order in which cells appear."""
        cells: dict[tuple[str, int, int, int], Coverage] = {}
        for one in found:
            key = one.problem, one.n_x, one.n_y, one.block_size
            other = cells.get(key)
            cells[key] = one if other is None else other + one
        return list(cells.values())

    def __add__(self, other: Coverage) -> Coverage:
        """Return the trials of both."""
        names = ("trials", "below", "above", "sum_estimates", "sum_squares")
        sums = [getattr(self, name) + getattr(other, name) for name in names]
        return Coverage(self.problem, self.mmd2, self.n_x, self.n_y, self.block_size, *sums)


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid, expensive cells first."""
    trials = 100 if quick else 2000
    for n_x, n_y in ((500, 100), (100, 100)) if quick else reversed(LENGTHS):
        for i in range(len(EXACT_PROBLEMS)):
            yield Cell(i, n_x, n_y, trials)


def run_piece(cell: Cell, piece: int, seed: int) -> list[Coverage]:
    """Return the misses of one piece of a cell for both block rules: reproducible from its number."""
    os.environ["BTESTS_THREADS"] = "1"
    problem = EXACT_PROBLEMS[cell.problem]
    n = min(cell.n_x, cell.n_y)
    sizes = n, math.isqrt(n)
    first, last = piece * _PIECE, min((piece + 1) * _PIECE, cell.trials)
    tallies = {b: np.zeros(4) for b in sizes}
    for trial in range(first, last):
        rng = np.random.default_rng([seed, cell.problem, cell.n_x, cell.n_y, trial])
        x, y = Sample(problem.draw(cell.n_x, rng)), Sample(problem.draw_other(cell.n_y, rng))
        for b in sizes:
            tallies[b] += _one_interval(problem, x, y, b)
    return [
        Coverage(problem.name, problem.mmd2, cell.n_x, cell.n_y, b, last - first, int(below), int(above), *sums)
        for b, (below, above, *sums) in ((b, tally.tolist()) for b, tally in tallies.items())
    ]


def _one_interval(problem: ExactProblem, x: Sample, y: Sample, block_size: int) -> list[float]:
    """Return whether the interval is below MMD^2, whether it is above, the estimate and its square."""
    blocks = Plan.of_size(len(x), len(y), block_size)
    summary = summarize(MMD(problem.kernel), x, y, blocks, 1)
    spread = estimate_spread(with_row_moments(summary, problem.kernel, x, y))
    estimate, tail = summary.mean(), (1.0 - CONFIDENCE_LEVEL) / 2.0
    low, high = estimate + spread.quantile(tail), estimate + spread.quantile(1.0 - tail)
    return [high < problem.mmd2, low > problem.mmd2, estimate, estimate**2]


def read_coverage(path: Path) -> list[Coverage]:
    """Return the records of a CSV file of this study."""
    with path.open(newline="") as file:
        return [_parse(row) for row in csv.DictReader(file)]


def _parse(row: dict[str, str]) -> Coverage:
    sizes = int(row["n_x"]), int(row["n_y"]), int(row["block_size"])
    counts = int(row["trials"]), int(row["below"]), int(row["above"])
    sums = float(row["sum_estimates"]), float(row["sum_squares"])
    return Coverage(row["problem"], float(row["mmd2"]), *sizes, *counts, *sums)


def _write(path: Path, found: Iterable[Coverage]) -> None:
    write_rows(path, (field.name for field in fields(Coverage)), (astuple(one) for one in found))


def table(found: Sequence[Coverage], command: str) -> str:
    """Return the summary and all cells as Markdown."""
    groups: dict[str, list[Coverage]] = {}
    for one in sorted(found, key=lambda one: one.group):
        groups.setdefault(one.group, []).append(one)
    lines = [
        f"Printed by `{command}`. Intervals of level .95; MMD^2 / sd is the ratio of MMD^2 to the standard deviation "
        f"of its estimate, weak below {LEAST_RATIO:g}. `*`: the 95 % Monte Carlo interval of the coverage lies outside "
        f"[{TARGET[0]}, {TARGET[1]}].",
        "",
        "### Summary",
        "",
        "| blocks | lengths | difference | cells | lowest | mean | highest | outside * |",
        "| --- | --- | --- | --: | --: | --: | --: | --: |",
    ]
    for group, members in groups.items():
        shares = [one.coverage for one in members]
        outside = sum(one.misses_target() for one in members)
        lines.append(
            f"| {group} | {len(members)} | {min(shares):.4f} | {sum(shares) / len(shares):.4f} | {max(shares):.4f} "
            f"| {outside} |"
        )
    lines += [
        "",
        "### Cells",
        "",
        "| problem | MMD^2 | n_x | n_y | B | trials | MMD^2 / sd | coverage | Monte Carlo | below | above |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --- | --: | --: |",
    ]
    for one in found:
        low, high = one.interval()
        lines.append(
            f"| {one.problem} | {one.mmd2:.4g} | {one.n_x} | {one.n_y} | {one.block_size} | {one.trials} "
            f"| {one.ratio:.1f} | {one.coverage:.4f}{'*' * one.misses_target()} | {low:.4f} to {high:.4f} "
            f"| {one.below / one.trials:.4f} | {one.above / one.trials:.4f} |"
        )
    return "\n".join(lines) + "\n"


def run(quick: bool, seed: int, out: Path, workers: int) -> list[Coverage]:
    """Run all pieces that are not done yet, and return the records of every cell."""
    kept = folder_of(out, quick, seed)
    files = run_pieces(list(cells(quick)), _PIECE, run_piece, _write, kept=kept, seed=seed, workers=workers)
    found = Coverage.total(one for file in files for one in read_coverage(file))
    place = {problem.name: i for i, problem in enumerate(EXACT_PROBLEMS)}
    return sorted(found, key=lambda one: (place[one.problem], LENGTHS.index((one.n_x, one.n_y)), -one.block_size))


@click.command()
@click.option("--quick", is_flag=True, help="Few trials and two pairs of lengths: less than a minute.")
@click.option("--seed", default=2013, show_default=True, help="Seed of all draws.")
@click.option("--workers", type=int, default=None, help="Processes; all cores by default.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/coverage"), show_default=True
)
def main(quick: bool, seed: int, workers: int | None, out: Path) -> None:
    """Measure the coverage of confidence intervals, and write coverage.csv and coverage.md."""
    found = run(quick, seed, out, workers or default_threads())
    _write(out / "coverage.csv", found)
    text = table(found, f"python -m studies.coverage{' --quick' if quick else ''} --seed {seed}")
    (out / "coverage.md").write_text(text)
    click.echo(text)
    click.echo(f"wrote {out / 'coverage.csv'} and {out / 'coverage.md'}")


if __name__ == "__main__":
    main()
