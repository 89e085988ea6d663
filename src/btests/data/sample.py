"""Samples in memory: rows in permuted order, slices of rows, and their location and scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from btests.plan import Array, Index

#: Rows from which a location is estimated.
LOCATION_ROWS = 64


@dataclass(frozen=True, slots=True)
class Location:
    """Median of the first rows, and mean squared deviation from it, per coordinate: (d,) each.

    Only the first rows in permuted order are used. So test rows have no influence on kernel selection, not even by
    rounding, and sequential readers have the same location from the start.

    Attributes
    ----------
    origin, spread : ndarray of shape (d,)
        Median, and mean squared deviation from it.
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
        """Return an upper bound of nearly all squared distances between rows, for normal data."""
        total = float(self.spread.sum())
        if not 0.0 < total < math.inf:
            return total
        # Squared distances have mean 2 total; their relative variance is proportional to the sum of squared shares.
        shares = self.spread / total
        return 2.0 * total * (1.0 + 11.0 * math.sqrt(float((shares**2).sum())))


class AnySample(Protocol):
    """Protocol of samples for kernel selection, in memory or not."""

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """Coordinates of a row; 0 for objects."""
        ...

    @property
    def location(self) -> Location:
        """Location and scale of the rows."""
        ...

    @property
    def is_numeric(self) -> bool:
        """Whether the rows are points, not objects."""
        ...

    @property
    def is_shuffled(self) -> bool:
        """Whether the rows are in random order."""
        ...

    def first(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the first ``n_rows`` rows in permuted order, or all if there are fewer."""
        ...

    def head(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the first ``n_rows`` rows in permuted order, or evenly spaced rows if they are not shuffled."""
        ...

    def take(self, positions: Index) -> AnySample:
        """Return the rows at these positions of the permuted order."""
        ...

    def split(self, n_rows: int) -> tuple[AnySample, AnySample]:
        """Return the first ``n_rows`` rows in permuted order, and all others."""
        ...

    def scaled(self, scales: Array) -> AnySample:
        """Return the same rows with each column divided by its scale: (d,)."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows in memory with an optional permutation.

    Attributes
    ----------
    rows : ndarray of shape (n, d), or (n,) of objects
        The rows.
    order : ndarray of int, shape (m,), optional
        Rows of the sample, in this order; None is all, as stored.
    location : Location
        Location and scale of the first rows.
    """

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
        """Whether the rows are in random order."""
        return self.order is not None

    @property
    def width(self) -> int:
        """Coordinates of a row; 0 for objects."""
        return self.rows.shape[1] if self.is_numeric else 0

    @property
    def start(self) -> int:
        """Position of the first row: see :class:`btests.data.sample.RowSlice`."""
        return 0

    def stack(self, start: int, n_blocks: int, b: int) -> npt.NDArray[Any]:
        """Return ``n_blocks`` consecutive blocks of ``b`` rows from position ``start``: (n_blocks, b, ...)."""
        stop = start + n_blocks * b
        rows = self.rows[start:stop] if self.order is None else self.rows[self.order[start:stop]]
        return rows.reshape(n_blocks, b, *self.rows.shape[1:])

    def columns(self, columns: tuple[int, ...]) -> Sample:
        """Return the same rows with these coordinates alone, as a copy: (n, d) to (n, c)."""
        return Sample(np.ascontiguousarray(self.rows[:, list(columns)]), self.order)

    def split(self, n_rows: int) -> tuple[Sample, Sample]:
        """Return the first ``n_rows`` rows in permuted order, and all others."""
        if self.order is None:
            return Sample(self.rows[:n_rows]), Sample(self.rows[n_rows:])
        return Sample(self.rows, self.order[:n_rows]), Sample(self.rows, self.order[n_rows:])

    def scaled(self, scales: Array) -> Sample:
        """Return the same rows with each column divided by its scale, as a copy: (d,)."""
        return Sample(self.rows / scales, self.order)

    def take(self, positions: Index) -> Sample:
        """Return the rows at these positions of the permuted order."""
        return Sample(self.rows, positions if self.order is None else self.order[positions])

    def first(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the first ``n_rows`` rows in permuted order, or all if there are fewer."""
        return self.rows[:n_rows] if self.order is None else self.rows[self.order[:n_rows]]

    def head(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the first ``n_rows`` rows in permuted order, or evenly spaced rows if they are not shuffled."""
        if self.order is not None:
            return self.rows[self.order[:n_rows]]
        return self.rows[np.arange(n_rows) * len(self) // n_rows]


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Consecutive rows of a sample in permuted order, or as they are stored.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        Contiguous rows.
    start : int
        Position of the first of them in the sample, or the number of the first as stored.
    location : Location
        Location of the whole sample.
    positions : ndarray of shape (m,), optional
        Position of each row in permuted order, for rows as they are stored.
    """

    rows: npt.NDArray[Any]
    start: int
    location: Location
    positions: Index | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def order(self) -> None:
        """None: the rows are in permuted order already."""
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
