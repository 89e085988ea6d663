"""Pairs of columns: tests of their relation, and its change in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from btests.comparison.cells import Cells, Mask
from btests.comparison.features import pooled_ranks, relation_scores
from btests.comparison.format import percent
from btests.comparison.scores import Features, Scored, quadratic_scores
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
        features.append(Features.of_one(d / left, c / left))
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


_SCORES = 4

# Scores of a number without the indicator of missing cells.
_PLAIN_SCORES = 2

# Minimum standard errors of a change of missing cells to be the measure of a relation.
_ENOUGH = 3.0


def relation_measure(one: Cells, two: Cells) -> tuple[str, float, float, str]:
    """Return the name of a measure, its value on both sides, and both in words.

    If missing cells changed more significantly than present ones: how often both are missing, or one is missing given
    values of the other. Otherwise, for two numbers, the correlation of their pooled ranks if that changed clearly; or,
    as for categories, the root of the summed squared correlations between their scores, which has no sign.
    """
    both = one.present & two.present
    sides = (one.side(False), one.side(True))
    ranks = pooled_ranks(one), pooled_ranks(two)
    scores = _scores((one, two), ranks, _PLAIN_SCORES)
    empty = holes(one, two)
    values = _change([[score[s][both[s]] for score in scores] for s in sides])
    if empty is not None and empty.errors > max(_ENOUGH, values):
        return empty.measure, empty.a, empty.b, empty.text
    if ranks[0] is not None and ranks[1] is not None:
        a, b = (_correlation(ranks[0][s][both[s]], ranks[1][s][both[s]]) for s in sides)
        if abs(a - b) > 0.02:
            return _worded("rank correlation", a, b)
    elif one.kind == two.kind == "boolean":
        return _worded("correlation", *(_correlation(*(c.values[s][both[s]] for c in (one, two))) for s in sides))
    scores = _scores((one, two), ranks, _SCORES)
    return _worded("association", *(_association(*(score[s] for score in scores)) for s in sides))


def _worded(measure: str, a: float, b: float) -> tuple[str, float, float, str]:
    return measure, a, b, f"{measure} {a:.3f} -> {b:.3f}"


def _change(sides: list[list[Array]]) -> float:
    """Return the largest change of a correlation between scores of two columns, in approximate standard errors."""
    if min(len(side[0]) for side in sides) < 2:
        return 0.0
    a, b = (_correlations(*side) for side in sides)
    return float(np.abs(a - b).max(initial=0.0) / np.sqrt(sum(1.0 / len(side[0]) for side in sides)))


def _scores(columns: Sequence[Cells], ranks: Sequence[Array | None], most: int) -> list[Array]:
    """Return the scores of columns that have products: (n, k) each."""
    found = [relation_scores(cells, rank, most) for cells, rank in zip(columns, ranks, strict=True)]
    return [score[:, :k] for score, k in found]


def _correlation(x: Array, y: Array) -> float:
    if len(x) < 2 or x.std() == 0.0 or y.std() == 0.0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _association(x: Array, y: Array) -> float:
    return float(np.sqrt(np.sum(_correlations(x, y) ** 2)))


def _correlations(x: Array, y: Array) -> Array:
    """Return the correlations of all scores of two columns: (n, k) and (n, l) to (k, l), 0 where one is constant."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.outer(x.std(axis=0), y.std(axis=0)) * len(x)
    return np.asarray((x.T @ y) / np.where(scale > 0.0, scale, np.inf))


# Minimum rows of each side that satisfy a reported condition.
_LEAST_ROWS = 20

# Levels that are considered as conditions.
_LEVELS = 20


@dataclass(frozen=True, slots=True)
class Holes:
    """Rate of missing cells on both sides under some condition, in words, and the change in standard errors."""

    measure: str
    a: float
    b: float
    text: str
    errors: float


def holes(one: Cells, two: Cells) -> Holes | None:
    """Return the most significant change of the missing cells of one column given the other column."""
    found = []
    if one.missing.any() and two.missing.any():
        text = f"{one.name} is missing together with {two.name}"
        found.append(_rate("missing together", text, one, one.missing & two.missing, None))
    for x, y in ((one, two), (two, one)):
        if x.missing.any():
            found += [_rate("missing by value", text, x, x.missing, rows) for text, rows in _conditions(x, y)]
    return max((each for each in found if each is not None), key=lambda each: each.errors, default=None)


def _conditions(x: Cells, y: Cells) -> list[tuple[str, Mask]]:
    """Return values that y may have, as masks, with the words for "x is missing where y has them"."""
    start = f"{x.name} is missing where {y.name}"
    if y.has_levels:
        frequent = np.argsort(-y.counts(), kind="stable")[:_LEVELS]
        return [(f"{start} is {y.show(float(j))!r}", (y.values == j) & y.present) for j in frequent]
    middle = float(np.median(y.values[y.present])) if y.present.any() else 0.0
    shown = y.show(middle)
    return [
        (f"{start} is above {shown}", (y.values > middle) & y.present),
        (f"{start} is at most {shown}", (y.values <= middle) & y.present),
    ]


def _rate(measure: str, text: str, cells: Cells, holes: Mask, among: Mask | None) -> Holes | None:
    shares, counts = [], []
    for second in (False, True):
        part = holes[cells.side(second)]
        part = part if among is None else part[among[cells.side(second)]]
        if len(part) < _LEAST_ROWS:
            return None
        shares.append(float(part.mean()))
        counts.append(len(part))
    a, b = shares
    pooled = (a * counts[0] + b * counts[1]) / sum(counts)
    if not 0.0 < pooled < 1.0:
        return None
    errors = abs(a - b) / math.sqrt(pooled * (1.0 - pooled) * (1.0 / counts[0] + 1.0 / counts[1]))
    often = "more" if b > a else "less"
    return Holes(measure, a, b, f"{text} {often} often: {percent(a)} -> {percent(b)}", errors)
