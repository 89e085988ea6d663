"""A comparison of several groups as one screen of text, from its dictionary (docs/compare-schema.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from btests._text import printable
from btests.comparison.console import cut, excluded_lines, terminal_size, wrapped
from btests.comparison.format import counted, fitted, text_width

Document = Mapping[str, Any]

_MOST_GROUPS = 20
_MOST_PAIRS = 10
_MOST_COLUMNS = 20
_LONGEST_NAME = 24


def group_verdict(document: Document) -> str:
    """Return the verdict as one sentence."""
    found, columns = document["verdict"], document["columns"]
    who = f"{document['by']}: the {len(document['groups'])} groups"
    marked = [column for column in columns if column["different"]]
    if found["different"]:
        return f"{who} differ{_where(marked, len(columns), document['by'])}."
    start = f"{document['by']}: no difference found between the {len(document['groups'])} groups"
    if not found["attainable"]:
        none = f"no p-value can be as small as {found['alpha']:g}"
        return f"{start}, and with so few rows or draws none could be: {none}."
    return f"{start} at level {found['alpha']:g}."


def _where(marked: Sequence[Document], n_columns: int, by: str) -> str:
    """Return the columns that differ, and the group that stands out in the first of them, in words."""
    if not marked:
        return " by the joint test of all columns; no single column differs significantly"
    first = marked[0]
    name = first["group"]
    # A number needs the name of its column beside it.
    which = f"{by} = {name}" if name is not None and not any(map(str.isalpha, name)) else name
    group = "" if name is None else f", most in {which}"
    if len(marked) == 1:
        return f" in {first['name']}{group}" + (f" (1 of {n_columns} columns)" if n_columns > 1 else "")
    return f" in {first['name']}{group}, and in {len(marked) - 1} more of {n_columns} columns"


def group_screen(document: Document, width: int | None = None) -> str:
    """Return a comparison of groups as text for a screen, by default as wide as the terminal."""
    if width is None:
        width, _ = terminal_size()
    tail = [*excluded_lines(document), *(f"note        {note}" for note in document["notes"])]
    tables = [*_columns(document, width), "", *_groups(document, width), "", *_pairs(document, width)]
    lines = wrapped([document["verdict"]["text"]], width, 0) + wrapped(_facts(document), width)
    return "\n".join([*lines, "", *(cut(line, width) for line in tables), *wrapped(tail, width)])


def _facts(document: Document) -> list[str]:
    test, rows = document["test"], document["rows"]
    own = [f"{part['name']} {part['pvalue']:.4g}" for part in document["tests"]]
    parts = f"  ({', '.join(own)}; corrected for {len(own)} tests)" if len(own) > 1 else ""
    given = "" if rows["tested"] == rows["given"] else f" of {rows['given']}"
    drawn = "" if rows["at_once"] == rows["tested"] else f"; all groups at once from {rows['at_once']}, drawn at random"
    of = f"strongest of {len(test['candidates'])} kernels" if len(test["candidates"]) > 1 else "one kernel"
    n_pairs = sum(pair["different"] for pair in document["pairs"])
    return [
        f"  p-value   {document['verdict']['pvalue']:.4g}{parts}",
        f"  pairs     {n_pairs} of {len(document['pairs'])} pairs of groups differ",
        f"  rows      {rows['tested']}{given}{drawn}",
        f"  joint     {of}, {test['null']}, {test['blocks_text']}, seed {test['seed']}",
        f"  time      {document['seconds']:.2f} s",
    ]


def _groups(document: Document, width: int) -> list[str]:
    """Return the groups with their rows, and the pairs of each that differ."""
    names = [group["name"] for group in document["groups"]]
    wide = _width([document["by"], *names], width)
    lines = [f"  {fitted(printable(document['by']), wide)}  {'rows':>9}  differs from  most from"]
    for group in document["groups"][:_MOST_GROUPS]:
        own = [pair for pair in document["pairs"] if group["name"] in pair["groups"] and pair["different"]]
        most = max(own, key=_strength, default=None)
        other = "-" if most is None else next(name for name in most["groups"] if name != group["name"])
        of = f"{len(own)} of {len(names) - 1}"
        size = "" if most is None or most["effect"] is None else f" ({_percent(most['effect'])})"
        lines.append(f"  {fitted(printable(group['name']), wide)}  {group['tested']:>9}  {of:>12}  {other}{size}")
    if len(names) > _MOST_GROUPS:
        lines.append(f"  and {counted(len(names) - _MOST_GROUPS, 'more group')} (--json has all)")
    return lines


def _pairs(document: Document, width: int) -> list[str]:
    """Return the strongest pairs."""
    pairs = document["pairs"]
    shown = sorted(pairs, key=lambda pair: (not pair["different"], -_strength(pair), pair["pvalue"]))[:_MOST_PAIRS]
    wide = _width([name for pair in shown for name in pair["groups"]], width)
    title = "strongest pairs" if len(pairs) > len(shown) else "pairs"
    head = fitted(title, max(2 * wide + 2, text_width(title)))
    lines = [f"  {head}  {'effect':>8}  corrected p"]
    for pair in shown:
        first, second = (fitted(printable(name), wide) for name in pair["groups"])
        both = f"{first}  {second}" + " " * (text_width(head) - 2 * wide - 2)
        effect = "-" if pair["effect"] is None else _percent(pair["effect"])
        lines.append(f"{' *'[pair['different']]} {both}  {effect:>8}  {pair['pvalue_corrected']:11.4g}")
    hidden = len(pairs) - len(shown)
    if hidden:
        lines.append(f"  and {counted(hidden, 'more pair')} (--json has all)")
    if any(pair["different"] for pair in pairs):
        alpha = document["verdict"]["alpha"]
        lines.append(f"* differ, at level {alpha:g}, corrected for {len(pairs)} pairs by Holm's method")
    return lines


def _columns(document: Document, width: int) -> list[str]:
    """Return the columns, each with the group that stands out."""
    columns = document["columns"]
    shown = columns[:_MOST_COLUMNS]
    wide = _width([column["name"] for column in shown], width)
    groups = _width([column["group"] or "-" for column in shown], width, 7)
    lines = [f"  {'column':<{wide}}  {'effect':>8}  corrected p  {'most in':<{groups}}  others -> that group"]
    for column in shown:
        group = fitted(printable(column["group"] or "-"), groups)
        text = column["summary"] if column["different"] else "-"
        numbers = f"{_percent(column['effect']):>8}  {column['pvalue_corrected']:11.4g}"
        mark = " *"[column["different"]]
        lines.append(f"{mark} {fitted(printable(column['name']), wide)}  {numbers}  {group}  {text}")
    if len(columns) > len(shown):
        lines.append(f"  and {counted(len(columns) - len(shown), 'more column')} (--json has all)")
    if any(column["different"] for column in columns):
        corrected = f", corrected for {len(columns)} columns by Holm's method" if len(columns) > 1 else ""
        lines.append(f"* differs, at level {document['verdict']['alpha']:g}{corrected}")
    return lines


def _strength(pair: Document) -> float:
    """Return the effect of a pair, or MMD^2 where the kernel has no bound."""
    return float(pair["mmd2"] if pair["effect"] is None else pair["effect"])


def _width(names: Sequence[str], width: int, least: int = 6) -> int:
    """Return the width of a column of names on a screen."""
    longest = max(_LONGEST_NAME, width // 3)
    return max(least, min(longest, max(text_width(printable(name)) for name in names)))


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"
