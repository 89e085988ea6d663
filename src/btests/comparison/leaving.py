"""Columns that say nothing about a distribution: constants, row identifiers, free text."""

from __future__ import annotations

import re

import numpy as np

from btests.comparison.cells import Cells
from btests.plan import Array

# Fewer rows in both tables together than this do not make an identifier of a column without repetitions.
_LEAST_ROWS = 20

_ID_NAME = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|rowid|row|rownum|unnamed: 0)$|[a-z]I[dD]$|^$", re.IGNORECASE
)


def why_left_out(cells: Cells, named: bool) -> str | None:
    """Return why a column is left out, None if it is not; ``named`` if the user asked for it by name.

    All of it is seen on the pooled cells: which of them are in which table does not matter.
    """
    present = cells.values[cells.present]
    if present.size == 0:
        return "all its cells are missing"
    if present.min() == present.max() and not cells.missing.any():
        return f"it is constant, {cells.show(float(present[0]))!r} in every row"
    if named or present.size < _LEAST_ROWS:
        return None
    if cells.kind == "category" and len(cells.levels) > 0.5 * present.size:
        return f"it has {len(cells.levels)} different values in {present.size} cells: a row identifier or free text"
    return _why_number(cells, present) if cells.unit == "integer" else None


def _why_number(cells: Cells, present: Array) -> str | None:
    """Return why whole numbers measure nothing: at most once in each table, without gaps or called an identifier."""
    distinct, counts = np.unique(present, return_counts=True)
    if 2 * distinct.size < present.size or counts.max() > 2:
        return None
    low, high = float(distinct[0]), float(distinct[-1])
    if high - low + 1 <= 1.5 * distinct.size:
        return f"it numbers the rows, {cells.show(low)} to {cells.show(high)}"
    return "it identifies rows, by its name and for want of repetitions" if _ID_NAME.search(cells.name) else None
