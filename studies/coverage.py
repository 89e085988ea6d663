"""Coverage of 95 % confidence intervals for MMD^2: ``python -m studies.coverage``.

A cell is a problem with known MMD^2 and the lengths of both samples. Both block rules are tested on the same draws: one
block of all rows, and blocks of [n^(1/2)] rows, n the smaller length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from btests.data.sample import Sample
from btests.intervals import estimate_spread
from btests.plan import Plan
from btests.statistics import MMD, summarize, with_row_moments
from studies.closed_forms import EXACT_PROBLEMS, ExactProblem
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import Estimate, proportion
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.report import Report

CONFIDENCE_LEVEL = 0.95

#: Wanted range of coverage, and the smallest ratio of MMD^2 to the standard deviation of its estimate it applies to.
TARGET = (0.94, 0.96)
LEAST_RATIO = 2.0

#: Lengths of both samples: equal, 5 : 1, and 20 : 1.
LENGTHS = ((100, 100), (200, 200), (500, 500), (500, 100), (600, 30))

_TASK_TRIALS = 500


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem (its index in EXACT_PROBLEMS), rows of x and of y, and trials."""

    problem: int
    n_x: int
    n_y: int
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.problem}-{self.n_x}-{self.n_y}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid, expensive cells first."""
    trials = 100 if quick else 2000
    for n_x, n_y in ((500, 100), (100, 100)) if quick else reversed(LENGTHS):
        for i in range(len(EXACT_PROBLEMS)):
            yield Cell(i, n_x, n_y, trials)


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return for both block rules the intervals below and above MMD^2, and sums over the estimates."""
    problem = EXACT_PROBLEMS[cell.problem]
    n = min(cell.n_x, cell.n_y)
    sums = {b: np.zeros(4) for b in (n, math.isqrt(n))}
    for trial in trials:
        rng = np.random.default_rng([seed, cell.problem, cell.n_x, cell.n_y, trial])
        x, y = Sample(problem.draw(cell.n_x, rng)), Sample(problem.draw_other(cell.n_y, rng))
        for b in sums:
            sums[b] += _one_interval(problem, x, y, b)
    return [
        {
            "problem": problem.name,
            "mmd2": problem.mmd2,
            "n_x": cell.n_x,
            "n_y": cell.n_y,
            "block_size": b,
            "trials": len(trials),
            "below": int(below),
            "above": int(above),
            "sum_estimates": sum_,
            "sum_squares": squares,
        }
        for b, (below, above, sum_, squares) in ((b, own.tolist()) for b, own in sums.items())
    ]


def _one_interval(problem: ExactProblem, x: Sample, y: Sample, block_size: int) -> list[float]:
    """Return whether the interval is below MMD^2, whether it is above, the estimate and its square."""
    summary = summarize(MMD(problem.kernel), x, y, Plan.of_size(len(x), len(y), block_size), 1)
    spread = estimate_spread(with_row_moments(summary, problem.kernel, x, y))
    estimate, tail = summary.mean(), (1.0 - CONFIDENCE_LEVEL) / 2.0
    low, high = estimate + spread.quantile(tail), estimate + spread.quantile(1.0 - tail)
    return [high < problem.mmd2, low > problem.mmd2, estimate, estimate**2]


def coverage(row: Row) -> Estimate:
    """Return the share of intervals that hold MMD^2, with its 95 % Monte Carlo interval."""
    return proportion(row["trials"] - row["below"] - row["above"], row["trials"])


def misses_target(row: Row) -> bool:
    """Return whether the Monte Carlo interval lies outside the target."""
    return coverage(row).misses(*TARGET)


def ratio(row: Row) -> float:
    """Return MMD^2 over the standard deviation of its estimate."""
    mean = row["sum_estimates"] / row["trials"]
    return float(row["mmd2"] / math.sqrt(row["sum_squares"] / row["trials"] - mean**2))


def _group(row: Row) -> tuple[str, str, str]:
    """Return the block rule, the lengths and the size of the difference, as in the summary."""
    n_x, n_y = row["n_x"], row["n_y"]
    rule = "one block" if row["block_size"] == min(n_x, n_y) else "B = [n^(1/2)]"
    lengths = "equal" if n_x == n_y else f"{n_x // n_y} : 1"
    return rule, lengths, "none" if row["mmd2"] == 0.0 else "weak" if ratio(row) < LEAST_RATIO else "clear or moderate"


def table(rows: Sequence[Row], command: str) -> str:
    """Return the summary and all cells as Markdown."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: " | ".join(_group(row))):
        groups.setdefault(_group(row), []).append(row)
    summary = []
    for group, members in groups.items():
        shares = [coverage(row).value for row in members]
        shown = (f"{share:.4f}" for share in (min(shares), sum(shares) / len(shares), max(shares)))
        summary.append((*group, len(members), *shown, sum(map(misses_target, members))))
    every = [
        (
            row["problem"],
            f"{row['mmd2']:.4g}",
            *(row[name] for name in ("n_x", "n_y", "block_size", "trials")),
            f"{ratio(row):.1f}",
            f"{coverage(row).value:.4f}{'*' * misses_target(row)}",
            coverage(row).interval(4),
            *(f"{row[name] / row['trials']:.4f}" for name in ("below", "above")),
        )
        for row in rows
    ]
    columns = ("problem", "MMD^2", "n_x", "n_y", "B", "trials", "MMD^2 / sd", "coverage", "Monte Carlo")
    lines = [
        f"Printed by `{command}`. Intervals of level .95; MMD^2 / sd is the ratio of MMD^2 to the standard deviation "
        f"of its estimate, weak below {LEAST_RATIO:g}. `*`: the 95 % Monte Carlo interval of the coverage lies outside "
        f"[{TARGET[0]}, {TARGET[1]}].",
        "",
        "### Summary",
        "",
        *table_lines(
            ("blocks", "lengths", "difference", "cells", "lowest", "mean", "highest", "outside *"), summary, "lllrrrrr"
        ),
        "",
        "### Cells",
        "",
        *table_lines((*columns, "below", "above"), every, "lrrrrrrrlrr"),
    ]
    return "\n".join(lines) + "\n"


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    place = {problem.name: i for i, problem in enumerate(EXACT_PROBLEMS)}
    counts = sorted(rows, key=lambda r: (place[r["problem"]], LENGTHS.index((r["n_x"], r["n_y"])), -r["block_size"]))
    return Report("coverage", counts=counts, text=lambda command: table(counts, command))


@click.command()
@shared_options("Few trials and two pairs of lengths: less than a minute.")
def main(**shared: Any) -> None:
    """Measure the coverage of confidence intervals, and write coverage.csv and coverage.md."""
    options = Options("coverage", **shared)
    study = Grid("coverage", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
