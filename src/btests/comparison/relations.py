"""Pairs of columns: whether their relation moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from btests.comparison.scores import Features, Scored, quadratic_scores
from btests.comparison.units import Units
from btests.plan import Array

Singles = npt.NDArray[np.float32]

#: More columns than this are not looked at in pairs.
MOST_COLUMNS = 150

# Scores of a column, by how many columns there are: the products of all scores must fit into memory.
_SCORES = ((30, 4), (60, 2), (MOST_COLUMNS, 1))

# Pairs of rows from which it is learned what the margins say about products, in all, and for each two columns at least.
_ROWS = 600_000
_LEAST_ROWS = 1_000

# Added to the variances of scores, which are 1: scores that say the same share what they say.
_RIDGE = 1e-3

# Products of which the margins tell more than all but this share are in units of that share.
_LEAST_LEFT = 1e-3


@dataclass(frozen=True, slots=True)
class Margin:
    """Scores of a column in the order of the units, (n, k), the first ``n_scores`` of which have products."""

    scores: Singles
    n_scores: int


def most_scores(n_columns: int) -> int:
    """Return how many scores of a column take part in its relations at most, 0 where there are too many columns."""
    return next((count for limit, count in _SCORES if n_columns <= limit), 0)


def scored_pairs(margins: Sequence[Margin], units: Units) -> tuple[list[tuple[int, int]], Scored]:
    """Return all pairs of columns, and how unlikely the change of their relations is.

    The features of a pair are the products of the scores of its columns, less what scores of one column alone tell
    about them, by regression over pooled rows, in units of what is left. Where neither margin moved, that leaves the
    difference of their means, and takes away noise: of columns that go together closely, nearly all.
    """
    pairs = list(combinations(range(len(margins)), 2))
    differences = _Differences.of(margins, units)
    n_rows = min(units.n_pairs, max(_LEAST_ROWS, _ROWS // len(pairs)))
    features = []
    for i, j in pairs:
        beta, left = _told_by_margins(margins[i], margins[j], units.n_x, n_rows)
        d, c = differences.of_pair(i, j, beta)
        features.append(Features.of_one(d / left, c / left))
    return pairs, quadratic_scores(features, units.signs, units.exhaustive)


def _told_by_margins(one: Margin, two: Margin, n_x: int, n_rows: int) -> tuple[Array, Array]:
    """Return the regression of k products of two columns on all q scores of both, and what is left: (q, k) and (k,).

    From the first pairs of rows, both rows of each: no sign changes the result.
    """
    rows = np.r_[:n_rows, n_x : n_x + n_rows]
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
    """D and c (see ``Units``) of all scores, (u, q) and (q,), and of all products, (u, p, p) and (p, p).

    ``places`` are where the scores of each column begin, and the end; ``products`` the same for those with products.
    """

    places: npt.NDArray[np.int64]
    products: npt.NDArray[np.int64]
    first: tuple[Array, Array]
    second: tuple[Array, Array]

    @classmethod
    def of(cls, margins: Sequence[Margin], units: Units) -> _Differences:
        places = np.cumsum([0, *(margin.scores.shape[1] for margin in margins)])
        products = np.cumsum([0, *(margin.n_scores for margin in margins)])
        found = [units.difference_of_rows(margin.scores) for margin in margins]
        first = np.concatenate([d for d, _ in found], axis=1), np.concatenate([c for _, c in found])
        stacked = np.concatenate([margin.scores[:, : margin.n_scores] for margin in margins], axis=1)
        return cls(places, products, first, _second_moments(stacked[: units.n_x], stacked[units.n_x :], units))

    def of_pair(self, i: int, j: int, beta: Array) -> tuple[Array, Array]:
        """Return D and c of the products of columns i and j, less what the margins say: (u, k) and (k,)."""
        own = [np.arange(self.places[k], self.places[k + 1]) for k in (i, j)]
        given = np.concatenate(own)
        rows, columns = (slice(self.products[k], self.products[k + 1]) for k in (i, j))
        moving = self.second[0][:, rows, columns].reshape(len(self.second[0]), -1)
        still = self.second[1][rows, columns].ravel()
        return moving - self.first[0][:, given] @ beta, still - self.first[1][given] @ beta


def _second_moments(x: Singles, y: Singles, units: Units) -> tuple[Array, Array]:
    """Return D and c (see ``Units``) of the products of all scores: (n, p) twice to (u, p, p) and (p, p)."""
    p, m = x.shape[1], units.n_pairs
    ends = np.append(units.starts[1:], m)
    moving = np.empty((len(units.starts), p, p))
    for out, start, end in zip(moving, units.starts, ends, strict=True):
        out[:] = x[start:end].T @ x[start:end] - y[start:end].T @ y[start:end]
    still = (x[m:].T @ x[m:] - y[m:].T @ y[m:]).astype(np.float64)
    # Centred products: what is taken off cancels in pairs, and not in rows that are alone.
    pooled = (x.T @ x + y.T @ y).astype(np.float64) / (len(x) + len(y))
    still -= (len(x) - len(y)) * pooled
    return units.weight * moving, units.weight * still
