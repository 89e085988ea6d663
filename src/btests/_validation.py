"""Validation of data of users; all other modules assume validated data."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._coordinates import is_vectors, stacked, with_coordinates
from btests._option_checks import as_array
from btests._text import ENCODING, brief, converting, printable
from btests._warnings import PrecisionWarning, warn

Rows = npt.NDArray[Any]

# Look for NaN in slices of this many numbers: the mask of all data at once would cost an eighth of them in memory.
_SLICE = 2**20

#: Every integer up to this is exact as a float64.
LAST_WHOLE = 2**53

#: Larger cells would overflow in a difference.
LARGEST = np.float64(1e300)


def check_samples(x: object, y: object, *, objects_allowed: bool, objects_wanted: bool = False) -> tuple[Rows, Rows]:
    """Return both samples as (n, d) floats, or as (n,) objects where a kernel for them was given."""
    for name, value in (("x", x), ("y", y)):
        _refuse_other_things(name, value)
    names_x, names_y = column_names(x), column_names(y)
    if names_x is not None and names_y is not None:
        rows_x = _frame_rows("x", x, names_x, names_x)
        rows_y = _frame_rows("y", y, names_y, _matched(names_x, names_y))
    else:
        wanted = objects_wanted and not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray))
        rows_x = _rows("x", x, names_x, objects_allowed, wanted)
        rows_y = _rows("y", y, names_y, objects_allowed, wanted)
    if (rows_x.dtype == object) != (rows_y.dtype == object):
        raise TypeError("one sample holds numbers and the other does not; both must be of one kind")
    for name, rows in (("x", rows_x), ("y", rows_y)):
        if len(rows) < 2:
            raise ValueError(f"{name} has {_count(len(rows), 'row')}; a test needs at least 2 rows in each sample")
    if rows_x.dtype != object:
        _check_numbers(rows_x, rows_y, names_x, names_y)
        if rows_x.dtype != rows_y.dtype:  # one float32, one float64
            rows_x, rows_y = rows_x.astype(np.float64), rows_y.astype(np.float64)
    return rows_x, rows_y


def check_batch(name: str, batch: object) -> Rows:
    """Return some rows of a sample as (m, d) floats; there may be none."""
    _refuse_other_things(name, batch)
    rows = _rows(name, batch, column_names(batch), False, False, numbers_only=True)
    if len(rows):
        _check_cells(name, rows, column_names(batch))
    return rows


def _refuse_other_things(name: str, value: object) -> None:
    if value is None or isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"{name} must hold at least 2 rows, got {brief(value)}")
    if isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(
            f"{name} must be the data, not {brief(value)}; read the file first, with numpy.load or pandas.read_csv"
        )
    if hasattr(type(value), "toarray") and hasattr(type(value), "nnz"):
        raise TypeError(f"{name} is a sparse matrix; pass {name}.toarray()")
    if hasattr(type(value), "collect") and hasattr(type(value), "collect_schema"):
        raise TypeError(f"{name} is a lazy frame; pass {name}.collect()")
    if isinstance(value, (dict, set)):
        raise TypeError(f"{name} must be an array, a data frame or a sequence, got a {type(value).__name__}")
    rows = value if isinstance(value, (list, tuple)) and value and np.ma.isMaskedArray(value[0]) else [value]
    if any(np.ma.isMaskedArray(row) and np.ma.is_masked(row) for row in rows):
        raise ValueError(f"{name} has masked cells; drop or fill those rows first")


def column_names(value: object) -> list[str] | None:
    """Return the column names of a data frame (pandas, polars, pyarrow, ...), None for anything else."""
    if not hasattr(value, "__getitem__") or not hasattr(value, "columns"):
        return None
    # pyarrow has them in column_names; ask the type, for a pandas column may be called that.
    names = getattr(value, "column_names" if hasattr(type(value), "column_names") else "columns")
    return None if names is None else list(names)


def coordinates_of(name: str, value: Any) -> Any:
    """Return a sample in memory, with a column for each coordinate of its columns of vectors if it is a data frame."""
    is_elsewhere = hasattr(type(value), "collect_schema") and hasattr(type(value), "collect")
    if is_elsewhere or not hasattr(type(value), "__getitem__") or type(value).__module__.startswith("dask"):
        return value
    with converting(name):
        names = column_names(value)
    return value if names is None or len(set(map(str, names))) < len(names) else with_coordinates(name, value, names)


def _matched(names_x: list[str], names_y: list[str]) -> list[str]:
    for name, names in (("x", names_x), ("y", names_y)):
        _refuse_doubles(name, names)
    check_names(names_x, names_y)
    return names_x


def check_names(
    names_x: Sequence[str], names_y: Sequence[str], x: str = "x", y: str = "y", both: str = "the two samples"
) -> None:
    """Raise unless two samples have the same columns, in whatever order."""
    only_x = [printable(str(c)) for c in names_x if c not in names_y]
    only_y = [printable(str(c)) for c in names_y if c not in names_x]
    if only_x or only_y:
        parts = [f"only in {n}: {', '.join(c)}" for n, c in ((x, only_x), (y, only_y)) if c]
        raise ValueError(f"{both} must have the same columns; {'; '.join(parts)}")


def _refuse_doubles(name: str, columns: list[str]) -> None:
    comparable = [
        math.nan if isinstance(c, float) and math.isnan(c) else c for c in columns
    ]  # NaN is not equal to itself
    doubles = sorted({printable(str(c)) for c in comparable if comparable.count(c) > 1})
    if doubles:
        raise ValueError(f"{name} has more than one column called {', '.join(doubles)}; rename or drop them")


def _frame_rows(name: str, frame: Any, present: list[str], wanted: list[str]) -> Rows:
    _refuse_doubles(name, present)
    columns = []
    for column in wanted:
        with converting(f"column {brief(column)} of {name}"):
            cells = np.asarray(frame[column])
        if cells.dtype.kind not in "biuf":
            where = f"column {column!r} of {name}"
            _refuse_missing(where, cells)
            raise TypeError(f"{where} holds {cells.dtype}, not numbers; encode or drop it{ENCODING}")
        warn_of_huge_whole_numbers(cells, f"column {column!r} of {name}")
        columns.append(cells.astype(np.float64))
    if not columns:
        raise ValueError(f"{name} has no columns")
    return np.column_stack(columns)


def _rows(
    name: str,
    value: Any,
    names: list[str] | None,
    objects_allowed: bool,
    objects_wanted: bool,
    *,
    numbers_only: bool = False,
) -> Rows:
    if names is not None:
        return _frame_rows(name, value, names, names)
    if objects_wanted or (objects_allowed and isinstance(value, np.ndarray) and value.ndim > 2):
        return _objects(name, value)  # a list of tuples or of numbers stays one; so do images
    if isinstance(value, (list, tuple)):
        try:
            array = np.asarray(value)
        except ValueError:  # ragged: sequences of different lengths
            array = np.empty(0, dtype=object)
    else:
        array = as_array(name, value)
    if array.dtype == object and array.ndim == 1 and not objects_allowed and is_vectors(array):
        array = stacked(name, array)
    if array.dtype.kind in "biuf":
        if array.ndim not in (1, 2):
            _refuse_listed_batches(name, value)
            more = f"; {name}.reshape(len({name}), -1) makes a row of each" if array.ndim > 2 else ""
            raise ValueError(f"{name} must have rows and columns, (n, d) or (n,), got shape {array.shape}{more}")
        if array.ndim == 2 and array.shape[1] == 0:
            raise ValueError(f"{name} has no columns")
        warn_of_huge_whole_numbers(array, name)
        rows = array.reshape(len(array), -1) if len(array) else array.reshape(0, 1)
        return np.ascontiguousarray(rows, dtype=np.float32 if rows.dtype == np.float32 else np.float64)
    if array.size == 0 and isinstance(value, Sequence) and len(value) == 0:
        return np.empty((0, 1))
    if not objects_allowed:
        _refuse_listed_batches(name, value)
        _refuse_missing(name, array)
        if array.dtype.kind == "c":
            raise TypeError(f"{name} holds complex numbers; give their real and imaginary parts as columns")
        remedy = "" if numbers_only else ", or give a kernel for such objects, e.g. kernel=btests.Pairwise(function)"
        held = array.dtype if array.size else "rows of different lengths"
        raise TypeError(f"{name} does not hold numbers ({held}); encode it as numbers{remedy}")
    return _objects(name, value)


def _refuse_missing(name: str, cells: Rows) -> None:
    """Say so where cells are objects because one of them is missing: None, or pandas' NA."""
    if cells.dtype != object:
        return
    for place in np.ndindex(cells.shape) if cells.ndim else ():
        if cells[place] is None or type(cells[place]).__name__ == "NAType":
            raise ValueError(f"{name} has a missing cell in row {place[0]}; drop or fill such rows first")


def _refuse_listed_batches(name: str, value: Any) -> None:
    """Say how batches are given, where this is a list of them, or of batches of both samples side by side."""
    if not isinstance(value, (list, tuple)) or not len(value):
        return
    first = value[0]
    if getattr(first, "ndim", 0) >= 2:
        raise TypeError(
            f"{name} is a list of arrays; give numpy.concatenate({name}), or iter({name}) if they are batches to read "
            "one after another"
        )
    if isinstance(first, (list, tuple)) and len(first) > 1 and all(getattr(one, "ndim", 0) >= 1 for one in first):
        raise TypeError(
            f"{name} is a list of tuples of arrays; if they are batches of both samples, give each sample by itself: "
            "btest((pair[0] for pair in pairs), (pair[1] for pair in pairs))"
        )


def warn_of_huge_whole_numbers(cells: Rows, label: str, *, whole: bool = False) -> None:
    """Warn if integers, or floats that were ``whole`` numbers in text, are too large to be exact as floats."""
    if not cells.size or not (whole or (cells.dtype.kind in "iu" and cells.dtype.itemsize == 8)):
        return
    largest = max(int(cells.max()), -int(cells.min()))
    # As a float, 2^53 may have been its neighbour.
    if largest > LAST_WHOLE - whole:
        warn(
            f"{label} has whole numbers up to {largest:.3g}; beyond 2^53 floats cannot tell neighbours apart: "
            "subtract a common offset first",
            PrecisionWarning,
        )


def _objects(name: str, value: Any) -> Rows:
    if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a sequence of objects, got {type(value).__name__}")
    with converting(name):
        items = list(value)
    rows = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        rows[i] = item
    return rows


def _check_numbers(x: Rows, y: Rows, names_x: list[str] | None, names_y: list[str] | None) -> None:
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"x has {_count(x.shape[1], 'column')} and y has {y.shape[1]}; they must have the same")
    # Columns of y are in the order of those of x where both have names.
    for name, rows, names in (("x", x, names_x), ("y", y, names_x if names_x and names_y else names_y)):
        _check_cells(name, rows, names)


def _check_cells(name: str, rows: Rows, names: list[str] | None) -> None:
    step = max(1, _SLICE // rows.shape[1])
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        if part.min() >= -LARGEST and part.max() <= LARGEST:  # False for NaN
            continue
        row, column = np.argwhere(~(np.abs(part) <= LARGEST))[0]
        cell = float(part[row, column])
        place = f"cell in row {start + row}, column {column if names is None else repr(str(names[column]))}"
        if math.isfinite(cell):
            raise ValueError(f"{name} has a {place} beyond 1e300, {cell:g}; scale the data down")
        kind = "a NaN" if math.isnan(cell) else "an infinite"
        raise ValueError(f"{name} has {kind} {place}; drop or fill such rows first")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
