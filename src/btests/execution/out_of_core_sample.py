"""Samples whose rows are in files or on a cluster, in permuted order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from btests.data.sample import LOCATION_ROWS, Location, RowSlice, Sample
from btests.data.source import Rows
from btests.plan import Array, Index


class RowOrder(Protocol):
    """Protocol of rows in permuted order (see :class:`btests.data.permuted.PermutedRows`)."""

    @property
    def how(self) -> str:
        """Kind of shuffle: ``"exact"``, ``"buffered"`` or ``"as stored"``."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        ...

    @property
    def identity(self) -> str:
        """Identifier of these rows in this order."""
        ...

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``: (last - first, width)."""
        ...

    def at(self, positions: Index) -> Rows:
        """Return the rows at a few positions: (m,) to (m, width)."""
        ...

    def stored(self, first: int, last: int) -> tuple[Rows, Index] | None:
        """Return rows ``first .. last - 1`` as they are stored, and their positions; None where they were moved."""
        ...

    def close(self) -> None:
        """Free rows that were read ahead, and temporary files."""
        ...


@dataclass(frozen=True, slots=True)
class OutOfCoreSample:
    """Rows at positions ``begin .. end - 1`` of permuted rows outside memory.

    Attributes
    ----------
    permuted : RowOrder
        Rows in permuted order.
    begin, end : int
        Range of positions.
    scales : ndarray of shape (d,), optional
        Columns are divided by their scale on reading.
    location : Location
        Location and scale of the first rows.
    """

    permuted: RowOrder
    begin: int
    end: int
    scales: Array | None = field(default=None, repr=False, compare=False)
    location: Location = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "location", Location.of(self.first(LOCATION_ROWS)))

    def __len__(self) -> int:
        return self.end - self.begin

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return self.permuted.width

    @property
    def is_numeric(self) -> bool:
        """True: the rows are points."""
        return True

    @property
    def is_shuffled(self) -> bool:
        """Whether the rows are in random order."""
        return self.permuted.how != "as stored"

    def first(self, n_rows: int) -> Rows:
        """Return the first ``n_rows`` rows in permuted order, or all if there are fewer."""
        return self._at(np.arange(min(n_rows, len(self)), dtype=np.int64))

    def head(self, n_rows: int) -> Rows:
        """Return the first ``n_rows`` rows in permuted order, or evenly spaced rows if they are not shuffled."""
        if self.is_shuffled:
            return self.first(n_rows)
        return self._at(np.arange(n_rows, dtype=np.int64) * len(self) // n_rows)

    def take(self, positions: Index) -> Sample:
        """Return the rows at these positions as a sample in memory."""
        return Sample(self._at(positions), np.arange(len(positions)))

    def split(self, n_rows: int) -> tuple[OutOfCoreSample, OutOfCoreSample]:
        """Return the first ``n_rows`` rows in permuted order, and all others."""
        middle = self.begin + n_rows
        return replace(self, end=middle), replace(self, begin=middle)

    def scaled(self, scales: Array) -> OutOfCoreSample:
        """Return the same rows with each column divided by its scale: (d,)."""
        return replace(self, scales=scales)

    def close(self) -> None:
        """Free rows that were read ahead, and temporary files."""
        self.permuted.close()

    def window(self, first: int, last: int) -> RowSlice:
        """Return the rows at positions ``first .. last - 1`` of this sample."""
        rows = divided(self.permuted.window(self.begin + first, self.begin + last), self.scales)
        return RowSlice(np.ascontiguousarray(rows), first, self.location)

    def stored(self, first: int, last: int) -> RowSlice:
        """Return rows ``first .. last - 1`` as they are stored, with their positions, or as in :meth:`window`.

        The latter where the sample is a part of all rows, or rows were moved.
        """
        is_all = self.begin == 0 and self.end == self.permuted.n_rows
        found = self.permuted.stored(first, last) if is_all else None
        if found is None:
            return self.window(first, last)
        rows, positions = found
        return RowSlice(np.ascontiguousarray(divided(rows, self.scales)), first, self.location, positions)

    def _at(self, positions: Index) -> Rows:
        return divided(self.permuted.at(self.begin + positions), self.scales)


def divided(rows: Rows, scales: Array | None) -> Rows:
    """Return rows (m, d) with each column divided by its scale (d,); unchanged for None."""
    return rows if scales is None else rows / scales


def row_bytes(x: OutOfCoreSample, y: OutOfCoreSample) -> int:
    """Return the bytes of a row of x and one of y."""
    return x.width * (x.permuted.dtype.itemsize + y.permuted.dtype.itemsize)
