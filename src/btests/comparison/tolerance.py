"""More than tolerated? The share of rows that differ, of the whole and of each column.

How much two distributions differ is one number here: the share of rows that would have to change to make them alike,
their total variation distance. No column differs by more than the whole rows do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.features import pooled_ranks
from btests.comparison.share import binned
from btests.kernels import properties_of
from btests.plan import Array, Index
from btests.result import TestResult

# One row in so many, on each side, tells where there is more of the first side; the others tell how much more.
_CHOOSERS = 3

# Normal approximations are not trusted further than this.
_LEAST = 1e-6


def check_tolerance(tolerance: object) -> float | None:
    """Return the tolerance, a share of rows, or say what it must be."""
    if tolerance is None:
        return None
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.integer, np.floating)):
        raise TypeError(f"tolerance must be a share of the rows, such as 0.05, got {tolerance!r}")
    if not 0.0 <= tolerance < 1.0:
        raise ValueError(f"tolerance must be a share of the rows, from 0 to less than 1, got {tolerance!r}")
    return float(tolerance)


def least_share(mmd2: float | None, kernel: object) -> float | None:
    r"""Return a share of rows that differ at least, by MMD^2; None where the kernel has no bound.

    With t the total variation distance, P - Q is t (R - S) for two distributions R and S, so MMD^2 is t^2 times that
    of R and S, which is at most 2 where the kernel is between 0 and 1.

    Examples
    --------
    >>> from btests import Gaussian
    >>> least_share(0.02, Gaussian(1.0))
    0.1
    """
    if mmd2 is None or properties_of(kernel).supremum != 1.0:
        return None
    return math.sqrt(max(0.0, mmd2) / 2.0)


def whole_beyond(effect: TestResult, tolerance: float) -> float | None:
    """Return the p-value of "at most so many of the rows differ", None where the test cannot tell."""
    if least_share(0.0, effect.kernel) is None:
        return None
    try:
        return max(_LEAST, effect.pvalue_above(2.0 * tolerance**2))
    except ValueError:  # too few rows for a standard error
        return None


def columns_beyond(columns: Sequence[Cells], orders: tuple[Index, Index], tolerance: float) -> Array:
    """Return the p-values of "at most so many of the rows differ in this column", corrected by Holm's rule: (c,)."""
    return _holm(np.array([_column_beyond(cells, orders, tolerance) for cells in columns]))


def both_beyond(whole: float | None, columns: Array) -> float:
    """Return the p-value of the verdict: the whole rows or a column, by Bonferroni's rule."""
    best = float(columns.min())
    return best if whole is None else min(1.0, 2.0 * min(best, whole))


def _column_beyond(cells: Cells, orders: tuple[Index, Index], tolerance: float) -> float:
    """Return the p-value of one column.

    Whatever set of bins is taken, the shares of the two sides in it differ by at most the distance. A third of the rows
    chooses the set, the others, which did not, are counted in it (Agresti and Caffo's interval, one row of each
    outcome added).
    """
    bins = binned(cells, pooled_ranks(cells) if cells.kind in ("number", "time") else None)
    width = int(bins.max()) + 1
    chosen, counted = [], []
    for order, start in zip(orders, (0, cells.n_a), strict=True):
        side = bins[start + order]
        cut = len(side) // _CHOOSERS
        chosen.append(np.bincount(side[:cut], minlength=width) / max(1, cut))
        counted.append(side[cut:])
    more = chosen[0] > chosen[1]
    n = np.array([len(side) for side in counted])
    share = (np.array([more[side].sum() for side in counted]) + 1.0) / (n + 2.0)
    error = math.sqrt(float((share * (1.0 - share) / (n + 2.0)).sum()))
    return max(_LEAST, 0.5 * math.erfc((share[0] - share[1] - tolerance) / error / math.sqrt(2.0)))


def _holm(pvalues: Array) -> Array:
    """Return p-values corrected for their number: (c,) to (c,)."""
    order = np.argsort(pvalues, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order] * (len(pvalues) - np.arange(len(pvalues))))
    out = np.empty(len(pvalues))
    out[order] = np.minimum(1.0, stepped)
    return out
