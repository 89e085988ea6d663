"""Rows of an array in memory or of a memory map as a source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.data.cell_checks import check_cells, outcome
from btests.data.source import Rows
from btests.plan import Index


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArraySource:
    """Rows of an array (n, d) or (n,) of numbers; the array is not copied."""

    array: Rows
    name: str = "the array"

    def __post_init__(self) -> None:
        if self.array.dtype.kind not in "biuf" or self.array.ndim not in (1, 2):
            kind = f"{self.array.dtype} of shape {self.array.shape}"
            raise ValueError(f"{self.name} must be numbers in rows and columns, got {kind}")
        if self.array.ndim == 1:
            object.__setattr__(self, "array", self.array[:, None])

    def __repr__(self) -> str:
        # Arrays have no name: a hash of some rows identifies them in checkpoints.
        some = np.ascontiguousarray(self.array[:: max(1, len(self.array) // 64)])
        return f"ArraySource({self.array.shape}, {self.array.dtype}, {hashlib.sha256(some.tobytes()).hexdigest()})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    @property
    def names(self) -> None:
        """None: the columns have no names."""
        return None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows: float32 or float64."""
        return outcome([self.array.dtype])

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was skipped."""
        return ()

    def units(self) -> Index | None:
        """Return None: any row can be read by itself."""
        return None

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        rows = np.ascontiguousarray(self.array[first:last], dtype=self.dtype)
        return check_cells(rows, self.name, None, lambda i: first + i)

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        found = np.ascontiguousarray(self.array[rows], dtype=self.dtype)
        return check_cells(found, self.name, None, lambda i: int(rows[i]))

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, at most ``n_rows`` at a time: each (m, width)."""
        for first in range(0, self.n_rows, n_rows):
            yield self.read(first, min(first + n_rows, self.n_rows))
