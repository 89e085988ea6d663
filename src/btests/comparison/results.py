"""Results of a comparison: the verdict, its tests, columns and relations, and all of them as plain values."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from btests.comparison.changes import Change
from btests.comparison.charts import histogram
from btests.comparison.console import effect_text, largest_change, notebook, screen, verdict
from btests.comparison.encoding import Encoding
from btests.comparison.format import short_name
from btests.comparison.total_variation import total_variation_bound
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
        identical in this column.
    pvalue : float
        Of this column alone.
    pvalue_corrected : float
        Corrected for the number of columns.
    changed : bool
        Whether the corrected p-value is at most alpha.
    changes : tuple of Change
        Changes of mean, spread, levels and so on, the most significant first.
    a, b : dict
        Summary statistics of each side.
    details : dict
        Levels, chart and encoding, as in docs/compare-schema.md.
    pvalue_beyond : float or None
        With a tolerance: p-value of "at most the tolerated share of rows differs", corrected.
    beyond : bool or None
        With a tolerance: whether ``pvalue_beyond`` is at most alpha.
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

    @property
    def summary(self) -> str:
        """Changes in one line."""
        if not self.changed:
            return "no change found"
        return "; ".join(change.text for change in self.changes[:3]) or "small changes, none significant by itself"

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "effect": self.effect,
            "pvalue": self.pvalue,
            "pvalue_corrected": self.pvalue_corrected,
            "changed": self.changed,
            "pvalue_beyond": self.pvalue_beyond,
            "beyond": self.beyond,
            "summary": self.summary,
            "changes": [change.to_dict() for change in self.changes],
            "a": self.a,
            "b": self.b,
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
        Of this pair alone, and corrected for the number of pairs.
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
class ComponentTest:
    """One of the tests behind the verdict: joint, by column, or by pair.

    Attributes
    ----------
    name : str
        ``"joint"``, ``"columns"`` or ``"pairs"``.
    title : str
        The same in words.
    pvalue : float
        Of the largest statistic, corrected for ``n_tests``.
    n_tests : int
        Number of statistics: kernels, columns or pairs.
    axis : str
        Label of the statistic.
    observed : float
        Its value.
    threshold : float or None
        Critical value at alpha.
    null : dict or None
        Histogram of the null distribution.
    """

    name: str
    title: str
    pvalue: float
    n_tests: int
    axis: str
    observed: float
    threshold: float | None
    null: dict[str, Any] | None


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
    effect : TestResult
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
    effect: TestResult
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

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, by the schema in docs/compare-schema.md.

        Returns
        -------
        dict
            Numbers that are not finite are None.
        """
        document: dict[str, Any] = _finite(
            {
                "schema": SCHEMA,
                "version": version("btests"),
                "names": {"a": self.names[0], "b": self.names[1]},
                "verdict": self._verdict(),
                "effect": _effect(self.effect),
                "rows": self.details["rows"],
                "test": _joint_test(self.result, self.alpha),
                "tests": [asdict(test) for test in self.tests],
                "blocks": _blocks(self.result),
                "columns": [{**column.to_dict(), "rank": rank} for rank, column in enumerate(self.columns, start=1)],
                "relations": [{**asdict(relation), "columns": list(relation.columns)} for relation in self.relations],
                "relations_tested": self.details["relations_tested"],
                "witness": self.details["witness"],
                "examples": self.details["examples"],
                "excluded": [{"name": name, "reason": reason} for name, reason in self.excluded],
                "notes": list(self.notes),
                "settings": self.details["settings"],
                "command": self.details["command"],
                "command_note": self.details.get("command_note"),
                "seconds": self.details["seconds"],
                "memory_bytes": peak_memory(),
            }
        )
        document["verdict"]["text"] = verdict(document)
        document["effect"]["meaning"] = effect_text(document)
        document["effect"]["largest_change"] = largest_change(document)
        return document

    def to_html(self, path: str | Path, *, force: bool = False) -> None:
        """Write the comparison to ``path`` as one HTML page.

        Parameters
        ----------
        path : str or Path
            File to write.
        force : bool, default False
            Overwrite a file that exists.

        Raises
        ------
        FileExistsError
            If ``path`` exists and ``force`` is False.
        """
        from btests.report import render, write  # jinja2 is optional

        write(path, render(self.to_dict()), force=force)

    def __str__(self) -> str:
        return screen(self.to_dict())

    def _repr_html_(self) -> str:
        return notebook(self.to_dict())

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


def _effect(effect: TestResult) -> dict[str, Any]:
    low, high = _interval(effect)
    return {
        "mmd2": effect.summary.mean(),
        "low": low,
        "high": high,
        "confidence_level": 0.95,
        "kernel": repr(effect.kernel),
        "kernel_short": short_name(effect.kernel),
        "total_variation_bound": total_variation_bound(low, effect.kernel),
    }


def _joint_test(result: TestResult, alpha: float) -> dict[str, Any]:
    low, high = _interval(result)
    return {
        **result.to_dict(),
        "kernel_short": short_name(result.kernel),
        "blocks_text": result.blocks_text(),
        "threshold": result.threshold(alpha),
        "confidence_interval": None if low is None else [low, high],
    }


def _blocks(result: TestResult) -> dict[str, Any]:
    return {
        "n": result.n_blocks,
        "size": result.block_size,
        "axis": f"block MMD^2 with {short_name(result.kernel)}",
        "mean": result.summary.mean(),
        "histogram": histogram(result.block_values),
    }


def _interval(result: TestResult) -> tuple[float | None, float | None]:
    """Return the 95 % confidence interval of MMD^2, Nones where there are too few rows for one."""
    try:
        low, high = result.confidence_interval()
    except ValueError:
        return None, None
    return low, high


def peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def _finite(value: Any) -> Any:
    """Return a value with None in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
