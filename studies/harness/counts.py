"""Counts of a study as rows, and CSV files of them.

The columns of a row before ``trials`` identify a cell of the study; ``trials`` and the columns after it are sums over
trials, which add.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

#: Names of columns and plain values, which survive JSON and CSV.
Row = dict[str, Any]


def cell_of(row: Row) -> tuple[Any, ...]:
    """Return the values of the columns before ``trials``."""
    return tuple(row.values())[: list(row).index("trials")]


def add_up(rows: Iterable[Row]) -> list[Row]:
    """Return one row per cell, in order of appearance, ``trials`` and the columns after it summed."""
    totals: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        cell = cell_of(row)
        totals[cell] = _sum(totals[cell], row, len(cell)) if cell in totals else row
    return list(totals.values())


def to_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV text with the columns of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path: Path) -> list[Row]:
    """Return the rows of a CSV file; booleans, integers and floats as such, all else as text."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _parse(value) for name, value in row.items()} for row in csv.DictReader(file)]


def _sum(total: Row, row: Row, n_keys: int) -> Row:
    return {name: value if k < n_keys else total[name] + value for k, (name, value) in enumerate(row.items())}


def _parse(text: str) -> bool | int | float | str:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
