"""Two samples of the same subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class MatchedSamples:
    """Rows i of x and of y are of one subject, with the same columns; both are put into the same permutation.

    Under the null hypothesis x_i and y_i may swap places within each subject, however they depend on one another.
    """

    streams: ClassVar[tuple[int, int]] = (1, 1)
    compares_columns: ClassVar[bool] = True

    def check(self, n_x: int, n_y: int, width_x: int, width_y: int) -> None:
        """Raise ``ValueError`` unless both samples have as many rows and columns."""
        if n_x != n_y:
            raise ValueError(f"x has {n_x} rows and y has {n_y}; with paired=True row i of both is of one subject")
        if width_x != width_y:
            raise ValueError(f"x has {width_x} columns and y has {width_y}; they must have the same")
        if n_x < 2:
            raise ValueError(f"x and y have {n_x} row{'s' * (n_x != 1)}; a test needs at least 2 subjects")
