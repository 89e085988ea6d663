"""Rejections out of trials: counts that add, intervals, and the file they are kept in."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

LEVELS = (0.05, 0.01, 0.001)


def clopper_pearson(hits: int, trials: int, confidence: float = 0.99) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of the probability behind ``hits`` out of ``trials``."""
    from scipy.special import betaincinv

    tail, misses = (1.0 - confidence) / 2.0, trials - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, misses, 1.0 - tail)) if misses else 1.0
    return low, high


@dataclass(frozen=True, slots=True)
class Counts:
    """How often a null rejected at each of LEVELS, in one cell of the study."""

    problem: str
    n: int
    block_size: int
    is_null: bool
    null: str
    trials: int
    at_05: int
    at_01: int
    at_001: int

    @property
    def cell(self) -> tuple[str, int, int, bool, str]:
        """What the counts are about."""
        return self.problem, self.n, self.block_size, self.is_null, self.null

    def rate(self, k: int) -> float:
        """Return the share of rejections at level number ``k``."""
        return (self.at_05, self.at_01, self.at_001)[k] / self.trials

    def interval(self, k: int, confidence: float = 0.99) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of that share."""
        return clopper_pearson((self.at_05, self.at_01, self.at_001)[k], self.trials, confidence)

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> list[Counts]:
        """Return the counts of each cell, added up over its pieces."""
        sums: dict[tuple[str, int, int, bool, str], list[int]] = {}
        for count in counts:
            sum_ = sums.setdefault(count.cell, [0, 0, 0, 0])
            for k, part in enumerate((count.trials, count.at_05, count.at_01, count.at_001)):
                sum_[k] += part
        return [cls(*cell, *sum_) for cell, sum_ in sums.items()]


def write_rows(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write rows as CSV; the file appears whole or not at all."""
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    partial.replace(path)


def write_counts(path: Path, counts: Iterable[Counts]) -> None:
    """Write counts as CSV; the file appears whole or not at all."""
    write_rows(path, (field.name for field in fields(Counts)), (astuple(count) for count in counts))


def read_counts(path: Path) -> list[Counts]:
    """Return the counts of a CSV file that ``write_counts`` wrote."""
    with path.open(newline="") as file:
        return [_parse(row) for row in csv.DictReader(file)]


def _parse(row: dict[str, str]) -> Counts:
    cell = row["problem"], int(row["n"]), int(row["block_size"]), row["is_null"] == "True", row["null"]
    return Counts(*cell, int(row["trials"]), int(row["at_05"]), int(row["at_01"]), int(row["at_001"]))
