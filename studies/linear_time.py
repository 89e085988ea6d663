"""Features against blocks beyond one block of all rows: ``python -m studies.linear_time``.

Nystroem features of kernels without a spectrum in two-sample tests, and random Fourier features of HSIC in tests of
independence. A cell is a problem and a number of rows. Both tests of a trial get the same rows, at level .05, one
thread, with the default budget. Effects fall as n^-1/2.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np

from btests import Energy, Pairwise, Polynomial, btest, independence_test
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.report import Report

_ALPHA = 0.05
_TASK_TRIALS = 5

Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]
Test = Callable[..., Any]


def _mean(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.normal(size=(n, 10))
    y[:, 0] += 4.0 / n**0.5
    return rng.normal(size=(n, 10)), y


def _scale(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    return rng.normal(size=(n, 5)), rng.normal(size=(n, 5)) * (1.0 + 2.5 / n**0.5)


def _tails(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.normal(size=(n, 2))
    return rng.normal(size=(n, 2)), np.where(rng.random((n, 1)) < 6.0 / n**0.5, 1.7 * y, y)


def _same(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    return rng.lognormal(size=(n, 3)), rng.lognormal(size=(n, 3))


def _words(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    shift = 1.2 / n**0.5
    shares = np.full(4, 0.25), np.array([0.25 + shift, 0.25 - shift, 0.25, 0.25])
    x, y = ([*map("".join, rng.choice(list("abcd"), size=(n, 6), p=p))] for p in shares)
    return x, y


def _shared(a: str, b: str) -> float:
    """Return the product of the counts of letters of two words."""
    return float(sum(a.count(letter) * b.count(letter) for letter in "abcd"))


def _regression(f: Callable[[Any], Any], effect: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        x = rng.normal(size=n)
        return x, effect / n**0.5 * f(x) + rng.normal(size=n)

    return draw


def _noise(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=n)
    return x, (1.0 + 4.0 / n**0.5 * np.abs(x)) * rng.normal(size=n)


def _product(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=(n, 3))
    return x, np.c_[8.0 / n**0.5 * x[:, 0] * x[:, 1] + rng.normal(size=n), rng.normal(size=n)]


def _independent(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    return rng.exponential(size=n), rng.standard_t(3.0, size=n)


def _two_sample(x: Any, y: Any, how: str, *, kernel: Any, **options: Any) -> Any:
    return btest(x, y, kernel=kernel, statistic=how, **options)


def _independence(x: Any, y: Any, how: str, **options: Any) -> Any:
    return independence_test(x, y, method=how, **options)


_ENERGY: Test = partial(_two_sample, kernel=Energy())

#: Problems by name: rows of each cell, a distribution and a test.
PROBLEMS: dict[str, tuple[int, Draw, Test]] = {
    "energy distance, mean, d = 10": (50_000, _mean, _ENERGY),
    "energy distance, scale, d = 5": (50_000, _scale, _ENERGY),
    "energy distance, tails, d = 2": (50_000, _tails, _ENERGY),
    "energy distance, same, lognormal": (50_000, _same, _ENERGY),
    "polynomial kernel, scale, d = 5": (50_000, _scale, partial(_two_sample, kernel=Polynomial(2, gamma=0.2))),
    "words, counts of letters": (5_000, _words, partial(_two_sample, kernel=Pairwise(_shared))),
    "HSIC, linear": (50_000, _regression(lambda x: x, 4.0), _independence),
    "HSIC, quadratic": (50_000, _regression(lambda x: x**2, 4.0), _independence),
    "HSIC, sine": (50_000, _regression(lambda x: np.sin(4.0 * x), 8.0), _independence),
    "HSIC, noise": (50_000, _noise, _independence),
    "HSIC, product of 2 of 3 columns": (50_000, _product, _independence),
    "HSIC, independent": (50_000, _independent, _independence),
}

METHODS = "features", "blocks"


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem by name, rows of a sample, and trials."""

    problem: str
    n_rows: int
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return str(list(PROBLEMS).index(self.problem))


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid."""
    for name, (n_rows, _, _) in PROBLEMS.items():
        yield Cell(name, n_rows // 50 if quick else n_rows, 1 if quick else 10)


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return rejections and milliseconds of both tests."""
    _, draw, test = PROBLEMS[cell.problem]
    hits, spent, sizes = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0), dict.fromkeys(METHODS, 0)
    for trial in trials:
        x, y = draw(np.random.default_rng([seed, list(PROBLEMS).index(cell.problem), trial]), cell.n_rows)
        for how in METHODS:
            began = time.process_time()
            found = test(x, y, how, seed=trial, n_threads=1)
            spent[how] += 1e3 * (time.process_time() - began)
            hits[how] += found.pvalue <= _ALPHA
            sizes[how] = found.n_landmarks or found.n_frequencies or found.block_size
    return [
        {
            "problem": cell.problem,
            "n_rows": cell.n_rows,
            "method": how,
            "size": sizes[how],
            "trials": len(trials),
            "rejections": hits[how],
            "milliseconds": round(spent[how]),
        }
        for how in METHODS
    ]


def table(rows: Sequence[Row], command: str) -> str:
    """Return rejection rates and CPU times as Markdown."""
    own = {(row["problem"], row["method"]): row for row in rows}
    heads = ("problem", "rows", "trials", "features", "of", "CPU ms", "blocks", "of", "CPU ms")
    found = []
    for name in PROBLEMS:
        if (name, METHODS[0]) not in own:
            continue
        both = [own[name, how] for how in METHODS]
        parts = [
            (f"{r['rejections'] / r['trials']:.2f}", r["size"], round(r["milliseconds"] / r["trials"])) for r in both
        ]
        found.append((name, both[0]["n_rows"], both[0]["trials"], *parts[0], *parts[1]))
    note = (
        f"Printed by `{command}`. Shares of rejections; features of so many landmarks or frequencies, blocks of rows."
    )
    return "\n".join([note, "", *table_lines(heads, found, "l" + "r" * 8), ""])


def report(rows: Sequence[Row]) -> Report:
    """Return the report of the study."""
    return Report("linear-time", "Features and blocks", "", rows, text=partial(table, rows))


@click.command()
@shared_options("One trial of few rows: a minute.")
def main(**shared: Any) -> None:
    """Measure power and CPU time of features and of blocks, and write linear-time.csv and linear-time.md."""
    options = Options("linear_time", **shared)
    study = Grid("linear-time", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
