"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_RULES = {"l": "---", "r": "--:", "R": "---:"}


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[object]], align: str = "") -> list[str]:
    """Return the lines of a table.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : iterable of sequences
        Cells, shown by ``str``.
    align : str
        One letter per column, ``l`` (left), ``r`` or ``R`` (right, with a longer rule); all left by default.
    """
    rules = [_RULES[side] for side in align or "l" * len(columns)]
    return [_line(cells) for cells in (columns, rules, *rows)]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], align: str = "") -> str:
    """Return a table as one text; parameters as of ``table_lines``."""
    return "\n".join(table_lines(columns, rows, align))


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
