"""Directions to which ``btests.compare`` projects long vectors: power and CPU time, ``python -m studies.vectors``.

Tables of one column of vectors of 784 numbers, as many as 28 x 28 pixels have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import click
import numpy as np
import pyarrow as pa

import btests
from btests.comparison import vectors
from btests.plan import Array
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.rejections import ProblemCell, count_rejections
from studies.harness.report import Report

_SIDE = 28
_WIDTH = _SIDE * _SIDE
_TASK_TRIALS = 10

#: Directions at most; with the last of them vectors are not projected.
DIRECTIONS = (64, 128, 256, 512, _WIDTH)

#: Trials by the number of rows a side.
TRIALS = {150: 100, 1000: 40}


def noise(n: int, effect: float, rng: np.random.Generator) -> Array:
    """Return independent normal numbers, all of which have another mean."""
    return np.asarray(rng.normal(size=(n, _WIDTH)) + effect / np.sqrt(_WIDTH))


def one_number(n: int, effect: float, rng: np.random.Generator) -> Array:
    """Return independent normal numbers, one of which has another mean."""
    return np.asarray(rng.normal(size=(n, _WIDTH)) + effect * (np.arange(_WIDTH) == 3))


def spread(n: int, effect: float, rng: np.random.Generator) -> Array:
    """Return independent normal numbers with another standard deviation."""
    return rng.normal(size=(n, _WIDTH)) * (1.0 + effect)


@cache
def _embedding() -> tuple[Array, Array]:
    """Return axes whose variances fall as those of embeddings do, and a direction of the difference."""
    rng = np.random.default_rng(5)
    rotation, _ = np.linalg.qr(rng.normal(size=(_WIDTH, _WIDTH)))
    axes = rotation / np.sqrt(np.arange(1.0, _WIDTH + 1.0))[:, None]
    weights = rng.normal(size=_WIDTH)
    return axes, (weights / np.linalg.norm(weights)) @ axes


def embedding(n: int, effect: float, rng: np.random.Generator) -> Array:
    """Return normal vectors of variances 1, 1/2, 1/3 .. in random directions, with another mean."""
    axes, direction = _embedding()
    return rng.normal(size=(n, _WIDTH)) @ axes + effect * direction


def images(n: int, effect: float, rng: np.random.Generator) -> Array:
    """Return images of a spot at a random place, with noise, and another spot at a fixed place."""
    y, x = np.mgrid[:_SIDE, :_SIDE]
    centres = rng.normal(14.0, 2.0, size=(2, n, 1, 1))
    spots = np.exp(-((x - centres[0]) ** 2 + (y - centres[1]) ** 2) / 20.0)
    other = effect * np.exp(-((x - 20.0) ** 2 + (y - 8.0) ** 2) / 6.0)
    return np.asarray((spots + other).reshape(n, _WIDTH) + 0.05 * rng.normal(size=(n, _WIDTH)))


#: Draws of vectors, and effects by the number of rows a side, set by trials of another seed.
PROBLEMS: dict[str, tuple[Callable[[int, float, np.random.Generator], Array], dict[int, float]]] = {
    "noise, mean": (noise, {150: 1.8, 1000: 1.0}),
    "noise, one number": (one_number, {150: 1.8, 1000: 1.0}),
    "noise, spread": (spread, {150: 0.03, 1000: 0.01}),
    "embedding, mean": (embedding, {150: 2.2, 1000: 0.9}),
    "images, spot": (images, {150: 0.06, 1000: 0.025}),
    "noise, same": (noise, {150: 0.0, 1000: 0.0}),
}


def cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the problems."""
    for n, trials in TRIALS.items():
        for place, name in enumerate(PROBLEMS):
            if not quick or n == min(TRIALS):
                yield ProblemCell(place, name, n, 2 if quick else trials)


def _pvalue(a: Any, b: Any, seed: int, directions: int) -> float:
    with patch.object(vectors, "MOST_COORDINATES", directions):
        return btests.compare(a, b, seed=seed).pvalue


def count(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of the comparisons of the tables of some trials."""
    draw, effects = PROBLEMS[cell.problem]

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        rows = [draw(cell.n, effect, rng).astype(np.float32) for effect in (0.0, effects[cell.n])]
        lists = [pa.FixedSizeListArray.from_arrays(pa.array(own.ravel()), _WIDTH) for own in rows]
        a, b = (pa.table({"vector": own}) for own in lists)
        return {str(most): partial(_pvalue, a, b, trial, most) for most in DIRECTIONS}

    return count_rejections(cell, tests, trials, seed, {"rejections": 0.05})


def text(rows: Sequence[Row], command: str) -> str:
    """Return the powers as Markdown: a table for each number of rows."""
    lines = [f"Printed by `{command}`.", ""]
    for n in TRIALS:
        own = {(str(row["method"]), row["problem"]): row for row in rows if row["n"] == n}
        problems = [name for name in PROBLEMS if (str(DIRECTIONS[0]), name) in own]
        found = []
        for most in map(str, DIRECTIONS if problems else ()):
            of_method = [own[most, problem] for problem in problems]
            trials = sum(row["trials"] for row in of_method)
            cost = 1e3 * sum(row["seconds"] for row in of_method) / trials
            shares = [f"{row['rejections'] / row['trials']:.2f}" for row in of_method]
            found.append((most, *shares, f"{cost:.0f}", trials // len(problems)))
        if found:
            heads = ("directions", *problems, "CPU ms", "trials")
            lines += [f"{n} rows a side:", "", *table_lines(heads, found, "r" * len(heads)), ""]
    return "\n".join(lines)


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    order = list(PROBLEMS)
    counts = sorted(rows, key=lambda row: (row["n"], order.index(str(row["problem"])), int(row["method"])))
    return Report("vectors", counts=counts, text=lambda command: text(counts, command))


@click.command()
@shared_options("Few tables: a minute.")
def main(**shared: Any) -> None:
    """Measure power and CPU time by the number of directions, and write vectors.csv and vectors.md."""
    options = Options("vectors", **shared)
    study = Grid("vectors", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
