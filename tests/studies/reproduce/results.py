"""The results of a full run that stand in the docs."""

from __future__ import annotations

import csv
from pathlib import Path

from studies.reproduce.protocol import Row

DOCS = Path(__file__).parents[3] / "docs"
RESULTS = DOCS / "reproduction"


def read(name: str) -> list[Row]:
    """Return the rows of a CSV file, numbers as numbers."""
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def number(text: str) -> str | int | float:
    """Return a cell as what it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
