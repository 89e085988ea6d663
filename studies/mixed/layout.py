"""The tables of the study, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studies.counts import clopper_pearson
from studies.mixed.trials import Tally

_CONFIDENCE = 0.99

_LEVELS = ("verdict", "together", "columns", "pairs", "usual")
_POWERS = ("verdict", "together", "columns", "pairs", "usual", "named", "usual named")

_TITLES = {
    "verdict": "verdict",
    "together": "all columns together",
    "columns": "any column, corrected",
    "pairs": "any pair, corrected",
    "named": "the changed column named",
    "usual": "KS / chi-squared, Holm",
    "usual named": "the changed column named by them",
}


def write_markdown(path: Path, tallies: Sequence[Tally], command: str) -> None:
    """Write the tables of levels and of powers."""
    null = [tally for tally in tallies if tally.change == "none"]
    changed = [tally for tally in tallies if tally.change != "none"]
    lines = [f"Printed by `{command}`.", ""]
    lines += ["## Levels, in percent, at level 5 %", "", *_table(null, _LEVELS), ""]
    lines += ["## Power, in percent, at level 5 %", "", *_table(changed, _POWERS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _table(tallies: Sequence[Tally], methods: Sequence[str]) -> list[str]:
    lines = ["| table | rows | change | trials | " + " | ".join(_TITLES[m] for m in methods) + " |"]
    lines.append("| --- | --- | --- | ---: |" + " ---: |" * len(methods))
    cells = dict.fromkeys(tally.key[:-1] for tally in tallies)
    found = {tally.key: tally for tally in tallies}
    for cell in cells:
        source, n_a, n_b, change, size = cell
        row = [found[(*cell, method)] for method in methods]
        name = change if change == "none" else f"{change} {size:g}"
        shown = " | ".join(_share(tally) for tally in row)
        lines.append(f"| {source} | {n_a} and {n_b} | {name} | {row[0].trials} | {shown} |")
    return lines


def _share(tally: Tally) -> str:
    """Return the share of trials, and its 99 % interval."""
    low, high = clopper_pearson(tally.found, tally.trials, _CONFIDENCE)
    return f"{100.0 * tally.found / tally.trials:.1f} ({100.0 * low:.1f} to {100.0 * high:.1f})"
