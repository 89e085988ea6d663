"""Columns that number the rows, told from some of them and from the range of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.large.seen import Seen
from btests.plan import Array

# Fewer drawn cells than this on a side do not make an identifier of a column without repetitions.
_LEAST_ROWS = 20

# Numbers of rows have at most so many gaps: the range is no larger than this times the number of rows.
_RANGE = 1.5

# Even numbers deviate by so many standard deviations from an even spread at most: beyond it by chance in 1 of 10,000.
_UNEVEN = 2.25


def why_numbering(cells: Cells, sides: Sequence[Seen]) -> str | None:
    """Return why a column is left out that numbers the rows, None if it does not; ``sides`` is of all rows.

    Among rows drawn of many there are gaps between any numbers. Those of rows are whole, come once on a side, are
    spread evenly between the smallest and the largest, and there are about as many of them as rows.
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
    """Whether increasing numbers (m,) come once and are spread evenly over about ``span``."""
    m = len(ordered)
    if m < _LEAST_ROWS or span <= 0 or (ordered[1:] == ordered[:-1]).any():
        return False
    # The smallest and the largest number of all rows are not among those drawn, as a rule: the span is.
    first = ordered[0] - (span - (ordered[-1] - ordered[0])) / 2.0
    uneven = np.abs((ordered - first) / span - (np.arange(m) + 0.5) / m).max()
    return bool(uneven <= _UNEVEN / np.sqrt(m))
