"""Methods that results of comparing tables, and of comparing groups of rows, have in common."""

from __future__ import annotations

import json
from typing import Any

from btests._imports import optional
from btests._text import brief, close_match

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
