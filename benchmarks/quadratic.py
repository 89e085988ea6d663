"""The quadratic-time tests: one test of each null, beside the authors' times and a plain loop of permutations."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.clock import best_wall
from benchmarks.methods import BANDWIDTH
from benchmarks.tables import Cell, Table
from btests import Gamma, Gaussian, Null, Pearson, Permutation, Spectrum, btest
from btests.datasets import blobs
from btests.plan import Array

#: The nulls, what the paper calls them, and its seconds for one test of n = 2000 (Table 1; one core of 2.4 GHz).
PUBLISHED: tuple[tuple[Null, str, float], ...] = (
    (Permutation(1000), "bootstrap", 129.0),
    (Spectrum(), "spectrum", 407.0),
    (Pearson(), "Pearson", 387.0),
    (Gamma(), "gamma", 0.27),
)

#: Shuffles of the published test, which the time of the loop is extrapolated to.
SHUFFLES = 1000

Say = Callable[[str], None]


def loop_of_permutations(x: Array, y: Array, permutations: int) -> tuple[float, float]:
    """Return the seconds of a Gram matrix, and of one permutation where each indexes that matrix anew.

    It is how the test is commonly written in plain numpy.
    """
    n, pooled = len(x), np.concatenate([x, y])
    rng = np.random.default_rng(1)
    began = time.perf_counter()
    gram = Gaussian(BANDWIDTH)(pooled, pooled)
    np.fill_diagonal(gram, 0.0)
    once = time.perf_counter() - began
    values = []
    began = time.perf_counter()
    for _ in range(permutations):
        order = rng.permutation(len(pooled))
        k = gram[np.ix_(order, order)]
        values.append((k[:n, :n].sum() + k[n:, n:].sum()) / (n * (n - 1)) - 2.0 * k[:n, n:].mean())
    return once, (time.perf_counter() - began) / permutations


def quadratic_table(n: int, permutations: int, *, seconds: float, say: Say = lambda _: None) -> Table:
    """Return the time of one test by each null on blobs, and by how much a plain loop of permutations is slower."""
    rng = np.random.default_rng(0)
    x, y = blobs(n, rng), blobs(n, rng, rotated=False)
    say(f"a plain loop of {permutations} permutations")
    once, each = loop_of_permutations(x, y, permutations)
    loop = once + SHUFFLES * each
    rows: list[tuple[Cell, ...]] = []
    for null, name, published in PUBLISHED:
        say(repr(null))

        def test(null: Null = null) -> float:
            return btest(x, y, kernel=Gaussian(BANDWIDTH), null=null, seed=1).pvalue

        ours = best_wall(test, seconds=seconds, least=2)
        beyond = published / ours if n == 2000 else None
        rows.append((repr(null), name, ours, published, beyond, loop / ours, test()))
    rows.append((f"plain numpy loop of {SHUFFLES} permutations", "bootstrap", loop, None, None, 1.0, None))
    columns = (
        "null",
        "in the paper",
        "seconds",
        "published, n = 2000",
        "published / ours",
        "plain loop / ours",
        "p-value",
    )
    notes = (
        f"The loop is timed for {permutations} permutations and extrapolated to {SHUFFLES}. Wall clock, the least of",
        "some runs, matrix products on as many threads as numpy has by default. The authors' seconds are of another",
        "machine (one core of 2.4 GHz) and of other programs: the last ratio is the one that is measured here. Gamma",
        "and Pearson are not consistent; the p-values are of one sample, and need not agree.",
    )
    return Table(f"The quadratic-time tests, n = {n} blobs a side, d = 2", columns, rows, notes)
