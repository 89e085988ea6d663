"""Tests of independence between columns as one screen of text, from their dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from btests._text import printable
from btests.comparison.console import excluded_lines, terminal_size, wrapped
from btests.comparison.format import counted, fitted, text_width

Document = Mapping[str, Any]

# Pairs on the screen, unless all are wanted; names of a group in the verdict; names of columns with missing cells.
_MOST_PAIRS = 20
_MOST_NAMES = 4
_MOST_MISSING = 12

_LONGEST_NAME = 24

# Rows that have more swaps than are drawn.
_FEW_ROWS = 32

_STATISTICS = {"hsic": "HSIC", "dcov": "dCov^2"}


def verdict(document: Document) -> str:
    """Return the verdict as one sentence."""
    nothing = "" if document["attainable"] else f", and none could be: {_unattainable(document)}"
    if "pairs" in document:
        pairs = document["pairs"]
        among = f"{counted(len(pairs), 'pair')} of columns of {document['table']}"
        n_found = sum(pair["dependent"] for pair in pairs)
        if not n_found:
            return f"No dependence found in {among}{nothing}."
        most = " and ".join(pairs[0]["columns"])
        which = f"is dependent: {most}" if n_found == 1 else f"are dependent, {most} the most"
        return f"{n_found} of {among} {which}."
    x, y = (_group(document[side]) for side in ("x", "y"))
    if document["dependent"]:
        return f"{x} and {y} depend on each other (p = {document['pvalue']:.4g})."
    return f"No dependence found between {x} and {y} (p = {document['pvalue']:.4g}){nothing}."


def _unattainable(document: Document) -> str:
    level = f"no p-value can be as small as {document['alpha']:g}"
    if "pairs" in document:
        return f"with so few rows or so many pairs {level} after correction"
    return f"with so few {'rows' if document['rows']['tested'] < _FEW_ROWS else 'swaps'} {level}"


def _group(names: Sequence[str]) -> str:
    """Return the names of a group, in brackets if there are several.

    Examples
    --------
    >>> _group(["a"]), _group(["a", "b"]), _group(list("abcdef"))
    ('a', '(a, b)', '(a, b, c, d and 2 more)')
    """
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"({shown}{more})" if len(names) > 1 else shown


def screen(document: Document, *, everything: bool = False) -> str:
    """Return a test of two groups, or of all pairs, as text; ``everything`` is all pairs, and not the first 20."""
    width, _ = terminal_size()
    tail = [*_missing(document), *excluded_lines(document), *(f"note        {note}" for note in document["notes"])]
    lines = wrapped([document["verdict"]], width, 0) + wrapped(_facts(document), width)
    if "pairs" in document:
        lines += ["", *_table(document, width, everything)]
    return "\n".join([*lines, *wrapped(tail, width)])


def _facts(document: Document) -> list[str]:
    rows, name = document["rows"], _STATISTICS[document["statistic_name"]]
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


def _table(document: Document, width: int, everything: bool) -> list[str]:
    pairs = document["pairs"]
    shown = pairs if everything else pairs[:_MOST_PAIRS]
    names = [[printable(name) for name in pair["columns"]] for pair in shown]
    limit = max(_LONGEST_NAME, width // 4)
    wide = [max(6, min(limit, max(text_width(own[k]) for own in names))) for k in (0, 1)]
    lines = [f"  {'column':<{wide[0]}}  {'column':<{wide[1]}}  {'p':>9}  {'corrected p':>11}  distance correlation"]
    for pair, own in zip(shown, names, strict=True):
        first, second = (fitted(name, size) for name, size in zip(own, wide, strict=True))
        p, corrected, strength = pair["pvalue"], pair["pvalue_corrected"], pair["distance_correlation"]
        mark = "*" if pair["dependent"] else " "
        lines.append(f"{mark} {first}  {second}  {p:9.4g}  {corrected:11.4g}  {strength:20.3f}")
    hidden = pairs[len(shown) :]
    if hidden:
        marked = sum(pair["dependent"] for pair in hidden)
        lines.append(f"  and {counted(len(hidden), 'more pair')}, {marked or 'none'} of them marked (--all shows them)")
    if document["dependent"]:
        corrected = f", corrected for {len(pairs)} pairs by Holm's method" if len(pairs) > 1 else ""
        lines.append(f"* dependent, at level {document['alpha']:g}{corrected}")
    n = document["distance_correlation_rows"]
    if n < document["rows"]["tested"]:
        lines.append(f"  distance correlation from {n} of the rows, drawn at random")
    return lines


def _missing(document: Document) -> list[str]:
    """Return which columns have missing cells, and how those are treated."""
    found = [f"{column['name']!r} ({column['missing']})" for column in document["columns"] if column["missing"]]
    if not found:
        return []
    more = f" and {len(found) - _MOST_MISSING} more" if len(found) > _MOST_MISSING else ""
    return [f"missing     {', '.join(found[:_MOST_MISSING])}{more}: missing cells are a value of their own"]
