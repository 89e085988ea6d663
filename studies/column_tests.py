"""Classical tests of each column, the baseline of several studies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from btests.comparison.cells import Cells

# Levels expected less often than this on a side are merged: the rule of thumb of chi-squared tests.
_LEAST = 5.0


def baseline_pvalues(columns: Sequence[Cells]) -> list[tuple[str, float]]:
    """Return the p-values of all tests, each with the name of its column.

    Kolmogorov-Smirnov for numbers and times, chi-squared for categories and booleans, and chi-squared for missing or
    not where cells are missing.
    """
    from scipy import stats

    found = []
    for cells in columns:
        sides = [cells.values[cells.side(b)][cells.present[cells.side(b)]] for b in (False, True)]
        if min(len(side) for side in sides) > 0:
            if cells.kind in ("number", "time"):
                found.append((cells.name, float(stats.ks_2samp(sides[0], sides[1], method="asymp").pvalue)))
            else:
                found.append((cells.name, _chi_squared([side.astype(np.int64) for side in sides])))
        if cells.missing.any():
            found.append(
                (cells.name, _chi_squared([cells.missing[cells.side(b)].astype(np.int64) for b in (False, True)]))
            )
    return found


def _chi_squared(sides: Sequence[np.ndarray[tuple[int], np.dtype[np.int64]]]) -> float:
    from scipy import stats

    width = 1 + max(int(side.max()) for side in sides)
    table = np.array([np.bincount(side, minlength=width) for side in sides], dtype=np.float64)
    smaller = table.sum(axis=1).min() / table.sum()
    rare = table.sum(axis=0) * smaller < _LEAST
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] < 2 else float(stats.chi2_contingency(table, correction=False).pvalue)
