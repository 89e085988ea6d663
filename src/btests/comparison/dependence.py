"""Test of independence of two groups of columns of one table."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from btests.comparison.dependence_columns import Settings, TableColumns, encoded, open_table
from btests.comparison.dependence_text import verdict
from btests.comparison.format import option, quoted_list
from btests.independence import independence_test
from btests.nulls import Null, SignFlip
from btests.plan import Array
from btests.result import TestResult

# Fewest and most swaps of a test.
_SWAPS = (1999, 19_999)


def groups_independence(source: Any, x: Sequence[str], y: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Return the test of independence of two groups of columns, as plain values.

    Parameters
    ----------
    source : data frame, array, mapping of columns, str or Path
        The table, as in :func:`btests.compare`.
    x, y : sequence of str
        Columns of the groups; no ``y`` is all columns that are not in ``x``.
    settings : Settings
        Options.

    Raises
    ------
    ValueError
        If the table cannot be read, a column does not exist or is in both groups, or no column of a group remains.
    """
    began = time.perf_counter()
    table = open_table(source, settings, {"x": x, "y": y})
    common = [name for name in x if name in y]
    if common:
        raise ValueError(f"{option('x')} and {option('y')} both name {quoted_list(common)}; a column is on one side")
    others = y or [name for name in table.table.column_names if name not in (*x, *settings.exclude)]
    if not others:
        raise ValueError(f"{table.name} has no column besides {quoted_list(x)}; {option('y')} needs one")
    facts = TableColumns(table)
    sides = [facts.columns(x, settings, named=True), facts.columns(others, settings, named=bool(y))]
    one, two = (np.hstack(encoded(cells)) for cells in sides)
    result = run_pair(one, two, settings, facts.notes, budget=settings.budget, null=null_for(settings))
    document = {
        **facts.document([*sides[0], *sides[1]], settings, result),
        "x": [cells.name for cells in sides[0]],
        "y": [cells.name for cells in sides[1]],
        **outcome(result, settings.alpha),
        "attainable": math.isfinite(result.threshold(settings.alpha)),
        "blocks_text": result.blocks_text(),
        "kernel": repr(result.kernel),
        "seconds": time.perf_counter() - began,
    }
    return {"verdict": verdict(document), **document}


def run_pair(
    x: Array, y: Array, settings: Settings, notes: list[str], *, budget: float | None, null: Null | str | None
) -> TestResult:
    """Return the test of coordinates (n, d) and (n, e), which are on one scale; warnings become notes."""
    kernel = "gaussian" if settings.statistic == "hsic" and settings.n_kernels == 1 else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = independence_test(
            x,
            y,
            statistic=settings.statistic,
            kernel_x=kernel,
            kernel_y=kernel,
            null=null,
            block_size=settings.block_size,
            budget=budget,
            seed=settings.seed,
            scale=False,
        )
    notes.extend(str(warning.message) for warning in caught)
    return result


def null_for(settings: Settings, n_tests: int = 1) -> Null | str | None:
    """Return the null, with as many draws as make half the level attainable after correction for ``n_tests``."""
    least, most = _SWAPS
    n_draws = math.ceil(2.0 * n_tests / settings.alpha) - 1
    if settings.null not in (None, "swap") or n_draws <= least:
        return settings.null  # None permutes all of few rows
    return SignFlip(min(most, n_draws))


def outcome(result: TestResult, alpha: float, corrected: float | None = None) -> dict[str, Any]:
    """Return p-value, statistic and blocks of a test; the corrected p-value decides if it is given."""
    p = result.pvalue if corrected is None else corrected
    found = {"dependent": p <= alpha, "pvalue": result.pvalue}
    found |= {} if corrected is None else {"pvalue_corrected": corrected}
    return {
        **found,
        "statistic": result.statistic,
        "n_blocks": result.n_blocks,
        "block_size": result.block_size,
        "block_rule": result.block_rule,
    }
