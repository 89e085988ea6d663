"""Some of the rows of a sample that is somewhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from btests.data.location import Location


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
