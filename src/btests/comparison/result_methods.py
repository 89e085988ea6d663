"""Methods of the results of comparing tables or groups of rows, and entries of their documents."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from btests._imports import optional
from btests._memory import peak_memory
from btests._text import brief, close_match
from btests.comparison.charts import histogram
from btests.comparison.format import short_name
from btests.comparison.screens import notebook, screen
from btests.comparison.total_variation import total_variation_bound
from btests.report import render_notebook
from btests.result import TestResult

# Attributes of a column that are a column of the data frame, in their order.
_FIELDS = ("name", "kind", "effect", "pvalue", "pvalue_corrected", "changed", "different", "group", "summary")


def column_named(self: Any, name: str) -> Any:
    """Return the column of a name: ``found["amount"]``."""
    by_name = {column.name: column for column in self.columns}
    if name in by_name:
        return by_name[name]
    excluded = dict(self.excluded)
    if name in excluded:
        raise KeyError(f"the column {name!r} was not compared: {excluded[name]}")
    like = close_match(name, by_name) if isinstance(name, str) else None
    raise KeyError(f"there is no column {brief(name)}" + (f"; did you mean {like!r}?" if like else ""))


def no_truth(self: Any) -> bool:
    """Raise: whether "true" is "the same" or "different" is open to misreading."""
    raise TypeError("a comparison is neither true nor false; ask for found.different, or found.pvalue <= 0.01")


def to_json(self: Any, indent: int | None = None) -> str:
    """Return ``to_dict()`` as JSON.

    Parameters
    ----------
    indent : int, optional
        Spaces by which levels are indented; one line by default.
    """
    return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


def to_frame(self: Any) -> Any:
    """Return the columns as a data frame, one row for each: of pandas, or of polars where there is no pandas.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        ``name``, ``kind``, ``effect``, ``pvalue``, ``pvalue_corrected``, ``changed`` (of groups ``different`` and
        ``group``) and ``summary`` of each column.
    """
    fields = [field for field in _FIELDS if all(hasattr(column, field) for column in self.columns)]
    values = {field: [getattr(column, field) for column in self.columns] for field in fields}
    for package in ("pandas", "polars"):
        module = optional(package, "")
        if not isinstance(module, str):
            return module.DataFrame(values)
    raise ImportError("a data frame needs pandas or polars; python -m pip install pandas gets one")


def as_text(self: Any) -> str:
    """Return the result as one screen of text."""
    return screen(self.to_dict())


def as_html(self: Any) -> str:
    """Return the result as HTML for a notebook: tables with small drawings where jinja2 is installed, or the screen."""
    document = self.to_dict()
    return render_notebook(document) or notebook(document)


def document_of(
    self: Any, schema: str, entries: Mapping[str, Any], verdict: Callable[[dict[str, Any]], str]
) -> dict[str, Any]:
    """Return the entries that all results have and these, as plain values, with the verdict as a sentence."""
    details = self.details
    document: dict[str, Any] = _finite(
        {
            "schema": schema,
            "version": version("btests"),
            **{key: details[key] for key in ("rows", "settings", "command", "seconds")},
            "command_note": details.get("command_note"),
            "memory_bytes": peak_memory(),
            "columns": [{**column.to_dict(), "rank": rank} for rank, column in enumerate(self.columns, start=1)],
            "excluded": [{"name": name, "reason": reason} for name, reason in self.excluded],
            "notes": list(self.notes),
            **entries,
        }
    )
    document["verdict"]["text"] = verdict(document)
    return document


def joint_entries(result: TestResult) -> dict[str, Any]:
    """Return the joint test as plain values."""
    return {**result.to_dict(), "kernel_short": short_name(result.kernel), "blocks_text": result.blocks_text()}


def _finite(value: Any) -> Any:
    """Return a value with None in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def effect_entries(effect: TestResult, most: float) -> dict[str, Any]:
    """Return MMD^2 with its interval (see `interval_of`) as plain values."""
    low, high = interval_of(effect, most)
    return {
        "mmd2": effect.summary.mean(),
        "low": low,
        "high": high,
        "confidence_level": 0.95,
        "kernel": repr(effect.kernel),
        "kernel_short": short_name(effect.kernel),
        "total_variation_bound": total_variation_bound(low, effect.kernel),
    }


def block_entries(result: TestResult) -> dict[str, Any]:
    """Return the block values of the joint test as plain values."""
    return {
        "n": result.n_blocks,
        "size": result.block_size,
        "axis": f"block MMD^2 with {short_name(result.kernel)}",
        "mean": result.summary.mean(),
        "histogram": histogram(result.block_values),
    }


def interval_of(result: TestResult, most: float) -> tuple[float | None, float | None]:
    """Return the 95 % confidence interval of MMD^2, Nones where there are too few rows for one.

    Its lower end is at most ``most``: a longer interval covers the value as well.
    """
    try:
        low, high = result.confidence_interval()
    except ValueError:
        return None, None
    return min(low, most), high
