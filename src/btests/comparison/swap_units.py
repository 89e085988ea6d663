"""Flip units: rows of two tables that are swapped, or bins of rows that are relabelled, together.

A flip unit is a group of rows in a stratum; a unit alone is what ``unit`` names, such as a customer with several rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from btests.comparison.cells import Cells
from btests.designs.units import Grouped
from btests.plan import Array, Index, Plan
from btests.symmetries.relabel_bins import Bins, LabelDraws
from btests.symmetries.swap_groups import SignDraws, unpack


@dataclass(frozen=True, slots=True)
class SwapUnits:
    r"""Rows of two tables in the order of their blocks, grouped by the sign that swaps them.

    A sign flip swaps row r of a block of x with row r of the same block of y, the same way for all rows of a group and
    stratum. With phi a vector of features centred at its pooled mean, the difference of the means of phi under signs s
    is ``c + sum_u s_u D_u``: D_u the sum of phi(x) - phi(y) over the pairs of flip unit u times (1 / n_x + 1 / n_y)
    / 2, and c the part of the rows without a partner. With units of several rows, whole units are swapped, and phi is
    the average over the rows of each.

    Tables of different lengths have bins of one size instead, each of one table, which are labelled anew: D_u is the
    sum over bin u, its sign +1 in the longer table and -1 in the other, and both are centred and scaled as if signs
    were independent of mean 0 and variance 1 (see :class:`btests.symmetries.RelabelBins`).

    Attributes
    ----------
    rows : ndarray of int, shape (N,)
        Rows of both tables, those of the second numbered from the end of the first: of each table first those with a
        partner, by flip unit, then the others.
    n_x, n_pairs : int
        Number of rows (or units) of the first table, and of those with a partner.
    starts : ndarray of int, shape (u,)
        First pair of each flip unit.
    signs : ndarray of shape (u, r + 1)
        Signs of each draw, and last of the observed data.
    exhaustive : bool
        Whether the draws are all sign patterns, including the observed one.
    edges : ndarray of int, optional
        First of the rows of each unit, and N; None if every row is one.
    bins : Bins, optional
        Bins that are relabelled; None for flip units that are swapped.
    """

    rows: Index
    n_x: int
    n_pairs: int
    starts: Index
    signs: Array
    exhaustive: bool
    edges: Index | None = None
    bins: Bins | None = None

    @classmethod
    def of_bins(cls, bins: Bins, draws: LabelDraws, orders: tuple[Index, Index]) -> SwapUnits:
        """Return bins of rows and draws of their labels; ``orders`` are the random orders of the rows."""
        sides = []
        for side, order in enumerate(orders):
            number = bins.numbers(np.arange(len(order)), side)
            sides.append(order[np.argsort(number, kind="stable")])
        labels = np.concatenate([draws.labels, bins.observed()])[:, :-1]
        signs = np.ones((bins.n_bins, len(labels)))
        signs[labels.T, np.arange(len(labels))] = -1.0
        signs = (signs - bins.balance / bins.n_bins) / bins.spread
        rows = np.concatenate([sides[0], bins.n_x + sides[1]])
        starts = np.arange(bins.n_bins) * bins.size
        return cls(rows, bins.n_x, bins.n_bins * bins.size, starts, signs, draws.exhaustive, bins=bins)

    @classmethod
    def of(
        cls,
        plan: Plan,
        flips: SignDraws,
        orders: tuple[Index, Index],
        groups: tuple[Grouped, Grouped] | None = None,
    ) -> SwapUnits:
        """Return the flip units of a plan and of draws of sign flips; ``orders`` are the random orders of the rows.

        With ``groups``, the rows of each unit, they are the random orders of the units.
        """
        of_x, of_y = plan.partners()
        stratum = np.searchsorted(plan.stratum_edges(), _block_of_pairs(plan), side="right") - 1
        unit = stratum * plan.n_groups + _row_of_pairs(plan) % plan.n_groups
        order = np.argsort(unit, kind="stable")
        starts = np.searchsorted(unit[order], np.arange(plan.n_strata * plan.n_groups))
        signs = unpack(flips.words, flips.n_draws)[:, : plan.n_groups].reshape(-1, flips.n_draws)
        signs = np.concatenate([signs, np.ones((len(signs), 1))], axis=1)
        x = orders[0][np.concatenate([of_x[order], np.setdiff1d(np.arange(plan.n_x), of_x)])]
        y = orders[1][np.concatenate([of_y[order], np.setdiff1d(np.arange(plan.n_y), of_y)])]
        edges = None
        n_rows_x = plan.n_x
        if groups is not None:
            (x, edges_x), (y, edges_y) = expand(groups[0], x), expand(groups[1], y)
            n_rows_x = len(x)
            edges = np.concatenate([edges_x, n_rows_x + edges_y[1:]])
        rows = np.concatenate([x, n_rows_x + y])
        return cls(rows, plan.n_x, len(of_x), starts, signs, flips.exhaustive, edges)

    @property
    def n_y(self) -> int:
        """Number of rows (or units) of the second table."""
        return (len(self.rows) if self.edges is None else len(self.edges) - 1) - self.n_x

    @property
    def smallest_pvalue(self) -> float:
        """Smallest p-value that the draws can give."""
        n_draws = int(self.signs.shape[1]) - 1
        # With equal numbers of rows, swapping all pairs at once changes no statistic.
        unlike = 2.0 if self.n_x == self.n_y else 1.0
        return unlike / n_draws if self.exhaustive else 1.0 / (n_draws + 1)

    @property
    def shorter(self) -> int:
        """Number of rows (or units) of the shorter table."""
        return min(self.n_x, self.n_y)

    @property
    def weight(self) -> float:
        """Weight of a pair in the difference of means."""
        return 0.5 / self.n_x + 0.5 / self.n_y

    def permute(self, cells: Cells) -> Cells:
        """Return the cells of a column in the order of ``rows``."""
        return cells.take(self.rows, cells.n_a)

    def difference(self, feature: Array) -> tuple[Array, float]:
        """Return D and c of a centred feature in the order of ``rows``: (n,) to (u,) and a number."""
        if self.bins is not None:
            moving, still = self._sums_of_bins(feature)
            return moving, float(still)
        feature = self._averages(feature)
        x, y = feature[: self.n_x], feature[self.n_x :]
        m = self.n_pairs
        moving = np.add.reduceat(x[:m] - y[:m], self.starts)  # a flip unit is never empty
        return self.weight * moving, self.weight * float(x[m:].sum() - y[m:].sum())

    def difference_of_rows(self, features: npt.NDArray[np.float32]) -> tuple[Array, Array]:
        """Return D and c of centred features in the order of ``rows``: (n, k) to (u, k) and (k,)."""
        if self.bins is not None:
            return self._sums_of_bins(features.astype(np.float64))
        found = self._averages(features)
        x, y = found[: self.n_x], found[self.n_x :]
        m = self.n_pairs
        moving = np.add.reduceat(x[:m].astype(np.float64) - y[:m], self.starts, axis=0)
        still = x[m:].sum(axis=0, dtype=np.float64) - y[m:].sum(axis=0, dtype=np.float64)
        return self.weight * moving, self.weight * still

    def count_difference(self, levels: Index, n_levels: int) -> tuple[Array, Array]:
        """Return D and c of the indicators of levels, centred at their pooled means: (n,) to (u, l) and (l,).

        Rows with the level ``n_levels`` have no indicator.
        """
        width, n_units = n_levels + 1, len(self.starts)
        if self.bins is not None:
            unit = np.repeat(np.arange(self.bins.n_bins + 2), self.bins.counts().astype(np.int64))
            sums = np.bincount(unit * width + levels[self._by_bins()], minlength=(self.bins.n_bins + 2) * width)
            return self._of_bins(sums.reshape(-1, width)[:, :n_levels].astype(np.float64))
        weights = self._row_weights()
        unit = np.repeat(np.arange(n_units), np.diff(np.append(self.starts, self.n_pairs)))
        moving, still = np.zeros((n_units, n_levels)), np.zeros(n_levels)
        for (first, middle, last), sign, own in zip(self._sides(), (1.0, -1.0), (0, self.n_x), strict=True):
            of_rows = unit if self.edges is None else np.repeat(unit, np.diff(self.edges)[own : own + self.n_pairs])
            paired, alone = slice(first, middle), slice(middle, last)
            counts = np.bincount(of_rows * width + levels[paired], _part(weights, paired), n_units * width)
            moving += sign * counts.reshape(-1, width)[:, :n_levels]
            still += sign * np.bincount(levels[alone], _part(weights, alone), width)[:n_levels]
        shares = np.bincount(levels, weights, width)[:n_levels] / (self.n_x + self.n_y)
        return self.weight * moving, self.weight * (still - (self.n_x - self.n_y) * shares)

    def product_difference(self, scores: npt.NDArray[np.float32]) -> tuple[Array, Array]:
        """Return D and c of the products of all scores: (n, p) to (u, p, p) and (p, p)."""
        p, weights = scores.shape[1], self._row_weights()
        if self.bins is not None:
            edges = np.append(0, np.cumsum(self.bins.counts())).astype(np.int64)
            ordered = scores[self._by_bins()]
            return self._of_bins(np.stack([(rows := ordered[a:b]).T @ rows for a, b in pairwise(edges)]).astype(float))
        if weights is not None:
            scores = scores * np.sqrt(weights)[:, None].astype(np.float32)
        (_, end_x, n_rows_x), (_, end_y, _) = self._sides()
        edges_x, edges_y = self._unit_edges()
        moving = np.empty((len(self.starts), p, p))
        for u, out in enumerate(moving):
            x, y = scores[edges_x[u] : edges_x[u + 1]], scores[edges_y[u] : edges_y[u + 1]]
            out[:] = x.T @ x - y.T @ y
        x, y = scores[end_x:n_rows_x], scores[end_y:]
        still = (x.T @ x - y.T @ y).astype(np.float64)
        # Centred products: the mean cancels in pairs of rows, but not in rows without a partner.
        x, y = scores[:n_rows_x], scores[n_rows_x:]
        pooled = (x.T @ x + y.T @ y).astype(np.float64) / (self.n_x + self.n_y)
        still -= (self.n_x - self.n_y) * pooled
        return self.weight * moving, self.weight * still

    def first_rows(self, most: int) -> Index:
        """Return both rows of the first pairs, at most ``most`` pairs of rows or so, whichever pairs swap places.

        Of bins, as many rows of each.
        """
        if self.bins is not None:
            each = min(self.bins.size, max(1, 2 * most // self.bins.n_bins))
            return np.sort(self._by_bins()[np.add.outer(self.starts, np.arange(each)).ravel()])
        if self.edges is None:
            n = min(self.n_pairs, most)
            return np.concatenate([np.arange(n), self.n_x + np.arange(n)])
        from_x, from_y = self.edges[: self.n_pairs + 1], self.edges[self.n_x : self.n_x + self.n_pairs + 1]
        n = max(1, int(np.searchsorted(from_x + from_y - from_y[0], 2 * most, side="right")) - 1)
        return np.concatenate([np.arange(from_x[n]), np.arange(from_y[0], from_y[n])])

    def _by_bins(self) -> Index:
        """Return the places of the rows by bins, those of no bin last: (n,)."""
        assert self.bins is not None
        sides = np.arange(self.n_x), np.arange(self.n_x, len(self.rows))
        longer, shorter = sides[self.bins.longer], sides[1 - self.bins.longer]
        a, b = self.bins.many * self.bins.size, self.bins.few * self.bins.size
        return np.concatenate([longer[:a], shorter[:b], longer[a:], shorter[b:]])

    def _sums_of_bins(self, feature: Array) -> tuple[Array, Array]:
        assert self.bins is not None
        ordered = feature[self._by_bins()]
        m, rest_of_longer = self.n_pairs, int(self.bins.counts()[-2])
        inside = np.add.reduceat(ordered[:m], self.starts, axis=0)
        rest = [part.sum(axis=0) for part in np.split(ordered[m:], [rest_of_longer])]
        return self._of_bins(np.concatenate([inside, np.stack(rest)]))

    def _of_bins(self, sums: Array) -> tuple[Array, Array]:
        """Return D and c from sums over bins, and over the rows of x and y in none: (u + 2, ...) to (u, ...), (...)."""
        assert self.bins is not None
        counts = self.bins.counts().reshape((-1,) + (1,) * (sums.ndim - 1))
        sums = sums - counts * (sums.sum(axis=0) / counts.sum())
        moving, mean = sums[:-2], sums[:-2].mean(axis=0)
        still = sums[-2] - sums[-1] + self.bins.balance * mean
        return self.weight * self.bins.spread * (moving - mean), self.weight * still

    def _averages(self, features: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return features of units, centred at their mean; rows as they are: (n, ...) to (m, ...)."""
        weights = self._row_weights()
        if self.edges is None or weights is None:
            return features
        shape = (-1,) + (1,) * (features.ndim - 1)
        found = np.add.reduceat(features * weights.reshape(shape), self.edges[:-1], axis=0)
        return np.asarray(found - found.mean(axis=0))

    def _row_weights(self) -> Array | None:
        """Return the weight of each row in the average of its unit, None without units: (n,)."""
        if self.edges is None:
            return None
        return np.repeat(1.0 / np.diff(self.edges), np.diff(self.edges))

    def _sides(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Return the first row of each table, its first row without a partner, and the end."""
        ends = np.array([self.n_pairs, self.n_x, self.n_x + self.n_pairs])
        a, b, c = (int(end) for end in (ends if self.edges is None else self.edges[ends]))
        return (0, a, b), (b, c, len(self.rows))

    def _unit_edges(self) -> tuple[Index, Index]:
        """Return the first row of each flip unit in x and in y, and the ends: two of (u + 1,)."""
        of_x = np.append(self.starts, self.n_pairs)
        of_y = self.n_x + of_x
        return (of_x, of_y) if self.edges is None else (self.edges[of_x], self.edges[of_y])


def _part(weights: Array | None, rows: slice) -> Array | None:
    return None if weights is None else weights[rows]


def expand(group: Grouped, order: Index) -> tuple[Index, Index]:
    """Return the rows of groups in this order, (n,), and the first row of each and n: (u + 1,)."""
    sizes = np.diff(group.edges)[order]
    edges = np.append(0, np.cumsum(sizes))
    places = np.arange(edges[-1]) + np.repeat(group.edges[order] - edges[:-1], sizes)
    return group.order[places], edges


def _block_of_pairs(plan: Plan) -> Index:
    parts = [
        np.repeat(np.arange(run.first_block, run.first_block + run.n_blocks), min(run.b_x, run.b_y))
        for run in plan.runs(0, plan.n_blocks)
    ]
    return np.concatenate(parts)


def _row_of_pairs(plan: Plan) -> Index:
    parts = [np.tile(np.arange(min(run.b_x, run.b_y)), run.n_blocks) for run in plan.runs(0, plan.n_blocks)]
    return np.concatenate(parts)
