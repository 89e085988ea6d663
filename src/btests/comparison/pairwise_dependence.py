"""Tests of independence of all pairs of columns of one table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from btests.block_size import BUDGET
from btests.comparison.align import reasons
from btests.comparison.compare_options import MAX_ROWS
from btests.comparison.dependence import Settings, encoded, null_for, open_table, outcome, run_pair
from btests.comparison.dependence_text import verdict
from btests.comparison.format import option
from btests.designs import MIN_PAIRS
from btests.kernels.distances import squared_distances
from btests.multiple_testing import holm
from btests.plan import Array, Index
from btests.statistics.cost import hsic_pair_seconds
from btests.statistics.u_centering import u_centred

# Rows of a test of all pairs at least, however small the budget of each pair.
_FEWEST_ROWS = 2000

# Rows of the distance correlations at most, and entries of the distance matrices of all columns.
_STRENGTH_ROWS, _STRENGTH_ENTRIES = 1000, 2 * 10**7


def pairs_independence(
    source: Any, settings: Settings, progress: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Return the tests of independence of all pairs of columns, corrected by Holm's method, as plain values.

    All pairs are tested on the same rows, each within its share of the budget. ``progress`` is called with the share of
    pairs that are done. See :func:`btests.comparison.dependence.groups_independence` for the other parameters.
    """
    began = time.perf_counter()
    if settings.null == "permutation":
        raise ValueError(f"{option('null')} permutation takes all rows of each pair in one block; use another null")
    facts = open_table(source, settings, {})
    table = facts.table
    names = [name for name in table.table.column_names if name not in settings.exclude]
    settings = replace(settings, max_rows=settings.max_rows or _affordable_rows(len(names), settings))
    cells = facts.columns(names, settings, named=False) if names else []
    pairs = list(combinations(range(len(cells)), 2))
    if not pairs:
        why = f": {reasons(facts.excluded)}" if facts.excluded else ""
        raise ValueError(f"{option('all_pairs')} needs two columns, and {table.name} has {len(cells)}{why}")
    null, budget = null_for(settings, len(pairs)), _pair_budget(len(pairs), settings)
    coordinates, results = encoded(cells), []
    for i, j in pairs:
        results.append(run_pair(coordinates[i], coordinates[j], settings, facts.notes, budget=budget, null=null))
        if progress is not None:
            progress(len(results) / len(pairs))
    corrected = holm(np.array([result.pvalue for result in results]))
    strengths, n_strength = distance_correlations(coordinates, settings.seed)
    found = [
        {
            "columns": [cells[i].name, cells[j].name],
            **outcome(result, settings.alpha, float(p)),
            "distance_correlation": float(strengths[i, j]),
        }
        for (i, j), result, p in zip(pairs, results, corrected, strict=True)
    ]
    found.sort(key=lambda pair: (pair["pvalue"], -pair["distance_correlation"]))
    document = {
        **facts.document(cells, settings, results[0]),
        "pairs": found,
        "dependent": any(pair["dependent"] for pair in found),
        "attainable": any(math.isfinite(result.threshold(settings.alpha / len(pairs))) for result in results),
        "correction": "holm",
        "budget": budget,
        "distance_correlation_rows": n_strength,
        "seconds": time.perf_counter() - began,
    }
    return {"verdict": verdict(document), **document}


def distance_correlations(coordinates: Sequence[Array], seed: int) -> tuple[Array, int]:
    """Return bias-corrected distance correlations of columns, each (n, width), as (c, c), and the number of rows used.

    Square roots of the squared distance correlation of Szekely and Rizzo (2013), 0 where that is negative, on rows
    drawn at random.
    """
    n, c = len(coordinates[0]), len(coordinates)
    m = min(n, _STRENGTH_ROWS, max(MIN_PAIRS, math.isqrt(_STRENGTH_ENTRIES // c)))
    rows: Index = np.sort(np.random.default_rng([seed, 12]).choice(n, m, replace=False))
    centred = np.stack([u_centred(np.sqrt(squared_distances(own[rows], own[rows]))).ravel() for own in coordinates])
    products = centred @ centred.T
    norms = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    return np.sqrt(np.clip(products / np.outer(norms, norms), 0.0, 1.0)), m


def _affordable_rows(n_columns: int, settings: Settings) -> int:
    """Return how many rows each pair can have in blocks of their square root, the smallest, within its budget."""
    seconds = hsic_pair_seconds(settings.n_kernels, settings.n_kernels, 2)
    share = (settings.budget or BUDGET) / max(1, math.comb(n_columns, 2))
    # n^0.5 blocks of n^0.5 rows: 2 n^2 / n^0.5 pairs of pooled rows (see BlockRule.size_for).
    return min(MAX_ROWS, max(_FEWEST_ROWS, int((share / (2.0 * seconds)) ** (2 / 3))))


def _pair_budget(n_pairs: int, settings: Settings) -> float | None:
    """Return the budget of one pair; None if the block size is given by the user or by the null."""
    if settings.block_size not in (None, "auto") or settings.null == "normal":
        return None
    return (settings.budget or BUDGET) / n_pairs
