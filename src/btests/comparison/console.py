"""A comparison as one screen of text, from its dictionary (docs/compare-schema.md)."""

from __future__ import annotations

import html
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from btests._text import printable
from btests.comparison.format import SAME_FILES, SAME_ROWS, counted, fitted, percent, quoted_list, text_width

Document = Mapping[str, Any]

_MOST_COLUMNS = 20
_LEAST_COLUMNS = 3
_MOST_RELATIONS = 5
_LONGEST_NAME = 24

# Indent of text after headings.
_INDENT = 12

# Smallest p-value of 1999 sign flips, about; a larger smallest p-value is due to few rows.
_FEW_DRAWS = 1e-3


def verdict(document: Document) -> str:
    """Return the verdict as one sentence."""
    found = document["verdict"]
    names = f"{document['names']['a']} and {document['names']['b']}"
    if found["tolerance"] is None:
        return f"{names} differ{_differences(document)}." if found["different"] else _nothing_found(document)
    more = f"by more than {percent(found['tolerance'])} of the rows"
    if not found["different"]:
        return f"No evidence that {names} differ {more}."
    marked = _marked_columns(document["columns"], "does", "do")
    return f"{names} differ {more}: {marked or 'as a whole; no single column does significantly'}."


def _differences(document: Document) -> str:
    """Return which columns or relations differ, in words."""
    columns, relations = document["columns"], document["relations"]
    marked = _marked_columns(columns, "changed", "changed")
    if marked:
        return f": {marked}"
    if relations:
        return f": the relation of {' and '.join(relations[0]['columns'])} changed"
    if len(columns) == 1:
        return f", by the kernel test of {columns[0]['name']}, not by that of its ranks or shares"
    return ", by the joint test of all columns; no single column changed significantly"


def is_marked(column: Document) -> bool:
    """Whether a column changed significantly or, with a tolerance, by more than that."""
    return bool(column["changed"] if column["beyond"] is None else column["beyond"])


def _marked_columns(columns: Sequence[Document], one: str, several: str) -> str:
    """Return which columns are marked, in words; empty if none is."""
    marked = [column["name"] for column in columns if is_marked(column)]
    if not marked:
        return ""
    if len(marked) == 1:
        among = f" (1 of {counted(len(columns), 'column')})" if len(columns) > 1 else ""
        return f"{marked[0]} {one}{among}"
    return f"{len(marked)} of {len(columns)} columns {several}, {marked[0]} the most"


def _nothing_found(document: Document) -> str:
    smallest, alpha = document["verdict"]["smallest_pvalue"], document["verdict"]["alpha"]
    if not {SAME_ROWS, SAME_FILES}.isdisjoint(document["notes"]):
        where = " in all columns that were compared" if document["excluded"] else ""
        return f"{document['names']['a']} and {document['names']['b']} are identical{where}."
    start = f"No difference found between {document['names']['a']} and {document['names']['b']}"
    if smallest <= alpha:
        return f"{start} at level {alpha:g}."
    few = _rows_or_units(document) if smallest > _FEW_DRAWS else "sign flips"
    least = f"the smallest p-value possible is {smallest:.3g}, above the level {alpha:g}"
    return f"{start}, and with so few {few} none could be: {least}."


def _rows_or_units(document: Document) -> str:
    return "rows" if document["settings"]["unit"] is None else "units"


def largest_change(document: Document) -> str:
    """Return the largest significant change of a column in words."""
    top = next((column for column in document["columns"] if column["changed"]), None)
    if top is None:
        return "no single column changed significantly"
    return (
        f"{top['name']}: {top['summary']}; an estimated {percent(top['effect'])} of the rows differ (total variation)"
    )


def effect_text(document: Document) -> str:
    """Return the lower bound on the total variation distance in words."""
    bound = document["effect"]["total_variation_bound"]
    if bound is None:
        why = f"with so few {_rows_or_units(document)}" if document["effect"]["low"] is None else "for this kernel"
        return f"no lower bound on total variation {why}; MMD^2 is 0 for equal distributions"
    if bound <= 0.0:
        return "no lower bound on total variation above 0 % of the rows"
    return f"at least {_one_decimal(bound)} of the rows differ (lower bound on total variation)"


def _one_decimal(share: float) -> str:
    return percent(share) if 0.0 < share < 1e-3 else f"{100.0 * share:.1f} %"


def screen(document: Document, width: int | None = None, height: int | None = None) -> str:
    """Return as much of a comparison as fits a screen, by default that of the terminal.

    Parameters
    ----------
    document : mapping
        ``Comparison.to_dict()``.
    width, height : int, optional
        Columns and lines of the screen.
    """
    if width is None:
        width, height = terminal_size()
    head = [document["verdict"]["text"], *_facts(document)]
    tail = [*_relations(document), *excluded_lines(document), *(f"note        {note}" for note in document["notes"])]
    lines, rest = wrapped(head[:1], width, 0) + wrapped(head[1:], width), wrapped(tail, width)
    # One line each: heading of the columns, meaning of the mark, "more", an empty line, a report, a prompt.
    room = _MOST_COLUMNS if height is None else max(_LEAST_COLUMNS, height - len(lines) - len(rest) - 6)
    table = [cut(line, width) for line in _columns(document, room, width)]
    return "\n".join([*lines, "", *table, *rest])


def _facts(document: Document) -> list[str]:
    test, effect, rows = document["test"], document["effect"], document["rows"]
    low, high = effect["low"], effect["high"]
    units = f", of {test['n_x']} and {test['n_y']} units" if test["unit_rows"] is not None else ""
    interval = "" if low is None else f" (95 %: {low:.4g} to {high:.4g})"
    of = f"strongest of {len(test['candidates'])} kernels: " if len(test["candidates"]) > 1 else "kernel "
    return [
        f"  p-value   {document['verdict']['pvalue']:.4g}{_tests(document)}",
        f"  effect    {effect['meaning']}",
        f"            MMD^2 {effect['mmd2']:.4g}{interval}, fixed kernel {effect['kernel_short']}",
        f"  rows      {rows['a']} and {rows['b']}{units}, {test['blocks_text']}",
        *_drawn(rows),
        f"  joint     {of}{test['kernel_short']}, {test['null']}, seed {test['seed']}",
        f"  time      {document['seconds']:.2f} s, {test['engine']}",
    ]


def _drawn(rows: Mapping[str, int]) -> list[str]:
    """Return the number of rows of the column tests if they are not all rows."""
    a, b = rows["a_columns"], rows["b_columns"]
    if (a, b) == (rows["a"], rows["b"]):
        return []
    each = f"{a} of each" if a == b else f"{a} and {b} of them"
    return [f"            (all in the joint test; columns from {each}, drawn at random)"]


def _tests(document: Document) -> str:
    beyond = document["verdict"]["beyond"]
    pvalues = {test["name"]: test["pvalue"] for test in document["tests"]} if beyond is None else beyond
    shown = [f"{name} {p:.4g}" for name, p in pvalues.items() if p is not None]
    return "" if len(shown) < 2 else f"  ({', '.join(shown)}; corrected for {len(shown)} tests)"


def _columns(document: Document, room: int, width: int) -> list[str]:
    columns, tolerance = document["columns"], document["verdict"]["tolerance"]
    shown = columns[:room]
    wide = min(
        max(6, *(text_width(printable(column["name"])) for column in shown)),
        max(_LONGEST_NAME, width // 4),
        width // 3,
    )
    heading = "corrected p" if tolerance is None else f"p of > {percent(tolerance)}"
    lines = [f"  {'column':<{wide}}  {'change':>8}  {heading:>11}  what changed"]
    for column in shown:
        name = fitted(printable(column["name"]), wide)
        summary = column["summary"] if column["changed"] else "-"
        p = column["pvalue_corrected"] if column["pvalue_beyond"] is None else column["pvalue_beyond"]
        lines.append(f"{' *'[is_marked(column)]} {name}  {_one_decimal(column['effect']):>8}  {p:11.4g}  {summary}")
    return lines + _below(document, columns[len(shown) :])


def _below(document: Document, hidden: Sequence[Document]) -> list[str]:
    """Return how many columns are not shown, and the meaning of the mark."""
    lines = []
    if hidden:
        marked = sum(map(is_marked, hidden))
        many = "none" if marked == 0 else "all" if marked == len(hidden) else marked
        lines.append(f"  and {counted(len(hidden), 'more column')}, {many} of them marked (--json has all)")
    columns, alpha, tolerance = document["columns"], document["verdict"]["alpha"], document["verdict"]["tolerance"]
    if any(map(is_marked, columns)):
        what = "changed" if tolerance is None else f"changed by more than {percent(tolerance)}"
        corrected = f", corrected for {len(columns)} columns" if len(columns) > 1 else ""
        lines.append(f"* {what}, at level {alpha:g}{corrected}")
    return lines


def _relations(document: Document) -> list[str]:
    relations = document["relations"]
    if not relations:
        return []
    applies = "" if document["verdict"]["tolerance"] is None else " (the tolerance does not apply)"
    lines = ["", f"relations that changed while neither column did{applies}:"]
    for relation in relations[:_MOST_RELATIONS]:
        pair = " with ".join(relation["columns"])
        lines.append(f"  {pair}: {relation['text']} (corrected p {relation['pvalue_corrected']:.4g})")
    if len(relations) > _MOST_RELATIONS:
        lines.append(f"  and {len(relations) - _MOST_RELATIONS} more")
    return lines


def excluded_lines(document: Document) -> list[str]:
    """Return the excluded columns, those with one reason on one line."""
    by_reason: dict[str, list[str]] = {}
    for column in document["excluded"]:
        by_reason.setdefault(column["reason"], []).append(column["name"])
    return [f"excluded    {quoted_list(names)}: {reason}" for reason, names in by_reason.items()]


def terminal_size() -> tuple[int, int | None]:
    """Return width and height of the terminal; the width is fixed for pipes and files."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 100, None
    size = shutil.get_terminal_size((100, 24))
    return max(60, min(140, size.columns)), size.lines


def wrapped(lines: list[str], width: int, indent: int = _INDENT) -> list[str]:
    """Return lines wrapped to ``width``, with continuations indented."""
    found: list[str] = []
    for line in lines:
        found += textwrap.wrap(printable(line), width, subsequent_indent=" " * indent, drop_whitespace=True) or [""]
    return found


def cut(line: str, width: int) -> str:
    """Return a line of at most ``width``, with an ellipsis if it is cut."""
    line = printable(line)
    if text_width(line) <= width:
        return line
    while text_width(line) > width - 1:
        line = line[:-1]
    return line + "\u2026"


def notebook(document: Document) -> str:
    """Return the screen as HTML for a notebook."""
    return notebook_of(screen(document, 120))


def notebook_of(text: str) -> str:
    """Return text of a screen as HTML for a notebook."""
    return f"<pre>{html.escape(text)}</pre>"
