"""Designs: protocol, and those of two samples of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

#: Fewest pairs: of 4 tuples of two rows, swaps have 16 outcomes.
MIN_PAIRS = 8


class Design(Protocol):
    """Two samples, the permutation that each is put into, and which sizes go together."""

    @property
    def streams(self) -> tuple[int, int]:
        """Number of the random permutation of x and of y; samples with one number keep their rows side by side."""
        ...

    @property
    def compares_columns(self) -> bool:
        """Whether x and y have the same columns, matched by name if they have names."""
        ...

    def check(self, n_x: int, n_y: int, width_x: int, width_y: int) -> None:
        """Raise ``ValueError`` unless samples of these lengths and widths suit the design."""
        ...


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


@dataclass(frozen=True, slots=True)
class JointSample:
    """Row i of x and row i of y are one draw of a joint distribution, for tests of independence; columns may differ.

    Both samples are put into the same permutation.
    """

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
