"""Level and power of tests of independence: ``python -m studies.independence``.

A cell is a problem and a number of rows. All tests of a trial get the same rows, in one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from btests import MedianFamily, Permutation, SignFlip, independence_test
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.rejections import ProblemCell, count_rejections
from studies.harness.report import Report

LEVELS = {"rejections": 0.05, "at_01": 0.01, "at_001": 0.001}

_TASK_TRIALS = 20

Rows = npt.NDArray[Any]


def _families(*factors: float) -> dict[str, Any]:
    return {"kernel_x": MedianFamily(factors), "kernel_y": MedianFamily(factors), "null": SignFlip(999)}


#: Options of the tests by name.
METHODS: dict[str, dict[str, Any]] = {
    "default": {"null": SignFlip(999)},
    "median": _families(1.0),
    "2 x 2": _families(0.5, 1.0),
    "3 x 3": _families(0.5, 1.0, 2.0),
    "dcov": {"statistic": "dcov", "null": SignFlip(999)},
    "median, Pearson III": {**_families(1.0), "null": "pearson"},
    "median, permutations": {**_families(1.0), "null": Permutation(999)},
}


def _circle(rng: np.random.Generator, n: int, noise: float) -> tuple[Rows, Rows]:
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    return np.cos(angle) + noise * rng.normal(size=n), np.sin(angle) + noise * rng.normal(size=n)


def _spiral(rng: np.random.Generator, n: int, noise: float) -> tuple[Rows, Rows]:
    u = rng.uniform(0.0, 1.0, n)
    angle = 4.0 * np.pi * u
    return u * np.cos(angle) + noise * rng.normal(size=n), u * np.sin(angle) + noise * rng.normal(size=n)


def _regression(f: Callable[[Rows], Rows]) -> Callable[[np.random.Generator, int, float], tuple[Rows, Rows]]:
    def draw(rng: np.random.Generator, n: int, noise: float) -> tuple[Rows, Rows]:
        x = rng.normal(size=n)
        return x, f(x) + noise * rng.normal(size=n)

    return draw


def _scaled(rng: np.random.Generator, n: int, noise: float) -> tuple[Rows, Rows]:
    x = rng.normal(size=n)
    return x, (1.0 + np.abs(x) / noise) * rng.normal(size=n)


def _one_of_ten(rng: np.random.Generator, n: int, noise: float) -> tuple[Rows, Rows]:
    x = rng.normal(size=(n, 10))
    return x, x[:, :1] + noise * rng.normal(size=(n, 5))


def _product(rng: np.random.Generator, n: int, noise: float) -> tuple[Rows, Rows]:
    x = rng.normal(size=(n, 2))
    return x, x[:, 0] * x[:, 1] + noise * rng.normal(size=n)


#: Problems: a draw, and the noise at 200 rows, which grows with the fourth root of n; a level for noise 0.
PROBLEMS: dict[str, tuple[Callable[[np.random.Generator, int, float], tuple[Rows, Rows]], float]] = {
    "linear": (_regression(lambda x: x), 6.0),
    "quadratic": (_regression(lambda x: x**2), 5.0),
    "sine": (_regression(lambda x: np.sin(3.0 * x)), 2.4),
    "fast sine": (_regression(lambda x: np.sin(8.0 * x)), 0.9),
    "step": (_regression(lambda x: (x > 0.0) * 1.0), 2.8),
    "scale": (_scaled, 3.0),
    "circle": (_circle, 0.55),
    "spiral": (_spiral, 0.2),
    "one of ten": (_one_of_ten, 3.0),
    "product": (_product, 2.0),
    "independent: normal": (lambda rng, n, noise: (rng.normal(size=(n, 3)), rng.normal(size=(n, 2))), 0.0),
    "independent: lognormal, t(2)": (lambda rng, n, noise: (rng.lognormal(size=n), rng.standard_t(2, size=n)), 0.0),
    "independent: Poisson, coin": (
        lambda rng, n, noise: (rng.poisson(2.0, size=n) * 1.0, rng.integers(0, 2, size=n) * 1.0),
        0.0,
    ),
}


def cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the grid: more trials where there is nothing to find."""
    for n in (50,) if quick else (500, 200, 50):
        for place, problem in enumerate(PROBLEMS):
            trials = 100 if not problem.startswith("independent") else {500: 200, 200: 500}.get(n, 1000)
            yield ProblemCell(place, problem, n, 5 if quick else trials)


def _pvalue(x: Rows, y: Rows, seed: int, options: dict[str, Any]) -> float:
    return independence_test(x, y, seed=seed, shuffle=False, block_size=len(x), n_threads=1, **options).pvalue


def count(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of every test."""
    draw, noise = PROBLEMS[cell.problem]

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        x, y = draw(rng, cell.n, noise * (cell.n / 200.0) ** 0.25)
        # Permutations take seconds.
        slow = {"median, permutations"} if cell.n > 200 or trial >= 100 else set()
        return {name: partial(_pvalue, x, y, trial, METHODS[name]) for name in METHODS if name not in slow}

    return count_rejections(cell, tests, trials, seed, LEVELS)


def tables(rows: Sequence[Row], command: str) -> str:
    """Return power and levels as Markdown."""
    lines = [f"Printed by `{command}`. One block, 999 draws, level .05.", ""]
    for n in sorted({row["n"] for row in rows}):
        own = {(row["problem"], row["method"]): row for row in rows if row["n"] == n}
        power, levels = [], []
        for problem in PROBLEMS:
            found = [own[problem, method] for method in METHODS if (problem, method) in own]
            if not problem.startswith("independent"):
                shares = {row["method"]: f"{row['rejections'] / row['trials']:.2f}" for row in found}
                power.append((problem, *(shares.get(method, "--") for method in METHODS)))
                continue
            for row in found:
                level = proportion(row["rejections"], row["trials"], 0.99)
                measured = " / ".join(f"{row[name] / row['trials']:.3f}" for name in LEVELS)
                levels.append((problem, row["method"], row["trials"], measured, level.interval()))
        means, costs = [], []
        for j, method in enumerate(METHODS):
            of_method = [row for row in own.values() if row["method"] == method]
            trials = sum(row["trials"] for row in of_method)
            means.append(
                f"{np.mean([float(row[1 + j]) for row in power if row[1 + j] != '--']):.3f}" if of_method else "--"
            )
            costs.append(f"{1e3 * sum(row['seconds'] for row in of_method) / trials:.1f}" if of_method else "--")
        power += [("mean power", *means), ("CPU ms a test", *costs)]
        lines += [f"### n = {n}", "", *table_lines(("problem", *METHODS), power, "l" + "r" * len(METHODS)), ""]
        heads = ("problem", "test", "trials", "levels at .05 / .01 / .001", "99 % interval at .05")
        lines += [*table_lines(heads, levels, "llrll"), ""]
    return "\n".join(lines)


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    order = list(PROBLEMS)
    counts = sorted(rows, key=lambda row: (row["n"], order.index(row["problem"]), list(METHODS).index(row["method"])))
    return Report("independence", counts=counts, text=lambda command: tables(counts, command))


@click.command()
@shared_options("Few trials of 50 rows: less than a minute.")
def main(**shared: Any) -> None:
    """Measure level and power of tests of independence, and write independence.csv and independence.md."""
    options = Options("independence", **shared)
    study = Grid("independence", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
