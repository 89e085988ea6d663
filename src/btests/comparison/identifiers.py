"""Columns without a distribution: identifiers, row numbers and constants, by their number of different values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from btests._imports import arrow
from btests.comparison.cells import Cells
from btests.data.column_type import ColumnType
from btests.plan import Array

Hashes = npt.NDArray[np.uint64]

# Smallest hashes that are kept: the relative standard error of the estimate is 1/sqrt of their number, 1.6 %.
_MOST = 4096


@dataclass(frozen=True, slots=True)
class DistinctCount:
    """Smallest hashes of the different values of some cells; counts of parts of a table add.

    The number of different values is exact for a few thousand, and an estimate beyond.

    The k-th smallest of n random hashes is about k/n of their range (Bar-Yossef et al., Counting distinct elements in a
    data stream, RANDOM 2002).

    Attributes
    ----------
    n_present : int
        Number of cells that are not missing.
    hashes : ndarray of shape (k,)
        Increasing.
    """

    n_present: int = 0
    hashes: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    @classmethod
    def of(cls, column: Any) -> DistinctCount:
        """Return the count of an arrow column of texts or of whole numbers of at most 64 bits."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        n_present = len(column) - column.null_count
        words = pc.drop_null(pc.unique(column))
        if pa.types.is_integer(words.type):
            found = words.to_numpy(zero_copy_only=False).astype(np.uint64)
        else:
            found = np.fromiter(map(crc32, words.cast(pa.large_binary()).to_pylist()), np.uint64, len(words))
        hashes = _mixed(found)
        if len(hashes) > 2 * _MOST:  # of different texts a few have equal ones
            hashes = np.partition(hashes, 2 * _MOST)[: 2 * _MOST]
        return cls(n_present, np.unique(hashes)[:_MOST])

    def __add__(self, other: DistinctCount) -> DistinctCount:
        return DistinctCount(self.n_present + other.n_present, np.union1d(self.hashes, other.hashes)[:_MOST])

    @property
    def n_distinct(self) -> int:
        """Number of different values."""
        if len(self.hashes) < _MOST:
            return len(self.hashes)
        return min(self.n_present, round((_MOST - 1) * 2.0**64 / float(self.hashes[-1])))


def _mixed(numbers: Hashes) -> Hashes:
    """Return hashes of numbers, (n,) to (n,), by the finalizer of splitmix64."""
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


# Minimum rows of both tables for a column without repetitions to be an identifier.
_LEAST_ROWS = 20


_ID_NAME = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|rowid|row|rownum|unnamed: 0)$|[a-z]I[dD]$|^$", re.IGNORECASE
)


def why_excluded(cells: Cells, named: bool, distinct: DistinctCount | None = None) -> str | None:
    """Return why a column is excluded, None if it is not; ``named`` if the user has selected it by name.

    The decision uses pooled cells only, so that it does not depend on which row is in which table. If the cells are
    drawn ones, their repetitions are those of all rows, of which ``distinct`` counts the values.
    """
    present = cells.values[cells.present]
    if present.size == 0:
        return "all its cells are missing"
    if present.min() == present.max() and not cells.missing.any():
        if cells.kind == "number" and abs(present[0]) > 2.0**53:
            return f"all its numbers are {cells.show(float(present[0]))}, to the 16 digits that are read of them"
        return f"it is constant, {cells.show(float(present[0]))!r} in every row"
    if named or present.size < _LEAST_ROWS:
        return None
    if cells.kind == "category":
        n_values, n_cells = len(cells.levels), present.size
        if distinct is not None:
            n_values, n_cells = distinct.n_distinct, distinct.n_present
        what = f"it has {n_values} different values in {n_cells} cells: a row identifier or free text"
        return what if n_values > 0.5 * n_cells else None
    return _why_number(cells, present, distinct) if cells.unit == "integer" else None


def _why_number(cells: Cells, present: Array, all_rows: DistinctCount | None) -> str | None:
    """Return why whole numbers are an identifier: unique in each table, and without gaps or named like one."""
    distinct, counts = np.unique(present, return_counts=True)
    if 2 * distinct.size < present.size or counts.max() > 2:
        return None
    if all_rows is not None and 2 * all_rows.n_distinct < all_rows.n_present:
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
        if not _is_numbering(np.sort(cells.values_of(bool(b))), int(seen.high) - int(seen.low)):
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
