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

# hyppo would take minutes: its time is that of few permutations, and the slope between two numbers of them.
_FEW, _MORE = 4, 24

Test = Callable[[Any, Any, int], float]


def tests() -> Iterator[tuple[str, Test, bool]]:
    """Yield tests that are installed: a name, a function from x, y and the number of draws to a p-value, if slow."""

    def ours(**options: Any) -> Test:
        return lambda x, y, n: (
            btests.independence_test(x, y, null=btests.SignFlip(n), seed=0, n_threads=1, **options).pvalue
        )

    yield "btests, HSIC, one pair of kernels", ours(kernel_x="gaussian"), False
    yield "btests, HSIC, default", ours(), False
    yield "btests, dcov", ours(statistic="dcov"), False
    if importlib.util.find_spec("dcor") is not None:
        dcor = importlib.import_module("dcor")
        test = dcor.independence.distance_covariance_test
        yield (
            "dcor, distance covariance",
            lambda x, y, n: float(test(x, y, num_resamples=n, random_state=0).pvalue),
            False,
        )
    if importlib.util.find_spec("hyppo") is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hyppo = importlib.import_module("hyppo.independence")
        yield (
            "hyppo, HSIC",
            lambda x, y, n: _quietly(lambda: hyppo.Hsic().test(x, y, reps=n, auto=False, workers=1, random_state=0)),
            True,
        )


def _quietly(test: Callable[[], Any]) -> float:
    """Return the p-value, the second of what a test returns, without the warning of few permutations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(test()[1])


def data(n: int, width: int) -> tuple[Any, Any]:
    """Return n pairs of x and y whose scales depend on each other: (n, width) each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, width))
    return x, x**2 + 4.0 * rng.normal(size=(n, width))


def cpu(test: Test, x: Any, y: Any, n_draws: int) -> tuple[float, float]:
    """Return CPU seconds of a test, and its p-value."""
    began = time.process_time()
    pvalue = test(x, y, n_draws)
    return time.process_time() - began, pvalue


def table(n: int, width: int = 3) -> Table:
    """Return CPU seconds of one test of n pairs each, and the ratio to the first."""
    x, y = data(n, width)
    rows: list[list[Cell]] = []
    notes: list[str] = []
    for name, test, is_slow in tests():
        test(x[:100], y[:100], _FEW)  # compiles, where something is compiled at first use
        pvalue: float | None
        if is_slow:
            (few, _), (more, _) = cpu(test, x, y, _FEW), cpu(test, x, y, _MORE)
            seconds, pvalue = more + (more - few) / (_MORE - _FEW) * (N_DRAWS - _MORE), None
            notes.append(f"{name}: extrapolated from {_FEW} and {_MORE} permutations to {N_DRAWS}.")
        else:
            seconds, pvalue = cpu(test, x, y, N_DRAWS)
        rows.append([name, seconds, seconds / (rows[0][1] if rows else seconds), pvalue])  # type: ignore[operator]
    title = f"Independence, {n} pairs, {width} columns each"
    return Table(title, ("test", "CPU s", "ratio", "p-value"), rows, notes)


def large_table(n: int = 1_000_000, width: int = 3) -> Table:
    """Return CPU seconds of tests of n pairs by this package alone, in one thread."""
    x, y = data(n, width)
    rows: list[list[Cell]] = []
    for name, test, _ in list(tests())[:3]:
        test(x[:1000], y[:1000], _FEW)
        seconds, pvalue = cpu(test, x, y, N_DRAWS)
        rows.append([name, seconds, pvalue])
    return Table(f"Independence, {n} pairs, {width} columns each", ("test", "CPU s", "p-value"), rows)


if __name__ == "__main__":
    for n_rows in (500, 2000):
        print(table(n_rows).markdown())
    print(large_table().markdown())
