"""Tables of the study, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from studies.harness.counts import Row, cell_of
from studies.harness.estimates import proportion
from studies.harness.markdown import table_lines

_LEVELS = ("verdict", "together", "columns", "pairs", "usual")
_POWERS = (*_LEVELS, "named", "usual named")

_TITLES = {
    "verdict": "verdict",
    "together": "all columns together",
    "columns": "any column, corrected",
    "pairs": "any pair, corrected",
    "named": "the changed column named",
    "usual": "KS / chi-squared, Holm",
    "usual named": "the changed column named by them",
}


def tables(rows: Sequence[Row], command: str) -> str:
    """Return the tables of levels and of powers."""
    null = [row for row in rows if row["change"] == "none"]
    changed = [row for row in rows if row["change"] != "none"]
    lines = [f"Printed by `{command}`.", ""]
    lines += ["## Levels, in percent, at level 5 %", "", *_table(null, _LEVELS), ""]
    lines += ["## Power, in percent, at level 5 %", "", *_table(changed, _POWERS)]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    by_cell = {cell_of(row): row for row in rows}
    lines = []
    for cell in dict.fromkeys(cell[:-1] for cell in by_cell):
        source, n_a, n_b, change, size = cell
        own = [by_cell[(*cell, method)] for method in methods]
        name = change if change == "none" else f"{change} {size:g}"
        lines.append((source, f"{n_a} and {n_b}", name, own[0]["trials"], *map(_share, own)))
    columns = ("table", "rows", "change", "trials", *(_TITLES[method] for method in methods))
    return table_lines(columns, lines, "lll" + "R" * (1 + len(methods)))


def _share(row: Row) -> str:
    """Return the share of trials in percent, and its 99 % interval."""
    share = proportion(row["found"], row["trials"], 0.99)
    return f"{100.0 * share.value:.1f} ({100.0 * share.low:.1f} to {100.0 * share.high:.1f})"
