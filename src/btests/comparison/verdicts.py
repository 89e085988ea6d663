"""Verdicts of comparisons and of tests of independence as sentences, from their dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from btests.comparison.format import SAME_FILES, SAME_ROWS, counted, one_decimal, percent, some_of

Document = Mapping[str, Any]

# Smallest p-value of 1999 sign flips, about; a larger smallest p-value is due to few rows.
_FEW_DRAWS = 1e-3

# Rows that have more swaps than are drawn, and names of a group of columns in a sentence.
_FEW_ROWS = 32
_MOST_NAMES = 4


def comparison_verdict(document: Document) -> str:
    """Return the verdict on two tables as one sentence."""
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


def is_marked(row: Document) -> bool:
    """Whether a column, a pair or a group is significant or, with a tolerance, differs by more than that."""
    if row.get("beyond") is not None:
        return bool(row["beyond"])
    return bool(next(row[key] for key in ("changed", "different", "dependent") if key in row))


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
    if is_identical(document):
        where = " in all columns that were compared" if document["excluded"] else ""
        return f"{document['names']['a']} and {document['names']['b']} are identical{where}."
    start = f"No difference found between {document['names']['a']} and {document['names']['b']}"
    if smallest <= alpha:
        return f"{start} at level {alpha:g}."
    few = _rows_or_units(document) if smallest > _FEW_DRAWS else "sign flips"
    least = f"the smallest p-value possible is {smallest:.3g}, above the level {alpha:g}"
    return f"{start}, and with so few {few} none could be: {least}."


def is_identical(document: Document) -> bool:
    """Whether one table is a copy of the other, as far as they were compared."""
    return not {SAME_ROWS, SAME_FILES}.isdisjoint(document["notes"])


def _rows_or_units(document: Document) -> str:
    return "rows" if document["settings"]["unit"] is None else "units"


def largest_change(document: Document) -> str:
    """Return the largest significant change of a column in words."""
    top = next((column for column in document["columns"] if column["changed"]), None)
    if top is None:
        return "no single column changed significantly"
    return f"{top['name']}: {top['summary']}; an estimated {percent(top['effect'])} of the rows changed"


def effect_text(document: Document) -> str:
    """Return the share of rows that changed in words: "about" an estimate, "at least" a bound."""
    effect, columns = document["effect"], document["columns"]
    if (share := effect["share"]) > 0.0:
        first, rows = columns[0], f"{one_decimal(share)} of the rows changed"
        if share > first["effect"]:
            return f"at least {rows} (lower bound by MMD^2)"
        alone = f"estimated from {first['name']} alone" if len(columns) > 1 else "estimated"
        if share < first["effect"]:  # all that was found with a tolerance
            return f"not significantly more than {rows} (about {one_decimal(first['effect'])}, {alone})"
        return f"about {rows} ({alone})"
    if document["verdict"]["pvalue_any_difference"] > document["verdict"]["alpha"]:
        return "none found"
    if effect["total_variation_bound"] is None:
        why = f"with so few {_rows_or_units(document)}" if effect["low"] is None else "for this kernel"
        return f"the share of rows that changed has no lower bound {why}"
    return "there is a change, but no lower bound on the share of rows that changed"


def detectable_text(document: Document) -> str:
    """Return the detectable changes in words."""
    found = document["detectable"]
    changes = []
    if found["share"] is not None:
        changes.append(f"a change of about {percent(_two_digits(found['share']))} of the rows in one column")
    if found["shift"] is not None:
        changes.append(f"a shift of {_two_digits(found['shift']):g} standard deviations")
    return f"With {percent(found['power'])} power these rows would have shown {' or '.join(changes)}."


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def groups_verdict(document: Document) -> str:
    """Return the verdict on groups of rows as one sentence."""
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


def independence_verdict(document: Document) -> str:
    """Return the verdict of a test of two groups of columns, or of all pairs, as one sentence."""
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
    shown = some_of(names, _MOST_NAMES)
    return f"({shown})" if len(names) > 1 else shown
