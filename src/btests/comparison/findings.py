"""What a comparison finds: columns, relations and looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from btests.comparison.move import Move


@dataclass(frozen=True, slots=True)
class Column:
    """How a column moved.

    Attributes
    ----------
    name, kind
        Of the column.
    effect
        Share of the rows that would have to change to make the sides alike, less what chance gives; 0 to 1.
    pvalue, pvalue_corrected
        Of this column alone, and corrected for the number of columns.
    moved
        Whether the corrected p-value is at most the level.
    what
        What moved, the surest first.
    a, b
        Plain numbers of each side.
    details
        Levels, chart and encoding, as in the schema.
    pvalue_beyond, beyond
        With a tolerance: the p-value of "no more than tolerated", corrected for the number of columns, and whether it
        is at most the level. None without.
    """

    name: str
    kind: str
    effect: float
    pvalue: float
    pvalue_corrected: float
    moved: bool
    what: tuple[Move, ...]
    a: dict[str, Any]
    b: dict[str, Any]
    details: dict[str, Any]
    pvalue_beyond: float | None = None
    beyond: bool | None = None

    @property
    def marked(self) -> bool:
        """Whether it was found to do what was asked for: to have moved, or by more than tolerated."""
        return self.moved if self.beyond is None else self.beyond

    @property
    def summary(self) -> str:
        """What moved, in one line."""
        if not self.moved:
            return "nothing beyond chance"
        return "; ".join(move.text for move in self.what[:3]) or "small changes, none of which stands out"


@dataclass(frozen=True, slots=True)
class Relation:
    """A pair of columns whose relation moved while neither of them did: a measure on both sides, and in words."""

    columns: tuple[str, str]
    pvalue: float
    pvalue_corrected: float
    measure: str
    a: float
    b: float
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the data: its p-value, how many tests it is the strongest of, and its null distribution."""

    name: str
    title: str
    pvalue: float
    n_tests: int
    axis: str
    observed: float
    threshold: float | None
    null: dict[str, Any] | None
