"""A comparison as one screen of text."""

from __future__ import annotations

import html
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from btests.comparison.words import counted, fitted, percent, quoted_list, text_width

if TYPE_CHECKING:
    from btests.comparison.api import Comparison
    from btests.comparison.findings import Column
    from btests.result import TestResult

_MOST_COLUMNS = 20
_LEAST_COLUMNS = 3
_MOST_RELATIONS = 5
_LONGEST_NAME = 24

# Words begin here in lines that have a heading.
_INDENT = 12

# With 1999 draws of signs p-values go down to that; larger ones are for want of rows.
_FEW_DRAWS = 1e-3


def verdict(found: Comparison) -> str:
    """Return the verdict as one sentence."""
    a, b = found.names
    tolerance = found.details["settings"]["tolerance"]
    differ = f"{a} and {b} differ"
    if tolerance is not None:
        more = f"by more than {percent(tolerance)} of the rows"
        if not found.different:
            return f"No sign that {a} and {b} differ {more}{_by_itself(found)}."
        return f"{differ} {more}: {_how_many(found, 'as a whole; no single column is sure to')}."
    if not found.different:
        return _nothing_found(found)
    if any(column.marked for column in found.columns):
        return f"{differ}: {_how_many(found, '')}."
    if found.relations:
        return f"{differ}: the relation of {' and '.join(found.relations[0].columns)} moved."
    only = found.columns[0].name if len(found.columns) == 1 else None
    by = "all columns taken together; no single column stands out"
    return f"{differ}, {by if only is None else f'by the kernel test of {only}, not by that of its ranks or shares'}."


def _how_many(found: Comparison, none: str) -> str:
    """Return which columns were found, in words; ``none`` where there are none."""
    marked, beyond = [column.name for column in found.columns if column.marked], found.columns[0].beyond is not None
    if not marked:
        return none
    if len(marked) == 1:
        among = f" (1 of {counted(len(found.columns), 'column')})" if len(found.columns) > 1 else ""
        return f"{marked[0]} {'does' if beyond else 'moved'}{among}"
    return f"{len(marked)} of {len(found.columns)} columns {'do' if beyond else 'moved'}, {marked[0]} the most"


def _nothing_found(found: Comparison) -> str:
    smallest = found.details["smallest_pvalue"]
    start = f"No difference found between {found.names[0]} and {found.names[1]}"
    if smallest <= found.alpha:
        return f"{start} at level {found.alpha:g}{_by_itself(found)}."
    few = "rows" if smallest > _FEW_DRAWS else "draws of signs"
    least = f"the smallest p-value possible is {smallest:.3g}, above the level {found.alpha:g}"
    return f"{start}, and with so few {few} none could be: {least}."


def _by_itself(found: Comparison) -> str:
    """Return what the marks on columns are worth where the verdict is none, in words."""
    marked = [column.name for column in found.columns if column.marked]
    if not marked:
        return ""
    who = f"{marked[0]} stands" if len(marked) == 1 else f"{len(marked)} columns stand"
    return f"; {who} out, but not enough after looking in several ways"


def largest_move(found: Comparison) -> str:
    """Return the largest move of a column that was found to move, in words."""
    top = next((column for column in found.columns if column.moved), None)
    if top is None:
        return "no single column moved beyond chance"
    return f"{top.name}: {top.summary}; {percent(top.effect)} of the rows would have to change"


def effect_interval(result: TestResult) -> tuple[float | None, float | None]:
    """Return the 95 % interval of MMD^2, Nones where there are too few rows for one."""
    try:
        low, high = result.confidence_interval()
    except ValueError:
        return None, None
    return low, high


def short_name(kernel: object) -> str:
    """Return a kernel as text, its numbers with four digits."""
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", repr(kernel))


def effect_meaning(found: Comparison) -> str:
    """Return what MMD^2 of the effect means, in words."""
    from btests.comparison.tolerance import least_share

    share = least_share(effect_interval(found.effect)[0], found.effect.kernel)
    if not share:
        return "0 is alike"
    return f"0 is alike; by the lower end at least {percent(share)} of the rows differ"


def screen(found: Comparison, width: int | None = None, height: int | None = None) -> str:
    """Return everything that fits a screen, by default that of the terminal."""
    if width is None:
        width, height = _terminal()
    head = [verdict(found), *_facts(found)]
    tail = [*_relations(found), *_left_out(found), *(f"note        {note}" for note in found.notes)]
    lines, rest = _wrapped(head[:1], width, 0) + _wrapped(head[1:], width), _wrapped(tail, width)
    # A line each for the heading of the columns, what their mark means, "more", an empty one, a report, and a prompt.
    room = _MOST_COLUMNS if height is None else max(_LEAST_COLUMNS, height - len(lines) - len(rest) - 6)
    table = [_cut(line, width) for line in _columns(found, room, width)]
    return "\n".join([*lines, "", *table, *rest])


def _facts(found: Comparison) -> list[str]:
    result, rows = found.result, found.details["rows"]
    low, high = effect_interval(found.effect)
    interval = "" if low is None else f", 95 % interval {low:.4g} to {high:.4g}"
    of = f"the strongest of {len(result.candidates)}, " if len(result.candidates) > 1 else ""
    return [
        f"  p-value   {found.pvalue:.4g}{_looks(found)}",
        f"  effect    MMD^2 {found.effect.summary.mean():.4g} with {short_name(found.effect.kernel)}{interval}",
        f"            ({effect_meaning(found)})",
        f"  rows      {rows['a']} and {rows['b']}, {result.blocks_text()}",
        *_drawn(rows),
        f"  kernel    {of}{short_name(result.kernel)}, {result.null!r}, seed {result.seed}",
        f"  time      {found.details['seconds']:.2f} s, {result.engine}",
    ]


def _drawn(rows: dict[str, int]) -> list[str]:
    """Return on which rows columns were looked at, where that is not all that were tested."""
    a, b = rows["a_columns"], rows["b_columns"]
    if (a, b) == (rows["a"], rows["b"]):
        return []
    each = f"{a} of each" if a == b else f"{a} and {b} of them"
    return [f"            (all in the joint test; columns from {each}, drawn at random)"]


def _looks(found: Comparison) -> str:
    beyond = found.details["beyond"]
    if beyond is not None:
        told = {name: p for name, p in beyond.items() if p is not None}
    else:
        told = {look.name: look.pvalue for look in found.looks}
    if len(told) < 2:
        return ""
    return f"  ({', '.join(f'{name} {p:.4g}' for name, p in told.items())}; corrected for {len(told)} tests)"


def _columns(found: Comparison, room: int, width: int) -> list[str]:
    shown = found.columns[:room]
    wide = min(
        max(6, *(text_width(_printable(column.name)) for column in shown)), max(_LONGEST_NAME, width // 4), width // 3
    )
    tolerance = found.details["settings"]["tolerance"]
    heading = "corrected p" if tolerance is None else f"p of > {percent(tolerance)}"
    lines = [f"  {'column':<{wide}}  moved by  {heading:>11}  what moved"]
    for column in shown:
        name = fitted(_printable(column.name), wide)
        what = column.summary if column.moved else "-"
        p = column.pvalue_corrected if column.pvalue_beyond is None else column.pvalue_beyond
        lines.append(f"{' *'[column.marked]} {name}  {100.0 * column.effect:6.1f} %  {p:11.4g}  {what}")
    return lines + _below(found, found.columns[len(shown) :])


def _below(found: Comparison, hidden: tuple[Column, ...]) -> list[str]:
    """Return what columns are not shown, and what the mark means."""
    lines = []
    if hidden:
        marked = sum(column.marked for column in hidden)
        many = "none" if marked == 0 else "all" if marked == len(hidden) else marked
        lines.append(f"  and {counted(len(hidden), 'more column')}, {many} of them marked (--json has all)")
    tolerance = found.details["settings"]["tolerance"]
    if any(column.marked for column in found.columns):
        what = "moved" if tolerance is None else f"moved by more than {percent(tolerance)}"
        corrected = f", corrected for {len(found.columns)} columns" if len(found.columns) > 1 else ""
        lines.append(f"* {what}, at level {found.alpha:g}{corrected}")
    return lines


def _relations(found: Comparison) -> list[str]:
    if not found.relations:
        return []
    lines = ["", "relations that moved while neither column did:"]
    for relation in found.relations[:_MOST_RELATIONS]:
        pair = f"{relation.columns[0]} with {relation.columns[1]}"
        lines.append(f"  {pair}: {relation.text} (corrected p {relation.pvalue_corrected:.4g})")
    if len(found.relations) > _MOST_RELATIONS:
        lines.append(f"  and {len(found.relations) - _MOST_RELATIONS} more")
    return lines


def _left_out(found: Comparison) -> list[str]:
    """Return the columns that took no part, those with one reason on one line."""
    by_reason: dict[str, list[str]] = {}
    for name, why in found.left_out:
        by_reason.setdefault(why, []).append(name)
    return [f"left out    {quoted_list(names)}: {why}" for why, names in by_reason.items()]


def _terminal() -> tuple[int, int | None]:
    """Return width and height of the terminal; what goes elsewhere is the same whatever terminal it comes from."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 100, None
    size = shutil.get_terminal_size((100, 24))
    return max(60, min(140, size.columns)), size.lines


def _wrapped(lines: list[str], width: int, indent: int = _INDENT) -> list[str]:
    """Return lines that go on below their words where they are too long."""
    found: list[str] = []
    for line in lines:
        found += textwrap.wrap(_printable(line), width, subsequent_indent=" " * indent, drop_whitespace=True) or [""]
    return found


def _cut(line: str, width: int) -> str:
    line = _printable(line)
    if text_width(line) <= width:
        return line
    while text_width(line) > width - 1:
        line = line[:-1]
    return line + "\u2026"


def _printable(line: str) -> str:
    # Names and levels are the user's: what would move the cursor or colour the terminal is shown as a mark.
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)


def notebook(found: Comparison) -> str:
    """Return the screen for a notebook."""
    return f"<pre>{html.escape(screen(found, 120))}</pre>"
