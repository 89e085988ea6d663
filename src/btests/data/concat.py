"""Concatenation of sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests.data.cell_checks import check_same_columns
from btests.data.source import Rows, Source
from btests.plan import Index

# Rows of a unit of parts without units of their own, such as .npy files, where other parts have units.
_UNIT_ROWS = 2**20


@dataclass(frozen=True, slots=True)
class Parts:
    """Concatenation of the rows of several parts with the same columns.

    Attributes
    ----------
    name : str
        Name in messages.
    parts : tuple of Source
        At least one.
    skipped : tuple of str
        Messages of damaged parts that were excluded.
    """

    name: str
    parts: tuple[Source, ...]
    skipped: tuple[str, ...] = ()
    _edges: Index = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        first = self.parts[0]
        for part in self.parts[1:]:
            _refuse_unlike(first, part)
        counts = np.cumsum([part.n_rows for part in self.parts])
        object.__setattr__(self, "_edges", np.append(0, counts).astype(np.int64))

    @property
    def n_rows(self) -> int:
        """Number of rows in all parts."""
        return int(self._edges[-1])

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        return self.parts[0].width

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.parts[0].names

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows."""
        return self.parts[0].dtype

    def units(self) -> Index | None:
        """Return the edges of the units of all parts, (n_units + 1,), or None."""
        edges = [part.units() for part in self.parts]
        if all(e is None for e in edges):
            return None
        starts = []
        for part, e, start in zip(self.parts, edges, self._edges[:-1], strict=True):
            starts.append(start + (np.arange(0, part.n_rows, _UNIT_ROWS) if e is None else e[:-1]))
        return np.append(np.concatenate(starts), self.n_rows).astype(np.int64)

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        found = np.empty((last - first, self.width), dtype=self.dtype)
        for i, start, end in self._touched(first, last):
            low, high = max(first, start), min(last, end)
            found[low - first : high - first] = self.parts[i].read(low - start, high - start)
        return found

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        cuts = np.searchsorted(rows, self._edges)
        for i in np.flatnonzero(np.diff(cuts)).tolist():
            found[cuts[i] : cuts[i + 1]] = self.parts[i].take(rows[cuts[i] : cuts[i + 1]] - self._edges[i])
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        for part in self.parts:
            yield from part.scan(n_rows)

    def _touched(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        i = int(np.searchsorted(self._edges, first, side="right")) - 1
        while first < last and self._edges[i] < last:
            yield i, int(self._edges[i]), int(self._edges[i + 1])
            i += 1


def _refuse_unlike(first: Source, part: Source) -> None:
    both = f"the parts {first.name!r} and {part.name!r}"
    if (first.names is None) != (part.names is None) or first.width != part.width:
        raise ValueError(f"{both} have {_columns(first)} and {_columns(part)}; parts must have the same")
    if first.names != part.names:
        check_same_columns(first.name, first.names or (), part.name, part.names or ())
    types, others = getattr(first, "types", None), getattr(part, "types", None)
    if types is not None and others is not None and types != others and first.names is not None:
        j = next(j for j in range(first.width) if types[j] != others[j])
        raise ValueError(f"{both} hold column {first.names[j]!r} as {types[j]} and as {others[j]}; make it one type")
    if first.dtype != part.dtype:
        raise ValueError(f"{both} hold {first.dtype} and {part.dtype}; make it one type")


def _columns(source: Source) -> str:
    count = "1 column" if source.width == 1 else f"{source.width} columns"
    return count if source.names is not None else f"{count} without names"
