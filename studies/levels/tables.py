"""Tables of the study of levels, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.harness.counts import Row, cell_of
from studies.harness.estimates import Estimate, proportion
from studies.harness.markdown import table_lines
from studies.levels.trials import LEVELS

#: Ranges that the 99 % interval of the default should touch.
TARGETS = {"at_05": (0.045, 0.055), "at_01": (0.008, 0.012)}

DEFAULT = "SignFlip"
_OTHERS = ("Normal", "ThirdCumulant", "CrossMMD")


def level(row: Row, column: str) -> Estimate:
    """Return the share of rejections at one of LEVELS with its 99 % interval."""
    return proportion(row[column], row["trials"], 0.99)


def misses(rows: Sequence[Row], null: str = DEFAULT) -> list[Row]:
    """Return the cells under the null hypothesis where a 99 % interval does not touch its target."""
    return [row for row in _tested(rows, null) if _misses(row)]


def tables(rows: Sequence[Row], command: str) -> str:
    """Return the tables of levels and powers of all nulls."""
    by_cell = {cell_of(row): row for row in rows}
    levels, powers = [], []
    for row in (row for row in rows if row["null"] == DEFAULT):
        own = (row["problem"], row["n"], row["block_size"], row["trials"])
        others = [by_cell[(*cell_of(row)[:4], null)] for null in _OTHERS]
        if row["is_null"]:
            levels.append((*own, _levels(row), *_intervals(row), *map(_levels, others)))
        else:
            powers.append((*own, *map(_power, (row, *others))))
    counts = [(null, len(misses(rows, null)), len(_tested(rows, null))) for null in (DEFAULT, *_OTHERS)]
    columns = ("problem", "n", "B", "trials", DEFAULT)
    lines = [
        f"Printed by `{command}`; each row of the first table is one cell. Levels at .05 / .01 / .001; "
        "`*`: the 99 % interval touches neither [.045, .055] at .05 nor, at .01, [.008, .012], one of them at least.",
        "",
        "### Levels",
        "",
        *table_lines((*columns, "99 % interval at .05", "at .01", *_OTHERS), levels, "lrrrllllll"),
        "",
        "Cells that miss a target:",
        "",
        *table_lines(("null", "cells", "of"), counts, "lrr"),
        "",
        "### Powers at level .05",
        "",
        *table_lines((*columns, *_OTHERS), powers, "lrrrrrrr"),
        "",
        f"Power of {DEFAULT} less that of another null, over the cells where the other's level is at most .055:",
        "",
        *(f"- {null}: {low:+.3f} to {high:+.3f}" for null in _OTHERS for low, high in [_gains(by_cell, null)]),
    ]
    return "\n".join(lines) + "\n"


def default_tables(rows: Sequence[Row], command: str) -> str:
    """Return the table of levels of the default test."""
    columns = ("problem", "n", "test", "trials", "levels", "99 % interval at .05", "at .01")
    cells = [(row["problem"], row["n"], row["null"], row["trials"], _levels(row), *_intervals(row)) for row in rows]
    lines = [
        f"Printed by `{command}`. Levels at .05 / .01 / .001 with 99 % intervals; `*`: the interval at .05 or .01 lies "
        "outside [.045, .055] or [.008, .012].",
        "",
        *table_lines(columns, cells, "lrlrlll"),
    ]
    return "\n".join(lines) + "\n"


def _gains(by_cell: dict[tuple[Any, ...], Row], null: str) -> tuple[float, float]:
    """Return the smallest and the largest gain in power of the default over ``null``."""
    gains = [
        _rate(by_cell[(*cell[:4], DEFAULT)], "at_05") - _rate(row, "at_05")
        for cell, row in by_cell.items()
        if not row["is_null"] and row["null"] == null and not _refuses(row)
        if (same := by_cell.get((*cell[:3], True, null))) is not None and _rate(same, "at_05") <= 0.055
    ]
    return min(gains, default=0.0), max(gains, default=0.0)


def _tested(rows: Sequence[Row], null: str) -> list[Row]:
    """Return the cells under the null hypothesis that ``null`` can test."""
    return [row for row in rows if row["is_null"] and row["null"] == null and not _refuses(row)]


def _refuses(row: Row) -> bool:
    return row["null"] == "CrossMMD" and "x a y" in row["problem"]


def _rate(row: Row, column: str) -> float:
    return float(row[column] / row["trials"])


def _levels(row: Row) -> str:
    if _refuses(row):
        return "refuses"
    return " / ".join(f"{_rate(row, column):.4f}" for column in LEVELS) + "*" * _misses(row)


def _power(row: Row) -> str:
    return "refuses" if _refuses(row) else f"{_rate(row, 'at_05'):.3f}"


def _intervals(row: Row) -> list[str]:
    return [level(row, column).interval(4) for column in TARGETS]


def _misses(row: Row) -> bool:
    return any(level(row, column).misses(*target) for column, target in TARGETS.items())
