"""False alarms of the sequential test, and rows until it rejects: ``python -m studies.anytime``."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from btests.api import btest
from btests.kernels import Gaussian, Kernel, median_bandwidth
from btests.plan import Array
from btests.sequential import SequentialTest
from btests.streaming.stream import Stream
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.grid import split
from studies.harness.markdown import table_lines
from studies.harness.report import Report
from studies.problems import PROBLEMS, Problem

ALPHA = 0.05

#: Rows between two tests of a stream, which are also those of a block.
STEP = 50

#: Pairs of rows after which a sequential test stops without rejecting.
MAX_ROWS = 20_000

_TASK_TRIALS = 50

#: Sample sizes of the fixed-size test: a factor of 2^(1/4) apart.
SIZES = tuple(round(16 * 2 ** (k / 4)) for k in range(41))


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of trial (``alarms``, ``delays`` or ``fixed``), a problem (its index in PROBLEMS), n pairs, and trials."""

    kind: str
    problem: int
    n: int
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
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
        yield Cell("delays", i, n, power_trials)
        yield Cell("fixed", i, n, _TASK_TRIALS if quick else power_trials)


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return one row per trial; for ``fixed``, one row of the first task."""
    problem = PROBLEMS[cell.problem]
    if cell.kind == "fixed":  # one search over the trials, not one row for each of them
        if trials.start > 0:
            return []
        blocks, whole = (rows_for_half(problem, cell, seed, whole) for whole in (False, True))
        return [{"problem": problem.name, "n": cell.n, "blocks": blocks, "whole": whole}]
    trial = alarms if cell.kind == "alarms" else delays
    return [
        {
            "problem": problem.name,
            "n": cell.n,
            **trial(problem, cell, np.random.default_rng([seed, cell.problem, k]), k),
        }
        for k in trials
    ]


def alarms(problem: Problem, cell: Cell, rng: np.random.Generator, trial: int) -> Row:
    """Return whether tests of one distribution reject: the sequential test, a stream at any step, and at the last."""
    x, y = problem.draw(cell.n, rng), problem.draw(cell.n, rng)
    sequential, stream = SequentialTest(), Stream(kernel_of(problem), STEP, seed=trial)
    sequential.update(x, y)
    rejections = []
    for first in range(0, cell.n, STEP):
        stream.update(x[first : first + STEP], y[first : first + STEP])
        rejections.append(stream.result().rejects(ALPHA))
    return {
        "sequential": int(sequential.result().rejects(ALPHA)),
        "stream_ever": int(any(rejections)),
        "stream_last": int(rejections[-1]),
    }


def delays(problem: Problem, cell: Cell, rng: np.random.Generator, trial: int) -> Row:
    """Return the pairs until rejection: by default, with one kernel, and after n pairs without a difference."""
    equal = problem.draw(cell.n, rng), problem.draw(cell.n, rng)
    late = SequentialTest()
    late.update(*equal)
    return {
        "default": pairs_until(SequentialTest(), problem, rng),
        "one_kernel": pairs_until(SequentialTest(kernel_of(problem)), problem, rng),
        "late": pairs_until(late, problem, rng) - cell.n,
    }


def pairs_until(test: SequentialTest, problem: Problem, rng: np.random.Generator) -> int:
    """Return the number of pairs at which a sequential test rejects, or MAX_ROWS."""
    while test.n_rows[0] < MAX_ROWS and not test.result().rejects(ALPHA):
        test.update(problem.draw(STEP, rng), problem.draw_other(STEP, rng))
    return dict(test.result().rejected_at)[ALPHA] or MAX_ROWS


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


def tables(alarmed: Sequence[Row], delayed: Sequence[Row], fixed: Sequence[Row]) -> str:
    """Return both tables as Markdown."""
    n = alarmed[0]["n"]
    first = []
    for problem, rows in _by_problem(alarmed).items():
        sequential, ever, last = (
            sum(row[name] for row in rows) for name in ("sequential", "stream_ever", "stream_last")
        )
        share = proportion(sequential, len(rows), 0.99)
        shown = f"{share.value:.3f} ({share.interval()})"
        first.append((problem, n, len(rows), shown, f"{ever / len(rows):.3f}", f"{last / len(rows):.3f}"))
    sizes = {row["problem"]: (row["blocks"], row["whole"]) for row in fixed}
    second = []
    for problem, rows in _by_problem(delayed).items():
        medians = [statistics.median(row[name] for row in rows) for name in ("default", "one_kernel", "late")]
        second.append((problem, len(rows), *(f"{size:.0f}" for size in (*medians, *sizes[problem]))))
    alarm_columns = (
        "no difference",
        "rows",
        "runs",
        "`SequentialTest` (99 % interval)",
        f"`Stream`, {n // STEP} looks",
    )
    delay_columns = ("a difference", "runs", "`SequentialTest`", "one kernel", f"after {n} equal rows")
    return "\n".join(
        [
            *table_lines((*alarm_columns, "`Stream`, one look"), first, "lrrrrr"),
            "",
            *table_lines((*delay_columns, "B-test, B = sqrt(n)", "B = n"), second, "lrrrrrr"),
            "",
        ]
    )


def _by_problem(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["problem"], []).append(row)
    return groups


@dataclass(frozen=True, slots=True)
class Anytime:
    """False alarms and delays of the sequential test, beside fixed-size tests."""

    cells: tuple[Cell, ...]
    seed: int
    name: str = "anytime"

    @property
    def cost(self) -> float:
        """Number of trials."""
        return float(sum(cell.trials for cell in self.cells))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return the tasks of all cells."""
        return [task for cell in self.cells for task in split(cell, count, _TASK_TRIALS, self.seed)]

    def report(self, done: Done) -> Sequence[Report]:
        """Return both tables and a file of rows for each kind of trial."""
        rows = {kind: rows_of(done, kind) for kind in ("alarms", "delays", "fixed")}
        text = tables(*rows.values())
        return [Report(self.name, more={f"anytime-{kind}": own for kind, own in rows.items()}, text=lambda _: text)]


@click.command()
@shared_options("Fewer trials and rows: less than a minute.", seed=2024)
def main(**shared: Any) -> None:
    """Count false alarms and rows until rejection, and print both tables."""
    options = Options("anytime", **shared)
    execute([Anytime(tuple(cells(options.quick)), options.seed)], options, lambda name: options.command())
    click.echo((options.folder / "anytime.md").read_text())


if __name__ == "__main__":
    main()
