"""Rejections and seconds of one choice in one cell: tallies that add, and the file they are kept in."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from studies.counts import clopper_pearson, write_rows

#: The level of all tests in the study.
LEVEL = 0.05

Key = tuple[str, str, int, bool, str, str]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a choice rejected at .05, and the processor time it took.

    Attributes
    ----------
    study
        Which part of the study, one of ``grid.STUDIES``.
    problem, n, is_null
        The cell.
    choice, null
        What was tested with.
    trials, rejections, seconds
        What happened.
    """

    study: str
    problem: str
    n: int
    is_null: bool
    choice: str
    null: str
    trials: int
    rejections: int
    seconds: float

    @property
    def key(self) -> Key:
        """What the tally is about."""
        return self.study, self.problem, self.n, self.is_null, self.choice, self.null

    @property
    def rate(self) -> float:
        """The share of rejections."""
        return self.rejections / self.trials

    def interval(self, confidence: float = 0.99) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of that share."""
        return clopper_pearson(self.rejections, self.trials, confidence)


def add_up(tallies: Iterable[Tally]) -> list[Tally]:
    """Return one tally for each key, in the order in which they first come."""
    sums: dict[Key, Tally] = {}
    for tally in tallies:
        sums[tally.key] = _added(sums[tally.key], tally) if tally.key in sums else tally
    return list(sums.values())


def write_tallies(path: Path, tallies: Iterable[Tally]) -> None:
    """Write tallies as CSV; the file appears whole or not at all."""
    rows = ((*astuple(tally)[:-1], f"{tally.seconds:.3f}") for tally in tallies)
    write_rows(path, (field.name for field in fields(Tally)), rows)


def read_tallies(path: Path) -> list[Tally]:
    """Return the tallies of a CSV file that ``write_tallies`` wrote."""
    with path.open(newline="") as file:
        return [_parse(row) for row in csv.DictReader(file)]


def _added(a: Tally, b: Tally) -> Tally:
    return Tally(*a.key, a.trials + b.trials, a.rejections + b.rejections, a.seconds + b.seconds)


def _parse(row: dict[str, str]) -> Tally:
    key = row["study"], row["problem"], int(row["n"]), row["is_null"] == "True", row["choice"], row["null"]
    return Tally(*key, int(row["trials"]), int(row["rejections"]), float(row["seconds"]))
