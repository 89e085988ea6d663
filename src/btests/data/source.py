"""Protocol of a source of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from btests.plan import Index

Rows = npt.NDArray[Any]


@runtime_checkable
class Source(Protocol):
    """Rows of numbers that are somewhere else, such as in a file. Nothing is held open between two readings."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        ...

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of those columns, None where they have none."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """What rows come out as: float32 or float64."""
        ...

    @property
    def skipped(self) -> tuple[str, ...]:
        """Parts that could not be read and were left out, each with the reason."""
        ...

    def units(self) -> Index | None:
        """Return the edges of the units that are read as a whole, (n_units + 1,); None: any row is read by itself."""
        ...

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        ...

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        ...

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        ...
