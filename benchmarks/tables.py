"""A table that prints as Markdown and dumps as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns, and what a reader should know about them; None is a cell that does not apply."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())

    def markdown(self) -> str:
        """Return the table as Markdown, columns lined up so that it reads as plain text too."""
        cells = [list(self.columns), *([show(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        to_right = [all(not isinstance(row[j], str) for row in self.rows) for j in range(len(self.columns))]
        rule = ["-" * (w - 1) + (":" if right else "-") for w, right in zip(widths, to_right, strict=True)]
        lines = []
        for row in (cells[0], rule, *cells[1:]):
            padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, to_right, strict=True)]
            lines.append(f"| {' | '.join(padded)} |")
        return "\n".join([f"## {self.title}", "", *lines, "", *self.notes, *([""] if self.notes else [])])

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold, numbers unrounded."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


def show(cell: Cell) -> str:
    """Return a cell as text: three digits of a number, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}".replace(",", " ")
    if not math.isfinite(cell):
        return str(cell)
    if 0.0 < abs(cell) < 1e-4:
        return f"{cell:.1e}"
    digits = max(0, 2 - math.floor(math.log10(abs(cell)))) if cell else 0
    return f"{cell:.{digits}f}"


def verdict(*, met: bool) -> str:
    """Return the word for a target that was met or missed."""
    return "met" if met else "MISSED"
