"""Pairs of columns: whether their relation moved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from btests.blocks import Array, Index
from btests.tables.cells import Cells
from btests.tables.features import relation_scores
from btests.tables.scores import Scored, quadratic_scores
from btests.tables.units import Units

Singles = npt.NDArray[np.float32]

#: More columns than this are not looked at in pairs.
MOST_COLUMNS = 150

# Scores of a column: three where columns are few; one where the products of all would take too much memory.
_SCORES = ((30, 4), (60, 3), (MOST_COLUMNS, 1))


def scored_pairs(
    columns: Sequence[Cells], units: Units, orders: tuple[Index, Index]
) -> tuple[list[tuple[int, int]], Scored]:
    """Return all pairs of columns, and the scores of their relations.

    The features of a pair are the products of the scores of its columns, centred at their pooled mean: where neither
    margin moved, the mean of a product moves only if the relation did.
    """
    most = next(count for limit, count in _SCORES if len(columns) <= limit)
    parts = [relation_scores(cells, most).astype(np.float32) for cells in columns]
    edges = np.cumsum([0, *(part.shape[1] for part in parts)])
    n_a = columns[0].n_a
    stacked = np.concatenate(parts, axis=1)
    x, y = stacked[:n_a][orders[0]], stacked[n_a:][orders[1]]
    moving, still = _second_moments(x, y, units)
    pairs = list(combinations(range(len(columns)), 2))
    blocks = [np.ix_(range(edges[i], edges[i + 1]), range(edges[j], edges[j + 1])) for i, j in pairs]
    flat, groups, start = [], [], 0
    constant = []
    for block in blocks:
        flat.append(moving[:, block[0], block[1]].reshape(len(moving), -1))
        constant.append(still[block].ravel())
        groups.append(slice(start, start + flat[-1].shape[1]))
        start += flat[-1].shape[1]
    joined = np.concatenate(flat, axis=1)
    return pairs, quadratic_scores(joined, np.concatenate(constant), units.signs, groups, units.exhaustive)


def _second_moments(x: Singles, y: Singles, units: Units) -> tuple[Array, Array]:
    """Return D and c (see ``Units``) of the products of all scores: (n, p) twice to (u, p, p) and (p, p)."""
    p = x.shape[1]
    ends = np.append(units.starts[1:], len(units.x))
    moving = np.empty((len(units.starts), p, p))
    for out, start, end in zip(moving, units.starts, ends, strict=True):
        own_x, own_y = x[units.x[start:end]], y[units.y[start:end]]
        out[:] = own_x.T @ own_x - own_y.T @ own_y
    alone_x, alone_y = x[units.alone_x], y[units.alone_y]
    still = (alone_x.T @ alone_x - alone_y.T @ alone_y).astype(np.float64)
    # Centred products: what is taken off cancels in pairs, and not in rows that are alone.
    pooled = (x.T @ x + y.T @ y).astype(np.float64) / (len(x) + len(y))
    still -= (len(alone_x) - len(alone_y)) * pooled
    return units.weight * moving, units.weight * still
