"""Results of a comparison: the verdict, its tests, columns and relations, and all of them as plain values."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from btests.comparison.changes import Change
from btests.comparison.encoding import Encoding
from btests.comparison.result_methods import (
    as_html,
    as_text,
    block_entries,
    column_named,
    document_of,
    effect_entries,
    interval_of,
    joint_entries,
    no_truth,
    to_frame,
    to_json,
)
from btests.comparison.tests import ComponentTest
from btests.comparison.total_variation import mmd2_bound, total_variation_bound
from btests.comparison.verdicts import comparison_verdict, detectable_text, effect_text, largest_change
from btests.plot import plot_distributions, plot_effects
from btests.report import write_page
from btests.result import TestResult

#: Changes with the meaning of a key, not with keys that are added.
SCHEMA = "btests.compare/1"


@dataclass(frozen=True, slots=True)
class Column:
    """The change of one column.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        ``"number"``, ``"boolean"``, ``"category"`` or ``"time"``.
    effect : float
        Estimated total variation distance, 0 to 1: the share of rows that would have to change to make both sides
        identical in this column; 0 if it did not change significantly.
    pvalue : float
        Of this column alone.
    pvalue_corrected : float
        Corrected for the number of columns; at least the p-value of any difference of the tables.
    changed : bool
        Whether the corrected p-value is at most alpha.
    changes : tuple of Change
        Changes of mean, spread, levels and so on, the most significant first; none if the column did not change.
    a, b : dict
        Summary statistics of each side.
    details : dict
        Levels, chart and encoding, as in docs/compare-schema.md.
    pvalue_beyond : float or None
        With a tolerance: p-value of "at most the tolerated share of rows differs", corrected; at least that of the
        verdict.
    beyond : bool or None
        With a tolerance: whether ``pvalue_beyond`` is at most alpha.
    names : tuple of two str
        Names of the tables.
    """

    name: str
    kind: str
    effect: float
    pvalue: float
    pvalue_corrected: float
    changed: bool
    changes: tuple[Change, ...]
    a: dict[str, Any]
    b: dict[str, Any]
    details: dict[str, Any]
    pvalue_beyond: float | None = None
    beyond: bool | None = None
    names: tuple[str, str] = ("a", "b")

    @property
    def summary(self) -> str:
        """Changes in one line."""
        if not self.changed:
            return "no change found"
        return "; ".join(change.text for change in self.changes[:3]) or "small changes, none significant by itself"

    def plot(self, ax: Any = None) -> Any:
        """Plot the distributions of this column in both tables with matplotlib, and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in; those of a new figure by default.
        """
        return plot_distributions(self.details["chart"], self.names, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("details", "names")}
        return {
            **own,
            "summary": self.summary,
            "changes": [change.to_dict() for change in self.changes],
            **self.details,
        }


@dataclass(frozen=True, slots=True)
class Relation:
    """A pair of columns whose relation changed while neither column did.

    Attributes
    ----------
    columns : tuple of two str
        Names of the columns.
    pvalue, pvalue_corrected : float
        Of this pair alone, and corrected for the number of pairs; at least the p-value of any difference of the tables.
    measure : str
        Measure of association.
    a, b : float
        Its value on each side.
    text : str
        The change in words.
    """

    columns: tuple[str, str]
    pvalue: float
    pvalue_corrected: float
    measure: str
    a: float
    b: float
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two tables; ``print`` it, display it in a notebook, or read its attributes.

    Attributes
    ----------
    pvalue : float
        Smallest p-value over the joint test, the tests by column and the tests by pair, corrected for their number;
        with a tolerance, p-value of "at most the tolerated share of rows differs".
    alpha : float
        Significance level of the verdict.
    result : TestResult
        Joint kernel test of all columns.
    effect_test : TestResult
        The joint test with one kernel that is fixed in advance: its MMD^2 and confidence interval have no selection
        bias.
    columns : tuple of Column
        All columns that were compared, the largest effect first.
    relations : tuple of Relation
        Pairs of columns whose relation changed while neither column did.
    tests : tuple of ComponentTest
        The tests behind the verdict, each with its p-value and null distribution.
    encoding : Encoding
        Map from columns to coordinates.
    excluded : tuple of (str, str)
        Columns that were not compared, each with the reason.
    notes : tuple of str
        Warnings and remarks.
    names : tuple of two str
        Names of the tables.
    details : dict
        All other entries of ``to_dict()``.

    See Also
    --------
    btests.compare : Compare two tables.
    """

    pvalue: float
    alpha: float
    result: TestResult
    effect_test: TestResult
    columns: tuple[Column, ...]
    relations: tuple[Relation, ...]
    tests: tuple[ComponentTest, ...]
    encoding: Encoding
    excluded: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    names: tuple[str, str]
    details: dict[str, Any] = field(repr=False, compare=False)

    @property
    def different(self) -> bool:
        """Whether a difference was found at level ``alpha``."""
        return self.pvalue <= self.alpha

    @property
    def effect(self) -> float:
        """Share of rows that changed, 0 to 1, in the unit of the effect of a column: an estimate, or a lower bound.

        The larger one of the largest effect of a column, an estimate, and of the lower bound on the total variation
        distance by MMD^2: whole rows differ by no less than a column of them. 0 where no difference was found, and at
        most the tolerance where none beyond it was found.
        """
        low = interval_of(self.effect_test, self._most())[0]
        share = max(column.effect for column in self.columns)
        share = max(share, total_variation_bound(low, self.effect_test.kernel) or 0.0)
        tolerance = self.details["settings"]["tolerance"]
        return share if tolerance is None or self.different else min(share, tolerance)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, by the schema in docs/compare-schema.md.

        Returns
        -------
        dict
            Numbers that are not finite are None.
        """
        entries = {
            "names": {"a": self.names[0], "b": self.names[1]},
            "verdict": self._verdict(),
            "effect": {"share": self.effect, **effect_entries(self.effect_test, self._most())},
            "test": self._joint_test(),
            "tests": [asdict(test) for test in self.tests],
            "blocks": block_entries(self.result),
            "relations": [{**asdict(relation), "columns": list(relation.columns)} for relation in self.relations],
            **{key: self.details[key] for key in ("relations_tested", "witness", "examples", "detectable")},
        }
        document = document_of(self, SCHEMA, entries, comparison_verdict)
        document["effect"]["meaning"] = effect_text(document)
        document["effect"]["largest_change"] = largest_change(document)
        if document["detectable"] is not None:
            document["detectable"]["text"] = detectable_text(document)
        return document

    to_html = write_page
    to_frame = to_frame
    to_json = to_json
    __getitem__ = column_named
    __bool__ = no_truth
    __str__ = as_text
    _repr_html_ = as_html

    def plot(self, ax: Any = None) -> Any:
        """Plot how much each column changed with matplotlib, and return the axes; ``found["name"].plot()`` plots one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in; those of a new figure by default.
        """
        return plot_effects(self.columns, ax, title=f"{self.names[0]} and {self.names[1]}, p = {self.pvalue:.4g}")

    def _most(self) -> float:
        """Return the largest lower end of an interval of MMD^2 that does not contradict the verdict."""
        if self.details["pvalue_any_difference"] > self.alpha:
            return 0.0
        tolerance = self.details["settings"]["tolerance"]
        return math.inf if tolerance is None or self.different else mmd2_bound(tolerance)

    def _joint_test(self) -> dict[str, Any]:
        low, high = interval_of(self.result, self._most())
        return {
            **joint_entries(self.result),
            "threshold": self.result.threshold(self.alpha),
            "confidence_interval": None if low is None else [low, high],
        }

    def _verdict(self) -> dict[str, Any]:
        tolerance = self.details["settings"]["tolerance"]
        return {
            "different": self.different,
            "pvalue": self.pvalue,
            "pvalue_any_difference": self.details["pvalue_any_difference"],
            "alpha": self.alpha,
            "smallest_pvalue": self.details["smallest_pvalue"],
            "tolerance": tolerance,
            "question": "any difference" if tolerance is None else "more than the tolerance",
            "beyond": self.details["beyond"],
        }
