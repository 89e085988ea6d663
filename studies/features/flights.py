"""Delays of two carriers, 10,000 flights of the one and 300 of the other: what is found of a real difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from btests import btest, compare
from btests.multiple_testing import holm
from btests.plan import Array
from studies.flights import flights
from studies.harness.counts import Row
from studies.harness.rejections import ProblemCell, count_rejections

#: Carriers of x and y, their flights in a draw, and the columns that are compared.
CARRIERS, LENGTHS, COLUMNS = ("UA", "DL"), (10_000, 300), ("dep_delay", "arr_delay")

#: Draws of the study.
DRAWS = 100

_LEVELS = {"rejections": 0.05, "at_01": 0.01}

# Draws of the tests that take most of the time.
_SLOW, _SLOW_DRAWS = ("btest, blocks", "compare: dep_delay"), 20


@cache
def delays() -> tuple[Array, Array]:
    """Return the delays of all flights of both carriers that have them: (n, 2) and (m, 2)."""
    pc, table = import_module("pyarrow.compute"), flights()
    found = []
    for carrier in CARRIERS:
        own = table.filter(pc.equal(table["carrier"], carrier)).select(list(COLUMNS)).drop_null()
        found.append(np.column_stack([np.asarray(own[name], dtype=np.float64) for name in COLUMNS]))
    return found[0], found[1]


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return flights of both carriers at random, without replacement: (10,000, 2) and (300, 2)."""
    x, y = (rng.choice(rows, n, replace=False) for rows, n in zip(delays(), LENGTHS, strict=True))
    return x, y


def flight_cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the one problem."""
    yield ProblemCell(200, "UA v DL", LENGTHS[0], 2 if quick else DRAWS)


def count_flights(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return the rejections and CPU seconds of each test."""

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        x, y = draw(rng)
        slow = _SLOW if trial >= _SLOW_DRAWS else ()
        return {name: partial(test, x, y, trial) for name, test in TESTS.items() if name not in slow}

    return count_rejections(cell, tests, trials, seed, _LEVELS)


def _btest(x: Array, y: Array, seed: int, **options: Any) -> float:
    return btest(x, y, seed=seed, n_threads=1, **options).pvalue


def _column(x: Array, y: Array, seed: int, name: str) -> float:
    """Return the corrected p-value of a column."""
    sides = [dict(zip(COLUMNS, rows.T, strict=True)) for rows in (x, y)]
    found = compare(*sides, seed=seed)
    return next(column.pvalue_corrected for column in found.columns if column.name == name)


def _kolmogorov_smirnov(x: Array, y: Array, seed: int) -> float:
    """Return the smallest of the p-values of both columns, corrected by the method of Holm."""
    return float(min(holm(np.array([ks_2samp(a, b).pvalue for a, b in zip(x.T, y.T, strict=True)]))))


#: Tests by name.
TESTS: dict[str, Callable[[Array, Array, int], float]] = {
    "btest": _btest,
    "btest, blocks": partial(_btest, statistic="blocks"),
    "compare: dep_delay": partial(_column, name="dep_delay"),
    "Kolmogorov-Smirnov, Holm": _kolmogorov_smirnov,
}
