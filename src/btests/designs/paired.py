"""Pairs of rows: x and y are columns of the same observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

#: Fewest pairs: of 4 tuples of two rows, swaps have 16 outcomes.
MIN_PAIRS = 8


@dataclass(frozen=True, slots=True)
class Paired:
    """Row i of x belongs to row i of y; both are put into the same permutation, and may differ in their columns."""

    streams: ClassVar[tuple[int, int]] = (1, 1)
    compares_columns: ClassVar[bool] = False

    def check(self, n_x: int, n_y: int, width_x: int, width_y: int) -> None:
        """Raise ``ValueError`` unless both samples have the same number of rows, and enough."""
        if n_x != n_y:
            raise ValueError(
                f"x has {n_x} rows and y has {n_y}; row i of x belongs to row i of y, so both need as many"
            )
        if n_x < MIN_PAIRS:
            raise ValueError(f"x and y have {n_x} rows; a test of independence needs at least {MIN_PAIRS} pairs")
