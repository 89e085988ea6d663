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
    """Rows of numbers outside memory, such as in a file. No file is held open between two readings."""

    @property
    def name(self) -> str:
        """Name in messages."""
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
        """Names of those columns; None if they have no names."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows: float32 or float64."""
        ...

    @property
    def skipped(self) -> tuple[str, ...]:
        """Messages of damaged parts that were excluded."""
        ...

    def units(self) -> Index | None:
        """Return the edges of units that are read as a whole, (n_units + 1,); None with random access to rows."""
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
