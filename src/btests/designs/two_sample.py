"""Two independent samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class TwoSample:
    """Independent rows of x and of y, with the same columns, in two permutations."""

    streams: ClassVar[tuple[int, int]] = (1, 2)
    compares_columns: ClassVar[bool] = True

    def check(self, n_x: int, n_y: int, width_x: int, width_y: int) -> None:
        """Raise ``ValueError`` unless both samples have the same number of columns, and two rows."""
        if width_x != width_y:
            raise ValueError(f"x has {width_x} columns and y has {width_y}; they must have the same")
        for name, n in (("x", n_x), ("y", n_y)):
            if n < 2:
                count = "1 row" if n == 1 else f"{n} rows"
                raise ValueError(f"{name} has {count}; a test needs at least 2 rows in each sample")
