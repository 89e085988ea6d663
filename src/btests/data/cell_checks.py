"""Checks of cells and columns, with errors that name row and column; conversion of Arrow columns to floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._validation import LARGEST, LAST_WHOLE, warn_of_huge_whole_numbers
from btests.data.source import Rows


def check_cells(rows: Rows, label: str, names: tuple[str, ...] | None, number: Callable[[int], int]) -> Rows:
    """Return rows (m, d) unless a cell is NaN, infinite or beyond 1e300; ``number`` gives the place of a row."""
    if not rows.size or (rows.min() >= -LARGEST and rows.max() <= LARGEST):  # False for NaN
        return rows
    i, j = np.argwhere(~(np.abs(rows) <= LARGEST))[0].tolist()
    cell = float(rows[i, j])
    place = f"cell in row {number(i)}, column {j if names is None else repr(names[j])}"
    if math.isfinite(cell):
        raise ValueError(f"{label} has a {place}, beyond 1e300, {cell:g}; scale the data down")
    kind = "a NaN or missing" if math.isnan(cell) else "an infinite"
    raise ValueError(f"{label} has {kind} {place}; drop or fill such rows first")


def beyond_whole(column: Any) -> bool:
    """Return whether an arrow column of floats has some beyond 2^53."""
    ends = arrow("pyarrow.compute").min_max(column).as_py()
    return ends["min"] is not None and max(ends["max"], -ends["min"]) >= LAST_WHOLE


def outcome(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the type of rows of columns of these types: float32 if all are float32, else float64."""
    return np.dtype(np.float32 if dtypes and all(d.kind == "f" and d.itemsize == 4 for d in dtypes) else np.float64)


def choose_columns(present: tuple[str, ...], wanted: tuple[str, ...] | None, name: str) -> tuple[str, ...]:
    """Return the columns to read, all for None; raise if one is absent or not unique."""
    doubles = sorted({c for c in present if present.count(c) > 1 and (wanted is None or c in wanted)})
    if doubles:
        raise ValueError(f"{name!r} has more than one column called {', '.join(map(repr, doubles))}")
    if wanted is None:
        if not present:
            raise ValueError(f"{name!r} has no columns")
        return present
    if not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(f"columns must name at least one column, and each once, got {list(wanted)}")
    absent = [c for c in wanted if c not in present]
    if absent:
        shown = ", ".join(map(repr, present[:12])) + (", \u2026" if len(present) > 12 else "")
        raise ValueError(f"{name!r} has no column {', '.join(map(repr, absent))}; it has {shown}")
    return wanted


def to_rows(
    columns: list[Any],
    names: tuple[str, ...] | None,
    name: str,
    first_row: int,
    dtype: np.dtype[Any],
    *,
    whole: frozenset[int] = frozenset(),
) -> Rows:
    """Return arrow columns of numbers or booleans as rows (m, d); raise at missing and infinite cells.

    Columns at the places ``whole`` are floats that were whole numbers in text: too large ones warn.
    """
    found = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for j, cells in enumerate(columns):
        start = 0
        for chunk in getattr(cells, "chunks", [cells]):
            found[start : start + len(chunk), j] = _cells(chunk, names[j] if names else j, name, first_row + start)
            start += len(chunk)
    check_cells(found, repr(name), names, lambda i: first_row + i)
    for j in whole:
        label = f"column {(names[j] if names else j)!r} of {name!r}"
        warn_of_huge_whole_numbers(found[:, j], label, whole=True)
    return found


def _cells(chunk: Any, column: str | int, name: str, first_row: int) -> Rows:
    if chunk.null_count:
        row = first_row + chunk.is_null().index(True).as_py()
        raise ValueError(f"{name!r} has a missing cell in row {row}, column {column!r}; drop or fill such rows first")
    is_decimal = arrow("pyarrow").types.is_decimal(chunk.type)
    cells: Rows = (chunk.cast("float64") if is_decimal else chunk).to_numpy(zero_copy_only=False)
    warn_of_huge_whole_numbers(cells, f"column {column!r} of {name!r}")
    return cells


def check_same_columns(first: str, names: Sequence[str], part: str, others: Sequence[str]) -> None:
    """Raise if two parts do not have the same columns, in any order."""
    odd = sorted(set(names) ^ set(others))
    if odd:
        raise ValueError(f"the parts {first!r} and {part!r} do not both have {', '.join(map(repr, odd))}")
