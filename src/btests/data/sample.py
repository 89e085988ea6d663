"""Samples: rows in the order in which they fill blocks, or a slice of the rows of a sample stored elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from btests.plan import Array, Index

#: Rows that a location is made from.
LOCATION_ROWS = 64


@dataclass(frozen=True, slots=True)
class Location:
    """A point amid the rows, and the mean squares of their distances from it, coordinate by coordinate: (d,) each.

    Made from the first rows that are dealt: rows that a selector keeps for the test do not reach its choice, not by a
    bit, and who reads the rows one after another has the same location from the start.
    """

    origin: Array
    spread: Array

    @staticmethod
    def of(rows: npt.NDArray[Any]) -> Location:
        """Return the location of some rows (m, d)."""
        some = rows.astype(np.float64)
        origin = np.median(some, axis=0)
        with np.errstate(over="ignore"):
            return Location(origin, np.mean((some - origin) ** 2, axis=0))

    def columns(self, chosen: list[int]) -> Location:
        """Return the location of these coordinates alone."""
        return Location(self.origin[chosen], self.spread[chosen])

    def reach(self) -> float:
        """Return a squared distance that hardly any two rows exceed, were they normal."""
        total = float(self.spread.sum())
        if not 0.0 < total < math.inf:
            return total
        # Squared distances are 2 total on average, and vary the less the more coordinates have a share in it.
        shares = self.spread / total
        return 2.0 * total * (1.0 + 11.0 * math.sqrt(float((shares**2).sum())))


class AnySample(Protocol):
    """What a choice of the kernel needs of a sample, wherever its rows are."""

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """Coordinates of a row; 0 of objects."""
        ...

    @property
    def location(self) -> Location:
        """Where the rows are."""
        ...

    @property
    def is_numeric(self) -> bool:
        """Whether the rows are points, not objects."""
        ...

    @property
    def is_shuffled(self) -> bool:
        """Whether rows are dealt in an order of our own."""
        ...

    def first(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the first ``n_rows`` rows that are dealt, or all where they are fewer."""
        ...

    def head(self, n_rows: int) -> npt.NDArray[Any]:
        """Return ``n_rows`` rows, the first in the order, or spread evenly where the order is the user's own."""
        ...

    def take(self, positions: Index) -> AnySample:
        """Return the rows at these positions in the order, in the order given."""
        ...

    def split(self, n_rows: int) -> tuple[AnySample, AnySample]:
        """Return the first ``n_rows`` rows in the order, and all others: no row is in both."""
        ...

    def scaled(self, scales: Array) -> AnySample:
        """Return the same rows with each column divided by its scale: (d,)."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows (n, d) of numbers, or (n,) of objects, and which of them are dealt, in which order (None: as they stand)."""

    rows: npt.NDArray[Any]
    order: Index | None = None
    location: Location = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        some = self.first(LOCATION_ROWS) if self.is_numeric else np.zeros((1, 1))
        object.__setattr__(self, "location", Location.of(some))

    def __len__(self) -> int:
        return len(self.rows if self.order is None else self.order)

    @property
    def is_numeric(self) -> bool:
        """Whether the rows are points, not objects."""
        return self.rows.dtype != object

    @property
    def is_shuffled(self) -> bool:
        """Whether rows are dealt in an order of our own."""
        return self.order is not None

    @property
    def width(self) -> int:
        """Coordinates of a row; 0 of objects."""
        return self.rows.shape[1] if self.is_numeric else 0

    @property
    def start(self) -> int:
        """The position of the first row: see :class:`btests.data.sample.RowSlice`."""
        return 0

    def stack(self, start: int, n_blocks: int, b: int) -> npt.NDArray[Any]:
        """Return ``n_blocks`` consecutive blocks of ``b`` rows from position ``start``: (n_blocks, b, ...)."""
        stop = start + n_blocks * b
        rows = self.rows[start:stop] if self.order is None else self.rows[self.order[start:stop]]
        return rows.reshape(n_blocks, b, *self.rows.shape[1:])

    def columns(self, columns: tuple[int, ...]) -> Sample:
        """Return the same rows in the same order with these coordinates alone, as a copy: (n, d) to (n, c)."""
        return Sample(np.ascontiguousarray(self.rows[:, list(columns)]), self.order)

    def split(self, n_rows: int) -> tuple[Sample, Sample]:
        """Return the first ``n_rows`` rows in the order, and all others: no row is in both."""
        if self.order is None:
            return Sample(self.rows[:n_rows]), Sample(self.rows[n_rows:])
        return Sample(self.rows, self.order[:n_rows]), Sample(self.rows, self.order[n_rows:])

    def scaled(self, scales: Array) -> Sample:
        """Return the same rows with each column divided by its scale, as a copy: (d,)."""
        return Sample(self.rows / scales, self.order)

    def take(self, positions: Index) -> Sample:
        """Return the rows at these positions in the order, in the order given."""
        return Sample(self.rows, positions if self.order is None else self.order[positions])

    def first(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the first ``n_rows`` rows that are dealt, or all where they are fewer."""
        return self.rows[:n_rows] if self.order is None else self.rows[self.order[:n_rows]]

    def head(self, n_rows: int) -> npt.NDArray[Any]:
        """Return ``n_rows`` rows, the first in the order, or spread evenly where the order is the user's own."""
        if self.order is not None:
            return self.rows[self.order[:n_rows]]
        return self.rows[np.arange(n_rows) * len(self) // n_rows]


@dataclass(frozen=True, slots=True)
class RowSlice:
    """The rows at positions ``start`` and on, in the order in which they are dealt, for the blocks that they fill.

    Attributes
    ----------
    rows
        Contiguous: (m, d).
    start
        The position of the first of them among all rows of the sample.
    location
        That of the whole sample.
    """

    rows: npt.NDArray[Any]
    start: int
    location: Location

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def order(self) -> None:
        """None: the rows are in their order already."""
        return None

    @property
    def is_numeric(self) -> bool:
        """Whether the rows are points, not objects."""
        return self.rows.dtype != object

    def stack(self, start: int, n_blocks: int, b: int) -> npt.NDArray[Any]:
        """Return ``n_blocks`` consecutive blocks of ``b`` rows from position ``start``: (n_blocks, b, ...)."""
        first = start - self.start
        return self.rows[first : first + n_blocks * b].reshape(n_blocks, b, *self.rows.shape[1:])

    def widened(self) -> RowSlice:
        """Return the same rows as float64."""
        return replace(self, rows=self.rows.astype(np.float64))

    def columns(self, columns: tuple[int, ...]) -> RowSlice:
        """Return the same rows with these coordinates alone, as a copy: (m, d) to (m, c)."""
        chosen = list(columns)
        return replace(self, rows=np.ascontiguousarray(self.rows[:, chosen]), location=self.location.columns(chosen))
