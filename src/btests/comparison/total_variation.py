"""Total variation distance: estimates of it, lower bounds, and tests against a tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

# Not in the functions: a library that is loaded when the data fill the memory may try so for ever (OpenBLAS).
from scipy.special import gammaln, ndtr, ndtri

from btests.comparison.cells import Cells
from btests.comparison.changes import N_PHASES, phases
from btests.comparison.features import pooled_ranks
from btests.kernels import properties_of
from btests.multiple_testing import holm
from btests.plan import Array, Index
from btests.result import TestResult

# Bins of equal pooled shares in which a number's change is counted.
_BINS = 16

# Significance threshold of an estimate in standard deviations; exceeded by chance once in forty times.
_FLOOR = 2.0

# Probability that any of the bins of a view is counted by chance.
_CHANCE = 0.005

# The variance of ``_crossed`` for a standard normal: the integral of its square times the normal density.
_VARIANCE = 0.7009

# Up to this many rows of a level the mean under H0 is computed exactly; beyond, by a normal approximation.
_FEW = 60


def total_variation(
    cells: Cells, rank: Array | None, periods: tuple[str, ...] = (), *, significant: bool = False
) -> float:
    """Return an estimate of the total variation distance between the sides of a column.

    That is the share of rows that would have to change to make both sides identical. The distance of two samples is
    larger, most so with many levels. The estimate is the largest of a few that detect different changes and are 0 on
    average, or nearly so, without a change (see ``_View``); it is 0 where it is not significant.

    Parameters
    ----------
    cells : Cells
        The column.
    rank : array (n,) or None
        Pooled ranks of numbers and times; None for levels.
    periods : tuple of str
        Periods of times.
    significant : bool, default False
        Whether the column is known to have changed: the estimate is then positive as a rule.
    """
    views = list(_views(cells, rank, periods))
    found = [estimate for view in views for estimate in (view.crossed(), view.significant(), view.interval())]
    if significant and max(found) == 0.0:
        found = [view.plainest() for view in views]
    return min(1.0, max(found))


def _views(cells: Cells, rank: Array | None, periods: tuple[str, ...]) -> Iterator[_View]:
    if rank is None:
        yield _View.of(cells, binned(cells, None), ordered=False)
        return
    yield _View.of(cells, binned(cells, rank), ordered=True)
    for period in periods:
        yield _View.of(cells, np.where(cells.missing, N_PHASES[period], phases(cells, period)), ordered=True)


def binned(cells: Cells, rank: Array | None) -> Index:
    """Return the level or the bin of equal pooled shares of each cell, missing cells in the last: (n,)."""
    cuts = cells.values if rank is None else np.minimum(np.floor(rank * _BINS), _BINS - 1.0)
    bins = cuts.astype(np.int64)
    return np.where(cells.missing, bins.max() + 1, bins)


@dataclass(frozen=True, slots=True)
class _View:
    """Differences of the shares of bins, the last for missing cells, and their standard deviations under H0: (k,) each.

    ``counts`` are the rows of both sides in each bin, (k,); ``n_a`` and ``n_b`` the rows of each side.
    """

    differences: Array
    deviations: Array
    counts: Index
    n_a: int
    n_b: int
    ordered: bool

    @classmethod
    def of(cls, cells: Cells, bins: Index, ordered: bool) -> _View:
        width = int(bins.max()) + 1 + (not cells.missing.any())
        a = np.bincount(bins[: cells.n_a], minlength=width)
        b = np.bincount(bins[cells.n_a :], minlength=width)
        n, m = cells.n_a, len(cells) - cells.n_a
        return cls(a / n - b / m, _deviation(a + b, n, m), a + b, n, m, ordered)

    def crossed(self) -> float:
        """Return the expected cross-validated estimate over random splits of the rows into halves.

        The first half selects the bins that have more rows on one side, the second estimates the difference in them.
        That has mean 0 without a change, and is biased downwards otherwise. ``_crossed`` is its closed form for normal
        differences; its mean under H0 for levels of few rows is subtracted. 0 if not significant.
        """
        total = 0.5 * float(np.sum(_crossed(self.differences, self.deviations) - self._by_chance()))
        floor = _FLOOR * 0.5 * math.sqrt(_VARIANCE * float(np.sum(self.deviations**2)))
        return total if total > floor else 0.0

    def significant(self) -> float:
        """Return the sum of significant differences of one sign, the larger of the two sums."""
        least = self._sure(len(self.counts)) * self.deviations
        more, less = (float(part[part > least].sum()) for part in (self.differences, -self.differences))
        return max(more, less)

    def interval(self) -> float:
        """Return the largest difference of consecutive bins, minus its standard deviation as a selection correction."""
        if not self.ordered:
            return 0.0
        size, deviation = self._stretches()
        # The range of all bins has difference 0 up to rounding.
        sure = (size > self._sure(len(size)) * deviation) & (deviation > 0.0)
        return float(np.max(np.where(sure, size - deviation, 0.0), initial=0.0))

    def plainest(self) -> float:
        """Return the most significant difference of a bin or of consecutive bins, minus one standard deviation."""
        size, deviation = self._stretches() if self.ordered else (np.zeros(0), np.zeros(0))
        size = np.append(np.abs(self.differences), size)
        deviation = np.append(self.deviations, deviation)
        best = np.argmax(size / np.where(deviation > 0.0, deviation, np.inf))
        return max(0.0, float(size[best] - deviation[best]))

    def _stretches(self) -> tuple[Array, Array]:
        """Return differences and standard deviations of all ranges of consecutive bins: two (s,)."""
        k = len(self.counts) - 1
        below, rows = (np.concatenate([[0.0], np.cumsum(part[:k])]) for part in (self.differences, self.counts))
        i, j = np.triu_indices(k + 1, 1)
        return np.abs(below[j] - below[i]), _deviation(rows[j] - rows[i], self.n_a, self.n_b)

    def _sure(self, count: int) -> float:
        return -float(ndtri(0.5 * _CHANCE / count))

    def _by_chance(self) -> Array:
        """Return the mean of ``_crossed`` for each bin over all assignments of its rows to the sides: (k,)."""
        n, m = self.n_a, self.n_b
        out = np.zeros(len(self.counts))
        for rows in np.unique(self.counts[(self.counts > 0) & (self.counts <= _FEW)]):
            a = np.arange(max(0, rows - m), min(rows, n) + 1.0)
            ways = [gammaln(p + 1) - gammaln(q + 1) - gammaln(p - q + 1) for p, q in ((n, a), (m, rows - a))]
            null_distribution = np.exp(sum(ways) - (gammaln(n + m + 1) - gammaln(rows + 1) - gammaln(n + m - rows + 1)))
            outcomes = a / n - (rows - a) / m
            mean = float(null_distribution @ _crossed(outcomes, _deviation(np.array(float(rows)), n, m)))
            out[self.counts == rows] = mean
        return out


def _deviation(rows: Array | Index, n: int, m: int) -> Array:
    """Return the standard deviation of the difference of shares of bins over random assignments of rows: (k,)."""
    return np.asarray(np.sqrt(rows * (n + m - rows) / (n + m - 1.0) / n / m))


def _crossed(x: Array, deviation: Array) -> Array:
    """Return the mean of sign(x + e) (x - e) over normal e with these deviations: (k,) twice to (k,)."""
    s = np.where(deviation > 0.0, deviation, 1.0)
    density = np.exp(-0.5 * (x / s) ** 2) / math.sqrt(2.0 * math.pi)
    return np.where(deviation > 0.0, x * (2.0 * ndtr(x / s) - 1.0) - 2.0 * s * density, 0.0)


# One in so many rows of each side selects the bins with more of the first side; the others are counted in them.
_CHOOSERS = 3

# Lower limit of p-values by normal approximation.
_LEAST = 1e-6


def total_variation_bound(mmd2: float | None, kernel: object) -> float | None:
    r"""Return the lower bound on total variation that MMD^2 implies; None if the kernel has no bound.

    With t the total variation distance, P - Q is t (R - S) for two distributions R and S, so MMD^2 is t^2 times that
    of R and S, which is at most 2 where the kernel is between 0 and 1.

    Examples
    --------
    >>> from btests import Gaussian
    >>> total_variation_bound(0.02, Gaussian(1.0))
    0.1
    """
    if mmd2 is None or properties_of(kernel).supremum != 1.0:
        return None
    return math.sqrt(max(0.0, mmd2) / 2.0)


def mmd2_bound(share: float) -> float:
    """Return the largest MMD^2 of tables of which this share of the rows differs, for a kernel between 0 and 1."""
    return 2.0 * share**2


def joint_beyond(effect: TestResult, tolerance: float) -> float | None:
    """Return the p-value of "at most this share of the rows differs"; None if the kernel has no bound."""
    if total_variation_bound(0.0, effect.kernel) is None:
        return None
    try:
        return max(_LEAST, effect.pvalue_above(mmd2_bound(tolerance)))
    except ValueError:  # too few rows for a standard error
        return None


def columns_beyond(columns: Sequence[Cells], orders: tuple[Index, Index], tolerance: float) -> tuple[Array, Array]:
    """Return p-values of "at most this share of the rows differs in this column", by Holm's method, and shares: (c,).

    The shares are estimates of those that differ at least.
    """
    found = np.array([_column_beyond(cells, orders, tolerance) for cells in columns])
    return holm(found[:, 0]), found[:, 1]


def both_beyond(whole: float | None, columns: Array) -> float:
    """Return the p-value of the verdict: joint test or a column, by Bonferroni's correction."""
    best = float(columns.min())
    return best if whole is None else min(1.0, 2.0 * min(best, whole))


def _column_beyond(cells: Cells, orders: tuple[Index, Index], tolerance: float) -> tuple[float, float]:
    """Return the p-value of one column, and the estimated share of its rows that differ at least.

    For any set of bins, the shares of the two sides differ by at most the total variation distance. A third of the rows
    selects the set, the others are counted in it (interval of Agresti and Caffo, one row of each outcome added).
    """
    bins = binned(cells, pooled_ranks(cells))
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
    difference = float(share[0] - share[1])
    return max(_LEAST, 0.5 * math.erfc((difference - tolerance) / error / math.sqrt(2.0))), difference
