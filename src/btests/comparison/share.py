"""How much of a column moved: the share of rows that would have to change to make the sides alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.periods import N_PHASES, phases
from btests.plan import Array, Index

# Bins of equal pooled shares in which a number's change is counted.
_BINS = 16

# Standard deviations that an estimate of nothing is beyond by chance once in forty times.
_FLOOR = 2.0

# Probability that any of the bins of a view is kept by chance.
_CHANCE = 0.005

# The variance of ``_crossed`` for a standard normal: the integral of its square times the normal density.
_VARIANCE = 0.7009

# Up to so many rows of a level what chance gives is computed by its law, beyond as if that were normal.
_FEW = 60


def share_moved(cells: Cells, rank: Array | None, periods: tuple[str, ...] = (), *, surely: bool = False) -> float:
    """Return the share of rows that would have to change to make the sides alike; ``rank`` is None for levels.

    That is the total variation distance of two distributions. The distance of two samples is larger, most where there
    are many levels, so it is not taken as it is, but as the largest of a few estimates that see different changes and
    are 0 on average where nothing moved, or nearly so (see ``_View``); it is 0 where it is not beyond chance. Where
    it is known otherwise that the column moved ``surely``, there is always a number.
    """
    views = list(_views(cells, rank, periods))
    found = [estimate for view in views for estimate in (view.crossed(), view.kept(), view.interval())]
    if surely and max(found) == 0.0:
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
    """Differences of the shares of bins, the last for missing, and their deviations where nothing moved: (k,) each.

    ``counts`` are the rows of both sides in each bin, (k,), ``n_a`` and ``n_b`` those of each side in all.
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
        """Return what one half of the rows, chosen at random, says about the other half, on average.

        The first half tells of which bins a side has more, the second how many more: that is 0 on average where nothing
        moved, too little rather than too much otherwise. ``_crossed`` is its closed form for normal differences; what
        that gives by chance for levels of few rows is taken off. 0 if not beyond chance.
        """
        total = 0.5 * float(np.sum(_crossed(self.differences, self.deviations) - self._by_chance()))
        floor = _FLOOR * 0.5 * math.sqrt(_VARIANCE * float(np.sum(self.deviations**2)))
        return total if total > floor else 0.0

    def kept(self) -> float:
        """Return the sum of the differences of one sign that are beyond chance, the larger of the two sums."""
        least = self._sure(len(self.counts)) * self.deviations
        more, less = (float(part[part > least].sum()) for part in (self.differences, -self.differences))
        return max(more, less)

    def interval(self) -> float:
        """Return the largest difference of a stretch of bins, less its deviation, which is what the choice adds."""
        if not self.ordered:
            return 0.0
        size, deviation = self._stretches()
        # Of all rows there is as much on both sides: what rounding leaves there is no difference.
        sure = (size > self._sure(len(size)) * deviation) & (deviation > 0.0)
        return float(np.max(np.where(sure, size - deviation, 0.0), initial=0.0))

    def plainest(self) -> float:
        """Return the difference of the bin, or stretch of bins, that has most deviations, less one of them."""
        size, deviation = self._stretches() if self.ordered else (np.zeros(0), np.zeros(0))
        size = np.append(np.abs(self.differences), size)
        deviation = np.append(self.deviations, deviation)
        best = np.argmax(size / np.where(deviation > 0.0, deviation, np.inf))
        return max(0.0, float(size[best] - deviation[best]))

    def _stretches(self) -> tuple[Array, Array]:
        """Return differences and deviations of all stretches of bins: two (s,)."""
        k = len(self.counts) - 1
        below, rows = (np.concatenate([[0.0], np.cumsum(part[:k])]) for part in (self.differences, self.counts))
        i, j = np.triu_indices(k + 1, 1)
        return np.abs(below[j] - below[i]), _deviation(rows[j] - rows[i], self.n_a, self.n_b)

    def _sure(self, count: int) -> float:
        from scipy.special import ndtri

        return -float(ndtri(0.5 * _CHANCE / count))

    def _by_chance(self) -> Array:
        """Return the mean of ``_crossed`` for each bin over all ways to deal its rows to the sides: (k,)."""
        from scipy.special import gammaln

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
    """Return the deviation of the difference of shares of a bin of so many rows, over all ways to deal them: (k,)."""
    return np.asarray(np.sqrt(rows * (n + m - rows) / (n + m - 1.0) / n / m))


def _crossed(x: Array, deviation: Array) -> Array:
    """Return the mean of sign(x + e) (x - e) over normal e with these deviations: (k,) twice to (k,)."""
    from scipy.special import ndtr

    s = np.where(deviation > 0.0, deviation, 1.0)
    density = np.exp(-0.5 * (x / s) ** 2) / math.sqrt(2.0 * math.pi)
    return np.where(deviation > 0.0, x * (2.0 * ndtr(x / s) - 1.0) - 2.0 * s * density, 0.0)
