"""Labels of units: checks, and rows grouped by unit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests._option_checks import as_array, check_name
from btests._text import brief, converting
from btests._validation import column_names
from btests.plan import Index

Labels = npt.NDArray[Any]


class Grouped(NamedTuple):
    """Rows of one sample grouped by unit: their order (n,), and the first of each unit and n: (u + 1,)."""

    order: Index
    edges: Index


def take_labels(x: Any, y: Any, units: Any) -> tuple[Any, Any, Labels, Labels]:
    """Return both samples without the column that names units, and the label of each row: two of (n,)."""
    names = column_names(x), column_names(y)
    if isinstance(units, (tuple, list)) and len(units) == 2:
        return x, y, *(check_labels(name, own) for name, own in zip("xy", units, strict=True))
    if isinstance(units, (tuple, list, np.ndarray)) or names[0] is None or names[1] is None:
        raise TypeError(
            "units must be two arrays (units_x, units_y) of a label for each row, or the name of a column of both data "
            f"frames, got {brief(units)}"
        )
    found = [take_column(name, frame, units, "units") for name, frame in (("x", x), ("y", y))]
    return found[0][0], found[1][0], *(check_labels(name, own) for name, (_, own) in zip("xy", found, strict=True))


def take_column(name: str, frame: Any, column: Any, what: str) -> tuple[Any, Any]:
    """Return a data frame without one of its columns, and that column; ``what`` is what the column is for."""
    names = column_names(frame) or []
    if not isinstance(column, tuple):
        check_name(what, column)
    if column not in names:
        there = ", ".join(brief(one) for one in names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f"{what} names the column {brief(column)}, and {name} has none of that name; there are {there}"
        )
    kept = [one for one in names if one != column]
    return (frame.select(kept) if hasattr(type(frame), "select") else frame[kept]), frame[column]


def check_labels(name: str, labels: Any) -> Labels:
    """Return labels of units as an array (n,), or raise where one is missing."""
    found = as_array(f"units of {name}", labels)
    if found.ndim != 1:
        raise ValueError(f"units of {name} must be one label for each row, (n,), got shape {found.shape}")
    for row in np.flatnonzero(_missing(found)):
        raise ValueError(f"units of {name} have a missing label in row {row}; drop such rows or label them")
    return found


def group_rows(
    x: Labels, y: Labels, n_rows: tuple[int, int], *, paired: bool, names: tuple[str, str] = ("x", "y")
) -> tuple[Grouped, Grouped, bool]:
    """Return the rows of each sample grouped by unit, and whether the samples are of the same units.

    Units are in the order of their first rows; units that both samples have, in the order of those of x.
    """
    for name, labels, n in zip(names, (x, y), n_rows, strict=True):
        if len(labels) != n:
            raise ValueError(f"units of {name} are {len(labels)} labels for {n} rows; every row needs one")
    codes = _codes(x, y)
    of_x, of_y = (set(np.unique(own).tolist()) for own in (codes[: len(x)], codes[len(x) :]))
    for name, own in zip(names, (of_x, of_y), strict=True):
        if len(own) < 2:
            raise ValueError(
                f"{name} has {len(own)} unit{'s' * (len(own) != 1)}; a test needs at least 2 in each sample"
            )
    both = of_x & of_y
    first_of = np.concatenate([x.astype(object), y.astype(object)])[np.unique(codes, return_index=True)[1]]
    if of_x != of_y and paired:
        alone = min(of_x ^ of_y)
        where = names[0] if alone in of_x else names[1]
        raise ValueError(f"unit {_shown(first_of[alone])} is only in {where}; with paired=True both have every unit")
    if of_x != of_y and both:
        shared, (first, second) = _shown(first_of[min(both)]), names
        raise ValueError(
            f"unit {shared} is in both samples, and its rows in {first} and in {second} depend on one another; drop "
            "such units from one sample, or test the means of those in both with paired=True"
        )
    return _grouped(codes[: len(x)]), _grouped(codes[len(x) :]), bool(both)


def _codes(x: Labels, y: Labels) -> Index:
    """Return numbers of units in the order of their first rows, x before y: (n_x + n_y,)."""
    if x.dtype.kind == y.dtype.kind and x.dtype.kind in "biufMmSU":
        _, first, inverse = np.unique(np.concatenate([x, y]), return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(len(first))
        return np.asarray(rank[inverse], dtype=np.int64)
    number: dict[Any, int] = {}
    with converting("units"):  # labels must be hashable
        labels = [number.setdefault(label, len(number)) for label in (*x.tolist(), *y.tolist())]
    return np.array(labels, dtype=np.int64)


def _grouped(codes: Index) -> Grouped:
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return Grouped(order, np.append(starts, len(codes)))


def _missing(labels: Labels) -> npt.NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype != object:
        return np.zeros(len(labels), dtype=bool)
    return np.array(
        [one is None or type(one).__name__ in ("NAType", "NaTType") or _is_nan(one) for one in labels], bool
    )


def _is_nan(label: object) -> bool:
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def _shown(value: object) -> str:
    return brief(value.item() if isinstance(value, np.generic) else value)
