"""A comparison as one screen of text."""

from __future__ import annotations

import html
import re
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from btests.result import TestResult
    from btests.tables.comparison import Comparison

_MOST_COLUMNS = 20
_MOST_RELATIONS = 5


def verdict(found: Comparison) -> str:
    """Return the verdict as one sentence."""
    a, b = found.names
    tolerance = found.details["settings"]["tolerance"]
    if tolerance is not None:
        if found.different:
            return f"{a} and {b} differ by more than the tolerance, MMD^2 = {tolerance:g}."
        return f"No sign that {a} and {b} differ by more than the tolerance, MMD^2 = {tolerance:g}."
    if not found.different:
        return f"No difference found between {a} and {b} at level {found.alpha:g}."
    moved = [column.name for column in found.columns if column.moved]
    if moved:
        count = f"{len(moved)} of {len(found.columns)} columns moved"
        return f"{a} and {b} differ: {count}, {moved[0]} the most."
    if found.relations:
        return f"{a} and {b} differ: the relation of {' and '.join(found.relations[0].columns)} moved."
    return f"{a} and {b} differ, all columns taken together; no single column stands out."


def largest_move(found: Comparison) -> str:
    """Return the largest move of a column, in words."""
    top = found.columns[0]
    if not top.moved:
        return "no single column moved beyond chance"
    return f"{top.name}: {top.summary}; {100.0 * top.effect:.3g} % of the rows would have to change"


def effect_interval(result: TestResult) -> tuple[float | None, float | None]:
    """Return the 95 % interval of MMD^2, Nones where there are too few rows for one."""
    try:
        low, high = result.confidence_interval(0.95)
    except ValueError:
        return None, None
    return low, high


def screen(found: Comparison, width: int | None = None) -> str:
    """Return everything that fits a screen."""
    width = width or _width()
    result, rows = found.result, found.details["rows"]
    low, high = effect_interval(found.effect)
    interval = "" if low is None else f"  (95 % interval {low:.4g} to {high:.4g})"
    more = "" if min(result.n_x, result.n_y) % result.n_blocks == 0 else " or more"
    lines = [
        verdict(found),
        f"  p-value   {found.pvalue:.4g}{_looks(found)}",
        f"  effect    MMD^2 {found.effect.summary.mean():.4g}{interval}",
        f"  rows      {rows['a']} and {rows['b']}, in {result.n_blocks} blocks of {result.block_size}{more}",
        f"  kernel    {_rounded(repr(result.kernel))}, {result.null!r}, seed {result.seed}",
        f"  time      {found.details['seconds']:.2f} s, {result.engine}",
    ]
    lines += ["", *_columns(found, width)]
    if found.relations:
        lines += ["", "relations that moved while neither column did:"]
        for relation in found.relations[:_MOST_RELATIONS]:
            pair = f"{relation.columns[0]} with {relation.columns[1]}"
            lines.append(f"  {pair}: {relation.text} (corrected p {relation.pvalue_corrected:.4g})")
        if len(found.relations) > _MOST_RELATIONS:
            lines.append(f"  and {len(found.relations) - _MOST_RELATIONS} more")
    lines += [f"left out  {name!r}: {why}" for name, why in found.left_out]
    lines += [f"note      {note}" for note in found.notes]
    return "\n".join(_cut(line, width) for line in lines)


def _looks(found: Comparison) -> str:
    if found.details["settings"]["tolerance"] is not None:
        return "  (of no more than the tolerance)"
    parts = [f"{look.name} {look.pvalue:.4g}" for look in found.looks]
    return f"  ({', '.join(parts)})" if len(parts) > 1 else ""


def _columns(found: Comparison, width: int) -> list[str]:
    shown = found.columns[:_MOST_COLUMNS]
    wide = min(max(6, *(len(column.name) for column in shown)), 24)
    lines = [f"{'column':<{wide}}  moved   corrected p  what moved"]
    for column in shown:
        name = column.name if len(column.name) <= wide else column.name[: wide - 1] + "\u2026"
        mark = "*" if column.moved else " "
        what = column.summary if column.moved else "-"
        lines.append(f"{name:<{wide}}  {100.0 * column.effect:5.1f} %{mark} {column.pvalue_corrected:10.4g}  {what}")
    if len(found.columns) > len(shown):
        lines.append(f"and {len(found.columns) - len(shown)} more columns")
    return lines


def _width() -> int:
    """Return the width of the terminal; what goes elsewhere is the same whatever terminal it comes from."""
    if not sys.stdout.isatty():
        return 100
    return max(60, min(140, shutil.get_terminal_size((100, 24)).columns))


def _rounded(text: str) -> str:
    """Return text with four digits of its long numbers."""
    return re.sub(r"\d+\.\d{4,}", lambda found: f"{float(found[0]):.4g}", text)


def _cut(line: str, width: int) -> str:
    # Names and levels are the user's: what would move the cursor or colour the terminal is shown as a mark.
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    return line if len(line) <= width else line[: width - 1] + "\u2026"


def notebook(found: Comparison) -> str:
    """Return the screen for a notebook."""
    return f"<pre>{html.escape(screen(found, 120))}</pre>"
