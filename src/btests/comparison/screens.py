"""Results as one screen of text, from their dictionaries (docs/compare-schema.md)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from btests._text import printable
from btests.comparison.format import (
    TextColumn,
    counted,
    cut,
    fitted,
    name_width,
    one_decimal,
    percent,
    quoted_list,
    some_of,
    table,
    terminal_size,
    text_width,
    wrapped,
)
from btests.comparison.verdicts import is_identical, is_marked

Document = Mapping[str, Any]

# Lines of each table.
_MOST_COLUMNS, _LEAST_COLUMNS = 20, 3
_MOST_RELATIONS = 5
_MOST_GROUPS = 20
_MOST_GROUP_PAIRS = 10
_MOST_PAIRS = 20

# Names of columns with missing cells.
_MOST_MISSING = 12

# Columns of several tables.
_EFFECT, _CORRECTED = TextColumn("effect", 8, True), TextColumn("corrected p", 11, True)


def screen(document: Document, width: int | None = None, height: int | None = None) -> str:
    """Return as much of a comparison as fits a screen, by default that of the terminal.

    Parameters
    ----------
    document : mapping
        ``Comparison.to_dict()`` or ``GroupComparison.to_dict()``.
    width, height : int, optional
        Columns and lines of the screen.
    """
    if width is None:
        width, height = terminal_size()
    several = "groups" in document
    facts = _group_facts(document) if several else _facts(document)
    lines = wrapped([document["verdict"]["text"]], width, 0) + wrapped(facts, width)
    rest = wrapped([*([] if several else _relations(document)), *_remarks(document)], width)
    # One line each: heading of the columns, meaning of the mark, "more", an empty line, a report, a prompt.
    room = _MOST_COLUMNS if height is None else max(_LEAST_COLUMNS, height - len(lines) - len(rest) - 6)
    if several:
        tables = [*_group_columns(document, width), "", *_groups(document, width), "", *_group_pairs(document, width)]
    else:
        tables = _columns(document, room, width)
    return "\n".join([*lines, "", *(cut(line, width) for line in tables), *rest])


def notebook(document: Document) -> str:
    """Return the screen as HTML for a notebook."""
    return f"<pre>{html.escape(screen(document, 120))}</pre>"


def _remarks(document: Document) -> list[str]:
    """Return the excluded columns, those with one reason on one line, and the notes."""
    by_reason: dict[str, list[str]] = {}
    for column in document["excluded"]:
        by_reason.setdefault(column["reason"], []).append(column["name"])
    excluded = [f"excluded    {quoted_list(names)}: {reason}" for reason, names in by_reason.items()]
    return [*excluded, *(f"note        {note}" for note in document["notes"])]


def _hidden(n: int, noun: str, marked: int | str | None = None, remedy: str = "--json has all") -> list[str]:
    """Return how many rows of a table are not shown, if any, and how many of them are marked."""
    which = "" if marked is None else f", {marked or 'none'} of them marked"
    return [f"  and {counted(n, f'more {noun}')}{which} ({remedy})"] if n else []


def _legend(rows: Sequence[Document], what: str, alpha: float, of: str) -> list[str]:
    """Return the meaning of the mark, if any row of a table is marked."""
    corrected = f", corrected for {len(rows)} {of}" if len(rows) > 1 else ""
    return [f"* {what}, at level {alpha:g}{corrected}"] if any(map(is_marked, rows)) else []


def _p(row: Document, key: str = "pvalue_corrected") -> str:
    return f"{row[key]:.4g}"


def _facts(document: Document) -> list[str]:
    test, effect, rows = document["test"], document["effect"], document["rows"]
    low, high = effect["low"], effect["high"]
    units = f", of {test['n_x']} and {test['n_y']} units" if test["unit_rows"] is not None else ""
    interval = "" if low is None else f" (95 %: {low:.4g} to {high:.4g})"
    of = f"strongest of {len(test['candidates'])} kernels: " if len(test["candidates"]) > 1 else "kernel "
    return [
        f"  p-value   {document['verdict']['pvalue']:.4g}{_tests(document)}",
        f"  effect    {effect['meaning']}",
        f"            MMD^2 {effect['mmd2']:.4g}{interval}, {effect['kernel_short']}",
        *_power(document),
        f"  rows      {rows['a']} and {rows['b']}{units}, {test['blocks_text']}",
        *_drawn(rows),
        f"  joint     {of}{test['kernel_short']}, {test['null']}, seed {test['seed']}",
        f"  time      {document['seconds']:.2f} s, {test['engine']}",
    ]


def _power(document: Document) -> list[str]:
    """Return the lines on detectable changes, where no difference was found."""
    if document["detectable"] is None or is_identical(document):
        return []
    return [f"  power     {document['detectable']['text']}"]


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
    return "" if len(shown) < 2 else f" corrected  ({', '.join(shown)})"


def _columns(document: Document, room: int, width: int) -> list[str]:
    columns, found = document["columns"], document["verdict"]
    shown, hidden, tolerance = columns[:room], columns[room:], found["tolerance"]
    heading, key, what = "corrected p", "pvalue_corrected", "changed"
    if tolerance is not None:
        heading, key = f"p of > {percent(tolerance)}", "pvalue_beyond"
        what = f"changed by more than {percent(tolerance)}"
    names = TextColumn("column", min(name_width(width, 4), width // 3))
    lines = table(
        [names, TextColumn("change", 8, True), TextColumn(heading, 11, True), TextColumn("what changed")],
        [[c["name"], one_decimal(c["effect"]), _p(c, key), c["summary"] if c["changed"] else "-"] for c in shown],
        map(is_marked, shown),
    )
    marked = sum(map(is_marked, hidden))
    lines += _hidden(len(hidden), "column", "all" if marked == len(hidden) else marked)
    return lines + _legend(columns, what, found["alpha"], "columns")


def _relations(document: Document) -> list[str]:
    relations = document["relations"]
    if not relations:
        return []
    applies = "" if document["verdict"]["tolerance"] is None else " (the tolerance does not apply)"
    lines = ["", f"relations that changed while neither column did{applies}:"]
    for relation in relations[:_MOST_RELATIONS]:
        text, names = relation["text"], tuple(relation["columns"])
        pair = "" if text.startswith((*names, "mean ")) else f"{' with '.join(names)}: "
        lines.append(f"  {pair}{text} (corrected p {relation['pvalue_corrected']:.4g})")
    if len(relations) > _MOST_RELATIONS:
        lines.append(f"  and {len(relations) - _MOST_RELATIONS} more")
    return lines


def _group_facts(document: Document) -> list[str]:
    test, rows = document["test"], document["rows"]
    own = [f"{part['name']} {part['pvalue']:.4g}" for part in document["tests"]]
    parts = f" corrected  ({', '.join(own)})" if len(own) > 1 else ""
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


def _group_columns(document: Document, width: int) -> list[str]:
    """Return the columns, each with the group that stands out."""
    columns, longest = document["columns"], name_width(width, 3)
    shown = columns[:_MOST_COLUMNS]
    rows = [
        [c["name"], one_decimal(c["effect"]), _p(c), c["group"] or "-", c["summary"] if c["different"] else "-"]
        for c in shown
    ]
    most, against = TextColumn("most in", longest), TextColumn("others -> that group")
    lines = table([TextColumn("column", longest), _EFFECT, _CORRECTED, most, against], rows, map(is_marked, shown))
    lines += _hidden(len(columns) - len(shown), "column")
    return lines + _legend(columns, "differs", document["verdict"]["alpha"], "columns by Holm's method")


def _groups(document: Document, width: int) -> list[str]:
    """Return the groups with their rows, and the pairs of each that differ."""
    groups, rows = document["groups"], []
    for group in groups[:_MOST_GROUPS]:
        own = [pair for pair in document["pairs"] if group["name"] in pair["groups"] and pair["different"]]
        most = max(own, key=_strength, default=None)
        other = "-" if most is None else next(name for name in most["groups"] if name != group["name"])
        size = "" if most is None or most["effect"] is None else f" ({one_decimal(most['effect'])})"
        rows.append([group["name"], str(group["tested"]), f"{len(own)} of {len(groups) - 1}", f"{other}{size}"])
    names, number = TextColumn(document["by"], name_width(width, 3)), TextColumn("rows", 9, True)
    columns = [names, number, TextColumn("differs from", 12, True), TextColumn("most from")]
    return table(columns, rows, [False] * len(rows)) + _hidden(len(groups) - len(rows), "group")


def _group_pairs(document: Document, width: int) -> list[str]:
    """Return the strongest pairs."""
    pairs = sorted(document["pairs"], key=lambda pair: (not pair["different"], -_strength(pair), pair["pvalue"]))
    shown = pairs[:_MOST_GROUP_PAIRS]
    longest = max(6, *(text_width(printable(name)) for pair in shown for name in pair["groups"]))
    wide = min(name_width(width, 3), longest)
    rows = [
        [
            "  ".join(fitted(printable(name), wide) for name in pair["groups"]),
            "-" if pair["effect"] is None else one_decimal(pair["effect"]),
            _p(pair),
        ]
        for pair in shown
    ]
    both = TextColumn("strongest pairs" if len(pairs) > len(shown) else "pairs", 2 * width)
    lines = table([both, _EFFECT, _CORRECTED], rows, map(is_marked, shown)) + _hidden(len(pairs) - len(shown), "pair")
    return lines + _legend(pairs, "differ", document["verdict"]["alpha"], "pairs by Holm's method")


def _strength(pair: Document) -> float:
    """Return the effect of a pair, or MMD^2 where the kernel has no bound."""
    return float(pair["mmd2"] if pair["effect"] is None else pair["effect"])


def independence_screen(document: Document, *, everything: bool = False) -> str:
    """Return a test of two groups of columns, or of all pairs, as text; the first pairs, or ``everything``."""
    width, _ = terminal_size()
    lines = wrapped([document["verdict"]], width, 0) + wrapped(_test_facts(document), width)
    if "pairs" in document:
        lines += ["", *_pairs(document, width, everything)]
    return "\n".join([*lines, *wrapped([*_missing(document), *_remarks(document)], width)])


def _test_facts(document: Document) -> list[str]:
    rows, name = document["rows"], {"hsic": "HSIC", "dcov": "dCov^2"}[document["statistic_name"]]
    of = "" if rows["tested"] == rows["given"] else f" of {rows['given']}"
    null = f"  null      {document['null']}, seed {document['seed']}"
    time = f"  time      {document['seconds']:.2f} s"
    if "pairs" in document:
        return [f"  rows      {rows['tested']}{of}, {_blocks(document['pairs'])}, the same for all pairs", null, time]
    return [
        f"  p-value   {document['pvalue']:.4g}",
        f"  {name:9} {document['statistic']:.4g}",
        f"  rows      {rows['tested']}{of}, {document['blocks_text']}",
        null,
        time,
    ]


def _blocks(pairs: Sequence[Document]) -> str:
    """Return numbers and sizes of the blocks of all pairs; wider encodings have smaller blocks."""
    numbers, sizes = ([pair[key] for pair in pairs] for key in ("n_blocks", "block_size"))
    if max(numbers) == 1:
        return "in one block"
    return f"in {_span(numbers)} blocks of {_span(sizes)} or more"


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def _pairs(document: Document, width: int, everything: bool) -> list[str]:
    pairs = document["pairs"]
    shown = pairs if everything else pairs[:_MOST_PAIRS]
    hidden, name = pairs[len(shown) :], TextColumn("column", name_width(width, 4))
    columns = [name, name, TextColumn("p", 9, True), _CORRECTED, TextColumn("distance correlation", 20, True)]
    rows = [[*own["columns"], _p(own, "pvalue"), _p(own), f"{own['distance_correlation']:.3f}"] for own in shown]
    lines = table(columns, rows, map(is_marked, shown))
    lines += _hidden(len(hidden), "pair", sum(map(is_marked, hidden)), "--all shows them")
    lines += _legend(pairs, "dependent", document["alpha"], "pairs by Holm's method")
    n = document["distance_correlation_rows"]
    if n < document["rows"]["tested"]:
        lines.append(f"  distance correlation from {n} of the rows, drawn at random")
    return lines


def _missing(document: Document) -> list[str]:
    """Return which columns have missing cells, and how those are treated."""
    found = [f"{column['name']!r} ({column['missing']})" for column in document["columns"] if column["missing"]]
    if not found:
        return []
    return [f"missing     {some_of(found, _MOST_MISSING)}: missing cells are a value of their own"]
