"""Features of a column, whose means tell two distributions of it apart."""

from __future__ import annotations

import numpy as np

from btests.blocks import Array
from btests.tables.cells import Cells
from btests.tables.encoding import PERIODS, Code

#: Cosines of the pooled rank of a number. The first sees a shift, the second a change of spread, the others of shape.
N_COSINES = 8

#: Levels of a category with a feature of their own.
_MOST_LEVELS = 200

# Added to the share of a level before its root divides its feature: rare levels count for more than in a kernel that
# asks "the same or not", and less than in a chi-squared test, where those of a handful of rows drown the others.
_SHARE = 0.01


def column_features(cells: Cells, code: Code) -> Array:
    """Return the features of a column, centred at their pooled mean: (n, k)."""
    if cells.kind in ("category", "boolean"):
        found = _indicators(cells, _MOST_LEVELS)
    else:
        rank = pooled_ranks(cells)
        found = [cosine / np.sqrt(j + 1.0) for j, cosine in enumerate(_cosines(rank, N_COSINES))]
        # Ranks do not see how far away the few rows of a tail are.
        found.append(_standardised(code.tame(cells.values), cells))
        for period in code.periods:
            angle = 2.0 * np.pi * cells.values / PERIODS[period]
            found += [_centred(np.sin(angle), cells), _centred(np.cos(angle), cells)]
    if cells.missing.any():
        found.append(_indicator(cells.missing))
    return np.stack(found, axis=1)


def relation_scores(cells: Cells, most: int) -> Array:
    """Return a few scores of a column, centred at 0 and of variance 1, whose products see relations: (n, k)."""
    if cells.kind in ("category", "boolean"):
        counts = np.bincount(cells.values[cells.present].astype(np.int64))
        # Two levels have one indicator between them.
        n_levels = min(most, int((counts > 0).sum()) - (0 if cells.missing.any() else 1))
        hot = [(cells.values == j) & cells.present for j in np.argsort(-counts, kind="stable")[:n_levels]]
    else:
        found = _cosines(pooled_ranks(cells), 2)
        scores = [_unit(cosine) for cosine in found[: max(1, most - 1)]]
        hot = []
        if cells.missing.any() and most > 2:
            scores.append(_unit(_indicator(cells.missing)))
        return np.stack(scores, axis=1)
    if not hot:
        hot = [cells.missing]
    return np.stack([_unit(_indicator(mask)) for mask in hot], axis=1)


def pooled_ranks(cells: Cells) -> Array:
    """Return the share of pooled cells below each, ties shared alike; 1/2 where missing: (n,)."""
    rank = np.full(len(cells), 0.5)
    present = np.flatnonzero(cells.present)
    if present.size == 0:
        return rank
    values = cells.values[present]
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.flatnonzero(begins)
    ends = np.append(first[1:], ordered.size)
    middle = (first + ends) / 2.0 / ordered.size
    rank[present[order]] = middle[np.cumsum(begins) - 1]
    rank[cells.missing] = 0.5
    return rank


def _cosines(rank: Array, count: int) -> list[Array]:
    """Return ``sqrt(2) cos(pi k rank)`` for k = 1 .. count, by their recurrence, centred over the cells."""
    first = np.cos(np.pi * rank)
    before, now = np.ones_like(first), first
    found = []
    for _ in range(count):
        found.append(np.sqrt(2.0) * (now - now.mean()))
        before, now = now, 2.0 * first * now - before
    return found


def _indicators(cells: Cells, most: int) -> list[Array]:
    counts = np.bincount(cells.values[cells.present].astype(np.int64), minlength=1)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    kept = order[:most]
    found = [_indicator((cells.values == j) & cells.present) for j in kept]
    if len(order) > most:
        place = np.zeros(counts.size, dtype=bool)
        place[order[most:]] = True
        found.append(_indicator(place[cells.values.astype(np.int64)] & cells.present))
    return found


def _indicator(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Array:
    share = float(mask.mean())
    return np.asarray((mask - share) / np.sqrt(share + _SHARE))


def _standardised(values: Array, cells: Cells) -> Array:
    present = values[cells.present]
    deviation = float(present.std()) if present.size else 0.0
    return _centred(values / deviation if deviation > 0.0 else np.zeros_like(values), cells)


def _centred(values: Array, cells: Cells) -> Array:
    """Return values with their mean taken off, 0 where missing: missing cells are at the centre."""
    out = values - (float(values[cells.present].mean()) if cells.present.any() else 0.0)
    out[cells.missing] = 0.0
    return np.asarray(out)


def _unit(values: Array) -> Array:
    deviation = float(values.std())
    return values / deviation if deviation > 0.0 else values
