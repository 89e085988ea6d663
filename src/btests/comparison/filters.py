"""Filters for columns that hold no distribution: constants, row identifiers, free text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.schema_inference import ColumnType
from btests.plan import Array

# Minimum rows of both tables for a column without repetitions to be an identifier.
_LEAST_ROWS = 20

_ID_NAME = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|rowid|row|rownum|unnamed: 0)$|[a-z]I[dD]$|^$", re.IGNORECASE
)


def why_excluded(cells: Cells, named: bool) -> str | None:
    """Return why a column is excluded, None if it is not; ``named`` if the user has selected it by name.

    The decision uses pooled cells only, so that it does not depend on which row is in which table.
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
    """Return why whole numbers are an identifier: unique in each table, and without gaps or named like one."""
    distinct, counts = np.unique(present, return_counts=True)
    if 2 * distinct.size < present.size or counts.max() > 2:
        return None
    low, high = float(distinct[0]), float(distinct[-1])
    if high - low + 1 <= 1.5 * distinct.size:
        return f"it numbers the rows, {cells.show(low)} to {cells.show(high)}"
    return "it identifies rows, by its name and for want of repetitions" if _ID_NAME.search(cells.name) else None


# Minimum drawn cells of a side for a column without repetitions to be an identifier.
_LEAST_DRAWN_ROWS = 20

# Maximum range of row numbers, as a multiple of the number of rows.
_RANGE = 1.5

# Maximum Kolmogorov-Smirnov distance from the uniform distribution, times sqrt(m); exceeded with probability 1e-4.
_UNEVEN = 2.25


def why_numbering(cells: Cells, sides: Sequence[ColumnType]) -> str | None:
    """Return why a column of row numbers is excluded, None if it is not one; ``sides`` describes all rows.

    Drawn rows have gaps between any numbers. Row numbers are whole, unique on a side, spread evenly between the
    smallest and the largest, and their range is close to the number of rows.
    """
    if cells.unit != "integer" or any(seen.low is None for seen in sides):
        return None
    low, high = min(seen.low for seen in sides), max(seen.high for seen in sides)
    if high - low + 1 > _RANGE * sum(seen.n_present for seen in sides):
        return None
    for b, seen in enumerate(sides):
        side = cells.side(bool(b))
        present = cells.values[side][cells.present[side]]
        if not _is_numbering(np.sort(present), int(seen.high) - int(seen.low)):
            return None
    return f"it numbers the rows, {low} to {high}"


def _is_numbering(ordered: Array, span: int) -> bool:
    """Return whether sorted numbers (m,) are unique and spread evenly over about ``span``."""
    m = len(ordered)
    if m < _LEAST_DRAWN_ROWS or span <= 0 or (ordered[1:] == ordered[:-1]).any():
        return False
    # The extremes of all rows are usually not among the drawn rows; the span is of all rows.
    first = ordered[0] - (span - (ordered[-1] - ordered[0])) / 2.0
    uneven = np.abs((ordered - first) / span - (np.arange(m) + 0.5) / m).max()
    return bool(uneven <= _UNEVEN / np.sqrt(m))
