"""Relabelling of bins of pooled rows: the symmetry of two samples of different lengths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from btests import _core
from btests._core.constants import MAX_LABELS
from btests.plan import Array, Index, Plan

#: Bins of the shorter sample, and of both together, at most.
SHORT_BINS, MOST_BINS = 32, 512

# Labels of draws that are looked up at once.
_LOOKUPS = 2**22


@dataclass(frozen=True, slots=True)
class Bins:
    """Rows of two samples of different lengths in bins of one size.

    Position p, in random order, of a sample with m bins of g rows is in bin ``p mod m`` if ``p < m g``. The rows left
    over keep their label; of each sample they are in a bin of their own. Bins of the longer sample come first, so that
    nothing depends on which sample is x.

    Attributes
    ----------
    n_x, n_y : int
        Rows of x and of y.
    size : int
        Rows of a bin.
    many, few : int
        Bins of the longer sample, and of the shorter one.
    """

    n_x: int
    n_y: int
    size: int
    many: int
    few: int

    @classmethod
    def of(cls, n_x: int, n_y: int, most: tuple[int, int] = (SHORT_BINS, MOST_BINS)) -> Bins:
        """Return the bins of samples of ``n_x`` and ``n_y`` rows: at most so many of the shorter one, and of both."""
        short, long = sorted((n_x, n_y))
        few = min(most[0], short)
        size = short // few
        return cls(n_x, n_y, size, min(long // size, most[1] - few), few)

    @property
    def n_bins(self) -> int:
        """Number of bins that are relabelled."""
        return self.many + self.few

    @property
    def longer(self) -> int:
        """Which sample is the longer one: 0 for x, 1 for y."""
        return int(self.n_y > self.n_x)

    def numbers(self, positions: Index, side: int) -> Index:
        """Return the bin of each position of x (side 0) or of y (1): (m,) to (m,).

        Bins of the longer sample come first, then those of the other, then the rows left over of both.
        """
        is_short = side != self.longer
        n, first = (self.few, self.many) if is_short else (self.many, 0)
        return np.where(positions < n * self.size, first + positions % n, self.n_bins + is_short)

    def counts(self) -> Array:
        """Return the rows of each bin, those left over last: (n_bins + 2,)."""
        short, long = sorted((self.n_x, self.n_y))
        rest = long - self.many * self.size, short - self.few * self.size
        return np.append(np.full(self.n_bins, float(self.size)), rest)

    @property
    def balance(self) -> int:
        """Sum of the signs of bins, +1 in the longer sample and -1 in the other."""
        return self.many - self.few

    @property
    def spread(self) -> float:
        """Standard deviation of the sign of a bin over all labellings."""
        return math.sqrt(1.0 - (self.balance / self.n_bins) ** 2)

    def observed(self) -> Index:
        """Return the bins of the shorter sample, its rows left over last: (1, few + 1)."""
        return np.append(self.many + np.arange(self.few), self.n_bins + 1)[None]

    @property
    def factor(self) -> float:
        """Weight in MMD^2 of the pairs of rows of a sample, apart from what no relabelling changes."""
        n_x, n_y = float(self.n_x), float(self.n_y)
        return 1.0 / (n_x * (n_x - 1.0)) + 1.0 / (n_y * (n_y - 1.0)) + 2.0 / (n_x * n_y)

    def mmd(self, sums: Array, labels: Index, n_threads: int | None = 1) -> Array:
        r"""Return the unbiased MMD^2 where some bins are those of the shorter sample.

        With K the sums of kernel values between bins, T their total, L the labels of the shorter sample of n rows and
        m the rows of the other, ``L'KL (1 / n (n - 1) + 1 / m (m - 1) + 2 / n m)
        - 2 L'K1 (1 / m (m - 1) + 1 / n m) + T / m (m - 1)``.

        Parameters
        ----------
        sums : ndarray of shape (n_bins + 2, n_bins + 2)
            Sums of kernel values over pairs of different rows, by bins.
        labels : ndarray of shape (r, few + 1)
            Bins of the shorter sample, for each of r labellings.
        n_threads : int, optional
            Threads; None is all cores of this process.

        Returns
        -------
        ndarray of shape (r,)
        """
        m = float(max(self.n_x, self.n_y))
        inner = 1.0 / (m * (m - 1.0))
        rows = sums.sum(axis=1)
        linear = rows[labels].sum(axis=1) * (2.0 * (inner + 1.0 / (float(self.n_x) * float(self.n_y))))
        own = np.diag(sums)[labels].sum(axis=1)
        pairs = label_pairs(sums, labels, n_threads)
        return np.asarray((2.0 * pairs + own) * self.factor - linear + rows.sum() * inner)

    def mmd_between(self, sums: Array) -> float:
        """Return the unbiased MMD^2 of the observed labels by pairs of rows in different bins.

        For sums whose diagonal is an estimate; rows in no bin are one bin of each sample here.
        """
        long, short = np.append(np.arange(self.many), self.n_bins), self.observed()[0]
        counts, within = self.counts(), 0.0
        for own in (long, short):
            inside, rows = sums[np.ix_(own, own)], counts[own]
            within += float(inside.sum() - np.trace(inside)) / float(rows.sum() ** 2 - np.sum(rows**2))
        return within - 2.0 * float(sums[np.ix_(long, short)].sum()) / (float(self.n_x) * float(self.n_y))

    def centre(self, sums: Array) -> float:
        """Return the average of :meth:`mmd` over all labellings: (n_bins + 2, n_bins + 2) to a number."""
        n, k = self.n_bins, self.few
        inside, rest, rows = sums[:n, :n], sums[:n, n + 1], sums.sum(axis=1)
        m = float(max(self.n_x, self.n_y))
        inner = 1.0 / (m * (m - 1.0))
        own = float(np.trace(inside))
        pairs = (float(inside.sum()) - own) * k * (k - 1.0) / (n * max(n - 1.0, 1.0)) + (own + 2.0 * rest.sum()) * k / n
        linear = (rows[:n].sum() * k / n + rows[n + 1]) * (2.0 * (inner + 1.0 / (float(self.n_x) * float(self.n_y))))
        return float((pairs + sums[n + 1, n + 1]) * self.factor - linear + rows.sum() * inner)


def label_pairs(sums: Array, labels: Index, n_threads: int | None = 1) -> Array:
    """Return the sums of ``sums[labels[r, i], labels[r, j]]`` over j < i: (n, n) and (r, k) to (r,)."""
    if not _core.is_available() or labels.shape[1] > MAX_LABELS:
        return label_pairs_plain(sums, labels)
    return _core.label_pairs(sums, labels, n_threads)


def label_pairs_plain(sums: Array, labels: Index) -> Array:
    """Return the sums of ``label_pairs`` by numpy, whose order of additions the compiled loop has."""
    i, j = np.tril_indices(labels.shape[1], -1)
    step = max(1, _LOOKUPS // max(1, len(i)))
    found = np.empty(len(labels))
    for first in range(0, len(labels), step):
        some = labels[first : first + step]
        found[first : first + step] = sums.ravel().take(some[:, i] * len(sums) + some[:, j]).sum(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class LabelDraws:
    """Bins of the shorter sample in each of some labellings: (n_draws, few + 1)."""

    labels: Index
    bins: Bins
    exhaustive: bool
    n_threads: int | None = 1

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.labels)

    def values(self, moments: Array) -> Array:
        """Return the MMD^2 of each draw, less the average of all: moments (1, n_bins + 2, n_bins + 2) to (n_draws,)."""
        return np.asarray(self.bins.mmd(moments[0], self.labels, self.n_threads) - self.bins.centre(moments[0]))


@dataclass(frozen=True, slots=True)
class RelabelBins:
    """Choose anew which bins of pooled rows are x and which are y, as many of each as there are.

    Under the null hypothesis all rows are exchangeable. A relabelling of bins of one size is a permutation of the
    pooled rows that leaves the rows in no bin where they are: the p-value is exact whatever their number.

    The moments of one block of all rows are the sums of kernel values over pairs of rows, by their bins.

    Attributes
    ----------
    bins : Bins
        How rows are in bins.
    """

    bins: Bins

    is_pooled: ClassVar[bool] = False

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the moments: (n_bins + 2, n_bins + 2)."""
        return self.bins.n_bins + 2, self.bins.n_bins + 2

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> LabelDraws:
        """Return ``n_resamples`` random labellings, or all of them if they are no more."""
        n, k = self.bins.n_bins, self.bins.few
        n_all = math.comb(n, k)
        if exhaustive := n_all <= n_resamples + 1:
            labels = np.array(list(combinations(range(n), k)), dtype=np.int64)
        else:
            rng = np.random.default_rng([seed, 0x1ABE1])
            labels = np.empty((n_resamples, k), dtype=np.int64)
            step = max(1, _LOOKUPS // n)
            for first in range(0, n_resamples, step):
                keys = rng.random((min(step, n_resamples - first), n))
                labels[first : first + step] = np.argpartition(keys, k - 1, axis=1)[:, :k]
        rest = np.full((len(labels), 1), n + 1)
        return LabelDraws(np.hstack([labels, rest]), self.bins, exhaustive, n_threads)

    def observed(self, moments: Array) -> float:
        """Return the value of the labels that the bins have, less the average of all labellings."""
        return float(self.bins.mmd(moments[0], self.bins.observed())[0] - self.bins.centre(moments[0]))

    def magnitude(self, moments: Array) -> float:
        """Return the sum of the absolute terms of the value, about."""
        return self.bins.factor * float(np.abs(self._centred(moments)).sum())

    def variance(self, moments: Array) -> float:
        """Return about the variance of the value over all labellings; it is the same for each of them.

        That of pairs of bins, and that of a sum over the bins of the shorter sample: the pairs inside a bin, and those
        with rows that keep their label. Their covariance is left out.
        """
        n, k = self.bins.n_bins, self.bins.few
        centred = self._centred(moments)
        single = self._single(moments, centred)
        of_single = float(np.sum((single - single.mean()) ** 2)) * k * (n - k) / (n * max(n - 1.0, 1.0))
        products = self._products(centred)
        return 2.0 * float(np.sum(np.square(products, out=products))) + of_single

    def third_cumulant(self, moments: Array) -> float:
        """Return about the third cumulant of the value over all labellings; it is the same for each of them."""
        products = self._products(self._centred(moments))
        return 8.0 * float(np.sum((products @ products) * products))

    def n_effective_pairs(self, moments: Array) -> float:
        """Return ``(sum C^2)^2 / sum C^4`` over pairs of bins."""
        squares = self._products(self._centred(moments)) ** 2
        return 0.5 * float(squares.sum()) ** 2 / float(np.sum(squares**2))

    def _centred(self, moments: Array) -> Array:
        """Return the sums of kernel values about the mean of the bins: (n_bins, n_bins)."""
        sums = moments[0, :-2, :-2]
        means = sums.mean(axis=0)
        found = sums - means  # in place from here on: these matrices are larger than a core's cache
        found -= means[:, None]
        found += means.mean()
        return np.asarray(found)

    def _single(self, moments: Array, centred: Array) -> Array:
        """Return what a bin of the shorter sample adds to the value by itself: (n_bins,).

        With L the labels, l = L - k / n and K the sums of kernel values between bins, ``L'KL = l'Kl + 2 (k / n) 1'Kl``
        up to a constant; the diagonal of l'Kl is linear too, since ``l_u^2 = (1 - 2 k / n) L_u`` up to another.
        """
        bins, sums = self.bins, moments[0]
        n, k = bins.n_bins, bins.few
        m = float(max(bins.n_x, bins.n_y))
        weight = 1.0 / (m * (m - 1.0)) + 1.0 / (float(bins.n_x) * float(bins.n_y))
        with_others = sums[:n, :n].sum(axis=1) * (k / n) + sums[:n, n + 1]
        own = np.diag(centred) * (1.0 - 2.0 * k / n)
        return np.asarray(bins.factor * (2.0 * with_others + own) - 2.0 * weight * sums[:n].sum(axis=1))

    def _products(self, centred: Array) -> Array:
        """Return the terms of the value, without the diagonal: (n_bins, n_bins).

        Labels count as independent, and bins are about their mean, since the number of labels is fixed.
        """
        n, k = self.bins.n_bins, self.bins.few
        products = centred * (self.bins.factor * k * (n - k) / (n * (n - 1.0)))
        np.fill_diagonal(products, 0.0)
        return products
