"""Tests of independence beside hyppo and dcor: ``python -m benchmarks.independence``."""

from __future__ import annotations

import importlib
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import btests
from benchmarks.tables import Cell, Table

#: Draws of every test.
N_DRAWS = 999


def tests() -> Iterator[tuple[str, Callable[[Any, Any], float]]]:
    """Yield tests that are installed: a name, and a function from x and y to a p-value."""
    options: dict[str, Any] = {"null": btests.SignFlip(N_DRAWS), "seed": 0, "n_threads": 1}
    yield (
        "btests, HSIC, one pair of kernels",
        lambda x, y: btests.independence_test(x, y, kernel_x="gaussian", **options).pvalue,
    )
    yield "btests, HSIC, default", lambda x, y: btests.independence_test(x, y, **options).pvalue
    yield "btests, dcov", lambda x, y: btests.independence_test(x, y, statistic="dcov", **options).pvalue
    if importlib.util.find_spec("dcor") is not None:
        dcor = importlib.import_module("dcor")
        yield (
            "dcor, distance covariance",
            lambda x, y: float(
                dcor.independence.distance_covariance_test(x, y, num_resamples=N_DRAWS, random_state=0).pvalue
            ),
        )
    if importlib.util.find_spec("hyppo") is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hyppo = importlib.import_module("hyppo.independence")
        yield (
            "hyppo, HSIC",
            lambda x, y: float(hyppo.Hsic().test(x, y, reps=N_DRAWS, auto=False, workers=1, random_state=0)[1]),
        )


def table(n: int, width: int = 3) -> Table:
    """Return CPU seconds of one test of n pairs each, and the ratio to the first."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, width))
    y = x**2 + 4.0 * rng.normal(size=(n, width))
    rows: list[list[Cell]] = []
    for name, test in tests():
        test(x[:100], y[:100])  # compiles, where something is compiled at first use
        began = time.process_time()
        pvalue = test(x, y)
        seconds = time.process_time() - began
        rows.append([name, seconds, seconds / (rows[0][1] if rows else seconds), pvalue])  # type: ignore[operator]
    return Table(f"Independence, {n} pairs, {width} columns each", ("test", "CPU s", "ratio", "p-value"), rows)


if __name__ == "__main__":
    for n_rows in (500, 2000):
        print(table(n_rows).markdown())
