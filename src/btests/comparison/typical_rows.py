"""Rows most typical of each side, by the witness function of all coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.row_origin import RowOrigin
from btests.plan import Array, Index

# Rows of each side from which the witness function is estimated, and number of examples of each side.
_ROWS = 1500
_EXAMPLES = 5


def examples(
    points: tuple[Array, Array],
    columns: Sequence[Cells],
    rows: tuple[Index, Index],
    bandwidth: float,
    origins: tuple[RowOrigin, RowOrigin],
) -> dict[str, Any]:
    """Return the rows where the witness function of all coordinates is largest and smallest, as text.

    ``points`` are coordinates in the order ``rows``; the first of them, in that random order, are candidates. Each has
    the number of its row in the file, from 1 after the header.
    """
    p, q = (side[:_ROWS] for side in points)
    gap = (
        _means(p, p, bandwidth, own=True) - _means(p, q, bandwidth),
        _means(q, q, bandwidth, own=True) - _means(q, p, bandwidth),
    )
    found: dict[str, Any] = {"columns": [cells.name for cells in columns], "rows": {}}
    starts = 0, columns[0].n_a
    for side, scores, order, start, origin in zip("ab", gap, rows, starts, origins, strict=True):
        best = np.argsort(-scores, kind="stable")[:_EXAMPLES]
        places = [origin.place(int(order[i])) for i in best]
        found["rows"][side] = [{"file": file, "row": row} for file, row in places]
        found[side] = [[_cell(cells, start + int(order[i])) for cells in columns] for i in best]
    found["text"] = f"of {len(p)} and {len(q)} rows drawn at random, those that differ most from the other side"
    return found


def _means(points: Array, others: Array, bandwidth: float, own: bool = False) -> Array:
    """Return the mean Gaussian kernel between each point and the others; if ``own``, without the point itself."""
    squares = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * points @ others.T
    values = np.exp(-np.maximum(squares, 0.0) / (2.0 * bandwidth**2))
    if own:
        np.fill_diagonal(values, 0.0)
        return np.asarray(values.sum(axis=1) / max(1, len(others) - 1))
    return np.asarray(values.mean(axis=1))


def _cell(cells: Cells, row: int) -> str:
    return "" if cells.missing[row] else cells.show(float(cells.values[row]))
