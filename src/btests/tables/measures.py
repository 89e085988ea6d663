"""How strongly two columns are related, as one number for each side."""

from __future__ import annotations

import numpy as np

from btests.blocks import Array
from btests.tables.cells import Cells
from btests.tables.features import pooled_ranks, relation_scores

_SCORES = 4


def relation_measure(one: Cells, two: Cells) -> tuple[str, float, float]:
    """Return the name of a measure and its value on both sides.

    Of two numbers the correlation of their pooled ranks where that changed plainly; else, as for categories, the root
    of the summed squared correlations between their scores, which has no sign.
    """
    both = one.present & two.present
    if {one.kind, two.kind} <= {"number", "time"}:
        ranks = [pooled_ranks(cells) for cells in (one, two)]
        a, b = (_correlation(*(rank[s][both[s]] for rank in ranks)) for s in (one.side(False), one.side(True)))
        if abs(a - b) > 0.02:
            return "rank correlation", a, b
    elif one.kind == two.kind == "boolean":
        a, b = (_correlation(*(c.values[s][both[s]] for c in (one, two))) for s in (one.side(False), one.side(True)))
        return "correlation", a, b
    found = [relation_scores(cells, _ranks(cells), _SCORES) for cells in (one, two)]
    scores = [score[:, :k] for score, k in found]
    a, b = (_association(*(score[s] for score in scores)) for s in (one.side(False), one.side(True)))
    return "association", a, b


def _ranks(cells: Cells) -> Array | None:
    return pooled_ranks(cells) if cells.kind in ("number", "time") else None


def _correlation(x: Array, y: Array) -> float:
    if len(x) < 2 or x.std() == 0.0 or y.std() == 0.0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _association(x: Array, y: Array) -> float:
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.outer(x.std(axis=0), y.std(axis=0)) * len(x)
    return float(np.sqrt(np.sum(((x.T @ y) / np.where(scale > 0.0, scale, np.inf)) ** 2)))
