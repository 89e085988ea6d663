"""Results of comparing several groups of rows: the verdict, groups, pairs of groups and columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from btests.comparison.changes import Change
from btests.comparison.result_methods import (
    as_html,
    as_text,
    column_named,
    document_of,
    joint_entries,
    no_truth,
    to_frame,
    to_json,
)
from btests.comparison.verdicts import groups_verdict
from btests.report import GROUPS, write_page
from btests.result import TestResult


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

    @property
    def effect(self) -> float:
        """Estimated share of rows of a group that differ, 0 to 1: the largest effect of a pair or of a column."""
        return max(own or 0.0 for own in (*(pair.effect for pair in self.pairs), *(c.effect for c in self.columns)))

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, by the schema in docs/compare-schema.md.

        Returns
        -------
        dict
            Numbers that are not finite are None.
        """
        verdict = {"different": self.different, "pvalue": self.pvalue, "alpha": self.alpha}
        entries = {
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
        return document_of(self, GROUPS, entries, groups_verdict)

    to_html = write_page
    to_frame = to_frame
    to_json = to_json
    __getitem__ = column_named
    __bool__ = no_truth
    __str__ = as_text
    _repr_html_ = as_html

    def _tests(self) -> list[dict[str, Any]]:
        joint = {"name": "joint", "title": "all columns jointly", "pvalue": self.result.pvalue}
        if len(self.columns) == 1:
            return [joint]
        p = min(column.pvalue_corrected for column in self.columns)
        return [joint, {"name": "columns", "title": "columns one by one", "pvalue": p}]
