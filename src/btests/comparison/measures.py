"""How strongly two columns are related, as one number for each side."""

from __future__ import annotations

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.features import pooled_ranks, relation_scores
from btests.comparison.missingness import holes
from btests.plan import Array

_SCORES = 4

# Two scores of a number do not yet say which cells are missing.
_PLAIN_SCORES = 2

# Standard errors that missing cells must have changed by to be what a relation is about.
_ENOUGH = 3.0


def relation_measure(one: Cells, two: Cells) -> tuple[str, float, float, str]:
    """Return the name of a measure, its value on both sides, and both in words.

    Where missing cells tell more than the cells that are there, how often they are missing together, or where the other
    column has certain values. Else of two numbers the correlation of their pooled ranks where that changed plainly; or,
    as for categories, the root of the summed squared correlations between their scores, which has no sign.
    """
    both = one.present & two.present
    sides = (one.side(False), one.side(True))
    found = [relation_scores(cells, _ranks(cells), _PLAIN_SCORES) for cells in (one, two)]
    scores = [score[:, :k] for score, k in found]
    empty = holes(one, two)
    values = _change([[score[s][both[s]] for score in scores] for s in sides])
    if empty is not None and empty.errors > max(_ENOUGH, values):
        return empty.measure, empty.a, empty.b, empty.text
    if {one.kind, two.kind} <= {"number", "time"}:
        ranks = [pooled_ranks(cells) for cells in (one, two)]
        a, b = (_correlation(*(rank[s][both[s]] for rank in ranks)) for s in sides)
        if abs(a - b) > 0.02:
            return _worded("rank correlation", a, b)
    elif one.kind == two.kind == "boolean":
        return _worded("correlation", *(_correlation(*(c.values[s][both[s]] for c in (one, two))) for s in sides))
    scores = [score[:, :k] for score, k in (relation_scores(cells, _ranks(cells), _SCORES) for cells in (one, two))]
    return _worded("association", *(_association(*(score[s] for score in scores)) for s in sides))


def _worded(measure: str, a: float, b: float) -> tuple[str, float, float, str]:
    return measure, a, b, f"{measure} {a:.3f} -> {b:.3f}"


def _change(sides: list[list[Array]]) -> float:
    """Return the largest change of a correlation between scores of two columns, in standard errors or so."""
    if min(len(side[0]) for side in sides) < 2:
        return 0.0
    a, b = (_correlations(*side) for side in sides)
    return float(np.abs(a - b).max(initial=0.0) / np.sqrt(sum(1.0 / len(side[0]) for side in sides)))


def _ranks(cells: Cells) -> Array | None:
    return pooled_ranks(cells) if cells.kind in ("number", "time") else None


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
