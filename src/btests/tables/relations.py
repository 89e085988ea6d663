"""Pairs of columns: whether their relation moved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from btests.blocks import Array
from btests.tables.scores import Scored, quadratic_scores
from btests.tables.units import Units

Singles = npt.NDArray[np.float32]

#: More columns than this are not looked at in pairs.
MOST_COLUMNS = 150

# Scores of a column, by how many columns there are: the products of all scores must fit into memory.
_SCORES = ((30, 4), (60, 2), (MOST_COLUMNS, 1))


def n_scores(n_columns: int) -> int:
    """Return how many scores of a column take part in its relations at most, 0 where there are too many columns."""
    return next((count for limit, count in _SCORES if n_columns <= limit), 0)


def scored_pairs(scores: Sequence[Singles], units: Units) -> tuple[list[tuple[int, int]], Scored]:
    """Return all pairs of columns, and how unlikely the change of their relations is.

    The features of a pair are the products of the scores of its columns, centred at their pooled mean: where neither
    margin moved, the mean of a product moves only if the relation did.
    """
    edges = np.cumsum([0, *(part.shape[1] for part in scores)])
    stacked = np.concatenate(scores, axis=1)
    moving, still = _second_moments(stacked[: units.n_x], stacked[units.n_x :], units)
    pairs = list(combinations(range(len(scores)), 2))
    columns, constants, groups, start = [], [], [], 0
    for i, j in pairs:
        block = moving[:, edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
        columns.append(block.reshape(len(moving), -1))
        constants.append(still[edges[i] : edges[i + 1], edges[j] : edges[j + 1]].ravel())
        groups.append(slice(start, start + columns[-1].shape[1]))
        start = groups[-1].stop
    joined, constant = np.concatenate(columns, axis=1), np.concatenate(constants)
    return pairs, quadratic_scores(joined, constant, units.signs, groups, units.exhaustive)


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
