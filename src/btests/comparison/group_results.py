"""Results of comparing several groups of rows: values, text and plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from btests._text import printable
from btests.comparison.changes import Change
from btests.comparison.console import cut, excluded_lines, notebook_of, terminal_size, wrapped
from btests.comparison.format import counted, fitted, text_width
from btests.comparison.result_methods import column_named, no_truth, to_frame, to_json
from btests.comparison.results import finite, joint_entries, shared_entries
from btests.report import GROUPS, write_page
from btests.result import TestResult

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


@dataclass(frozen=True, slots=True)
class Group:
    """A group of rows: its name, and the number of its rows that were given and that were tested in pairs."""

    name: str
    rows: int
    tested: int


@dataclass(frozen=True, slots=True)
class GroupPair:
    """Two groups.

    Attributes
    ----------
    groups : tuple of two str
        Their names.
    pvalue, pvalue_corrected : float
        Of this pair alone, and corrected for the number of pairs by Holm's method; at least that of the verdict.
    different : bool
        Whether the corrected p-value is at most alpha.
    mmd2 : float
        MMD^2 with one kernel that is the same for all pairs.
    effect : float or None
        Estimated share of rows that differ at least (bound on total variation by MMD^2); 0 where the pair does not
        differ significantly, None where the kernel has no such bound.
    """

    groups: tuple[str, str]
    pvalue: float
    pvalue_corrected: float
    different: bool
    mmd2: float
    effect: float | None


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """One column of several groups.

    Attributes
    ----------
    name, kind : str
        As in :class:`btests.comparison.results.Column`.
    pvalue, pvalue_corrected : float
        Of "all groups have the same distribution in this column", alone and corrected for the number of columns; the
        corrected one is at least that of the verdict.
    different : bool
        Whether the corrected p-value is at most alpha.
    group : str or None
        The group that differs most from all others together; None where nothing was found.
    effect : float
        Estimated total variation distance of that group to the others, 0 to 1; 0 in a column that does not differ.
    effects : tuple of float
        The same for each group.
    changes : tuple of Change
        How that group differs from the others, the most significant first.
    encoding : str
        How the column became coordinates.
    """

    name: str
    kind: str
    pvalue: float
    pvalue_corrected: float
    different: bool
    group: str | None
    effect: float
    effects: tuple[float, ...]
    changes: tuple[Change, ...]
    encoding: str

    @property
    def summary(self) -> str:
        """How the group that stands out differs from the others, in one line."""
        if not self.different:
            return "no difference found"
        return "; ".join(change.text for change in self.changes[:2]) or "small differences, none significant by itself"

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        changes = [
            {"quantity": change.quantity, "others": change.a, "group": change.b, "text": change.text}
            for change in self.changes
        ]
        return {**own, "effects": list(self.effects), "summary": self.summary, "changes": changes}


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """The result of comparing several groups of rows; ``print`` it, display it in a notebook, or read its attributes.

    Attributes
    ----------
    pvalue : float
        Of "all groups have the same distribution": the smaller one of the joint test and of the tests of columns,
        corrected for both.
    alpha : float
        Significance level.
    result : TestResult
        Joint test of all columns and all groups at once, as by :func:`btests.ksample_test`.
    by : str
        The column that splits the rows.
    groups : tuple of Group
        The groups, in the order of their names.
    pairs : tuple of GroupPair
        All pairs of groups, the most significant first.
    columns : tuple of GroupColumn
        All columns that were compared, the largest effect first.
    excluded : tuple of (str, str)
        Columns that were not compared, each with the reason.
    notes : tuple of str
        Warnings and remarks.
    details : dict
        All other entries of ``to_dict()``.

    See Also
    --------
    btests.compare : Compare two tables, or groups of rows of one.
    """

    pvalue: float
    alpha: float
    result: TestResult
    by: str
    groups: tuple[Group, ...]
    pairs: tuple[GroupPair, ...]
    columns: tuple[GroupColumn, ...]
    excluded: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    details: dict[str, Any] = field(repr=False, compare=False)

    @property
    def different(self) -> bool:
        """Whether a difference was found at level ``alpha``."""
        return self.pvalue <= self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, by the schema in docs/compare-schema.md.

        Returns
        -------
        dict
            Numbers that are not finite are None.
        """
        verdict = {"different": self.different, "pvalue": self.pvalue, "alpha": self.alpha}
        document: dict[str, Any] = finite(
            {
                **shared_entries(self, GROUPS),
                "table": self.details["table"],
                "by": self.by,
                "verdict": {**verdict, "attainable": self.details["attainable"]},
                "tests": self._tests(),
                "test": joint_entries(self.result),
                "groups": [asdict(own) for own in self.groups],
                "excluded_groups": self.details["excluded_groups"],
                "pairs": [{**asdict(pair), "groups": list(pair.groups)} for pair in self.pairs],
                "effect": self.details["effect"],
            }
        )
        document["verdict"]["text"] = group_verdict(document)
        return document

    to_html = write_page
    to_frame = to_frame
    to_json = to_json
    __getitem__ = column_named
    __bool__ = no_truth

    def __str__(self) -> str:
        return group_screen(self.to_dict())

    def _repr_html_(self) -> str:
        return notebook_of(group_screen(self.to_dict(), 120))

    def _tests(self) -> list[dict[str, Any]]:
        joint = {"name": "joint", "title": "all columns jointly", "pvalue": self.result.pvalue}
        if len(self.columns) == 1:
            return [joint]
        p = min(column.pvalue_corrected for column in self.columns)
        return [joint, {"name": "columns", "title": "columns one by one", "pvalue": p}]
