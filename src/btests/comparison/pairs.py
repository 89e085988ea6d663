"""Pairs of columns: tests of their relation, and its change in plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from btests.comparison.scores import ColumnFeatures, Scored, quadratic_scores
from btests.comparison.swap_units import SwapUnits
from btests.plan import Array, Index

Singles = npt.NDArray[np.float32]

#: Maximum number of columns that are tested in pairs.
MOST_COLUMNS = 150

# Scores of a column, by how many columns there are: the products of all scores must fit into memory.
_SCORES_BY_COLUMNS = ((30, 4), (60, 2), (MOST_COLUMNS, 1))

# Pairs of rows for the regression of products on margins: in total, and at least for each pair of columns.
_ROWS = 600_000
_LEAST_REGRESSION_ROWS = 1_000

# Ridge added to the variances of scores, which are 1, for collinear scores.
_RIDGE = 1e-3

# Lower limit of the residual variance share of a product: nearly collinear products are not inflated.
_LEAST_LEFT = 1e-3


@dataclass(frozen=True, slots=True)
class Margin:
    """Scores of a column in the order of the units, (n, k), the first ``n_scores`` of which have products."""

    scores: Singles
    n_scores: int


def most_scores(n_columns: int) -> int:
    """Return the maximal number of scores of a column in its relations, 0 if there are too many columns."""
    return next((count for limit, count in _SCORES_BY_COLUMNS if n_columns <= limit), 0)


def scored_pairs(margins: Sequence[Margin], units: SwapUnits) -> tuple[list[tuple[int, int]], Scored]:
    """Return all pairs of columns, and the scores of the change of their relations.

    The features of a pair are the products of the scores of its columns, minus their regression on the scores of
    either column over pooled rows, in units of the residual standard deviation. If neither margin changed, that leaves
    the difference of means unchanged and removes noise, nearly all of it for closely related columns.
    """
    pairs = list(combinations(range(len(margins)), 2))
    differences = _Differences.of(margins, units)
    rows = units.first_rows(max(_LEAST_REGRESSION_ROWS, _ROWS // len(pairs)))
    features = []
    for i, j in pairs:
        beta, left = _regression_on_margins(margins[i], margins[j], rows)
        d, c = differences.of_pair(i, j, beta)
        features.append(ColumnFeatures.of_one(d / left, c / left))
    return pairs, quadratic_scores(features, units.signs, units.exhaustive)


def _regression_on_margins(one: Margin, two: Margin, rows: Index) -> tuple[Array, Array]:
    """Return the regression of k products of two columns on all q scores of both, and the residual: (q, k) and (k,).

    From both rows of the first pairs, so that the result is invariant under sign flips.
    """
    u, v = one.scores[rows], two.scores[rows]
    products = (u[:, : one.n_scores, None] * v[:, None, : two.n_scores]).reshape(len(rows), -1)
    given = np.concatenate([u, v], axis=1)
    given -= given.mean(axis=0)
    square = (given.T @ given).astype(np.float64) / len(rows)
    square[np.diag_indices_from(square)] += _RIDGE
    cross = (given.T @ products).astype(np.float64) / len(rows)
    beta = np.asarray(np.linalg.solve(square, cross))
    variance = products.var(axis=0, dtype=np.float64)
    return beta, np.sqrt(np.maximum(variance - (beta * cross).sum(axis=0), _LEAST_LEFT * (variance + _LEAST_LEFT)))


@dataclass(frozen=True, slots=True)
class _Differences:
    """D and c (see ``SwapUnits``) of all scores, (u, q) and (q,), and of all products, (u, p, p) and (p, p).

    ``places`` are the first index of the scores of each column, and the end; ``products`` the same for those with
    products.
    """

    places: npt.NDArray[np.int64]
    products: npt.NDArray[np.int64]
    first: tuple[Array, Array]
    second: tuple[Array, Array]

    @classmethod
    def of(cls, margins: Sequence[Margin], units: SwapUnits) -> _Differences:
        places = np.cumsum([0, *(margin.scores.shape[1] for margin in margins)])
        products = np.cumsum([0, *(margin.n_scores for margin in margins)])
        found = [units.difference_of_rows(margin.scores) for margin in margins]
        first = np.concatenate([d for d, _ in found], axis=1), np.concatenate([c for _, c in found])
        stacked = np.concatenate([margin.scores[:, : margin.n_scores] for margin in margins], axis=1)
        return cls(places, products, first, units.product_difference(stacked))

    def of_pair(self, i: int, j: int, beta: Array) -> tuple[Array, Array]:
        """Return D and c of the products of columns i and j, minus the regression on the margins: (u, k) and (k,)."""
        own = [np.arange(self.places[k], self.places[k + 1]) for k in (i, j)]
        given = np.concatenate(own)
        rows, columns = (slice(self.products[k], self.products[k + 1]) for k in (i, j))
        moving = self.second[0][:, rows, columns].reshape(len(self.second[0]), -1)
        still = self.second[1][rows, columns].ravel()
        return moving - self.first[0][:, given] @ beta, still - self.first[1][given] @ beta
