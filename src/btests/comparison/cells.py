"""One column of both tables: cells as numbers or level codes, and which of them are missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._imports import arrow
from btests.comparison.coordinate_means import CoordinateMeans
from btests.comparison.format import option, plain
from btests.comparison.vectors import principal_coordinates
from btests.data.record_batches import is_list
from btests.plan import Array, Index
from btests.report.number_format import MINUS, duration

Mask = npt.NDArray[np.bool_]

#: Kind of lists of numbers, as `kind_of` returns it.
VECTORS = "lists of numbers"

#: Kinds of columns.
KINDS = ("number", "boolean", "category", "time")


# The squares of larger numbers overflow.
_LARGEST = 1e150

# Whole numbers between which columns are shown as years, without separators.
_YEARS = (1500, 2199)


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of one column of both tables, those of table a first.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        One of ``KINDS``.
    values : ndarray of shape (n,)
        Numbers; seconds for times; 0 and 1 for booleans; the index of the level for categories; 0 where missing.
    missing : ndarray of bool, shape (n,)
        Mask of missing cells.
    n_a : int
        Number of cells of table a.
    levels : tuple of str
        Levels of a category, by decreasing frequency in both tables together.
    unit : str
        ``"date"``, ``"timestamp"`` or ``"time"`` for times; ``"integer"`` for whole numbers; ``"duration"`` for seconds
        of durations; else empty.
    vectors : ndarray of shape (n, k), or None
        Of a column of vectors, their coordinates, 0 where missing; ``values`` are those of the first direction.
    means : CoordinateMeans, optional
        Of a column of vectors, the means at each of their numbers.
    """

    name: str
    kind: str
    values: Array
    missing: Mask
    n_a: int
    levels: tuple[str, ...] = ()
    unit: str = ""
    vectors: Array | None = None
    means: CoordinateMeans | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def present(self) -> Mask:
        """Mask of cells that are not missing: (n,)."""
        return ~self.missing

    @property
    def has_levels(self) -> bool:
        """Whether the values are levels, and not numbers or times."""
        return self.kind in ("category", "boolean")

    @property
    def words(self) -> tuple[str, ...]:
        """Levels of a category or a boolean as text."""
        return self.levels if self.kind == "category" else ("false", "true")

    @property
    def form(self) -> str | None:
        """How numbers are shown: ``"number"``, ``"year"`` or ``"duration"``; None for other kinds."""
        if self.kind != "number":
            return None
        if self.unit == "duration":
            return self.unit
        present = self.values[self.present] if self.unit == "integer" else self.values[:0]
        is_year = present.size > 0 and _YEARS[0] <= present.min() and present.max() <= _YEARS[1]
        return "year" if is_year else "number"

    def side(self, b: bool) -> slice:
        """Return the slice of the cells of table a, or of table b."""
        return slice(self.n_a, None) if b else slice(0, self.n_a)

    def values_of(self, b: bool) -> Array:
        """Return the values of table a, or of table b, that are present."""
        return self.values[self.side(b)][~self.missing[self.side(b)]]

    def counts(self, b: bool | None = None) -> Index:
        """Return the number of cells of each level, in one table or in both: (levels,)."""
        values = self.values[self.present] if b is None else self.values_of(b)
        return np.bincount(values.astype(np.int64), minlength=max(1, len(self.words)))

    def take(self, rows: Index, n_a: int) -> Cells:
        """Return the cells of some rows, the first ``n_a`` of which are those of table a."""
        vectors = None if self.vectors is None else self.vectors[rows]
        return replace(self, values=self.values[rows], missing=self.missing[rows], n_a=n_a, vectors=vectors)

    def vectors_of(self, b: bool) -> Array | None:
        """Return the vectors of table a, or of table b, that are present; None for a column of anything else."""
        return None if self.vectors is None else self.vectors[self.side(b)][~self.missing[self.side(b)]]

    def show(self, value: float) -> str:
        """Return a value as text."""
        return show_value(value, self.kind, self.unit, self.levels)


def show_value(value: float, kind: str, unit: str, levels: Sequence[str] = ()) -> str:
    """Return a value of a column as text."""
    if kind == "category":
        return levels[int(value)]
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "time" and math.isfinite(value):
        return _show_time(value, unit)
    if unit == "duration":
        return duration(value).replace(MINUS, "-")
    if unit == "integer" and value == round(value) and abs(value) < 1e15:
        return str(int(value))
    return plain(value)


def _show_time(seconds: float, unit: str) -> str:
    if unit == "time":
        whole = int(seconds)
        return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    try:
        text = str(np.datetime64(round(seconds), "s"))
    except (OverflowError, ValueError):
        return f"{seconds:.4g} s"
    return text[:10] if unit == "date" else text.replace("T", " ")


def kind_of(dtype: Any) -> str:
    """Return the kind of an arrow type: one of ``KINDS``, ``"empty"`` for the null type, or a description."""
    t = arrow().types
    if t.is_dictionary(dtype):
        inner = kind_of(dtype.value_type)
        return "lists" if inner == VECTORS else inner
    if is_list(dtype):
        return VECTORS
    return next((kind for kind, names in _ARROW_KINDS.items() if any(getattr(t, n)(dtype) for n in names)), str(dtype))


# The first kind that fits is used: durations are both temporal and numbers, and intervals are temporal.
_ARROW_KINDS = {
    "empty": ("is_null",),
    "intervals": ("is_interval",),
    "boolean": ("is_boolean",),
    "number": ("is_integer", "is_floating", "is_decimal", "is_duration"),
    "time": ("is_temporal",),
    "category": ("is_string", "is_large_string"),
    "lists": ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view"),
    "records": ("is_struct", "is_map", "is_union"),
    "bytes": ("is_binary", "is_large_binary", "is_fixed_size_binary"),
}


def decoded(column: Any) -> Any:
    """Return an arrow column of plain values, without a dictionary of them."""
    if arrow().types.is_dictionary(column.type):
        return import_module("pyarrow.compute").cast(column, column.type.value_type)
    return column


def pool(
    name: str, a: Any, b: Any, sides: tuple[str, str] = ("a", "b"), numbered: tuple[bool, bool] = (False, False)
) -> Cells:
    """Return one column of two tables, both of one kind, as cells; ``a`` and ``b`` are arrow columns.

    Messages have numbers of rows of sides that are ``numbered``.
    """
    kinds = [kind for kind in (kind_of(a.type), kind_of(b.type)) if kind != "empty"]
    kind = kinds[0] if kinds else "number"
    if kind == "category":
        return _categories(name, a, b)
    if kind == VECTORS:
        vectors = principal_coordinates(name, [column for column in (a, b) if kind_of(column.type) == kind], sides)
        absent = np.isnan(vectors[:, 0])
        vectors[absent] = 0.0
        return Cells(name, "number", np.ascontiguousarray(vectors[:, 0]), absent, len(a), vectors=vectors)
    found = [_numbers(column, kind) for column in (a, b)]
    for (values, _), side, is_numbered in zip(found, sides, numbered, strict=True):
        bad = np.flatnonzero(np.abs(values) > _LARGEST)
        if bad.size:
            what = "an infinite number" if np.isinf(values[bad[0]]) else "a number beyond 1e150"
            row = f" in row {bad[0] + 1}" if is_numbered else ""
            raise ValueError(
                f"column {name!r} of {side} has {what}{row}; "
                f"replace such cells, or exclude the column with {option('exclude')}"
            )
    values = np.concatenate([v for v, _ in found])
    missing = np.isnan(values)
    values[missing] = 0.0
    units = {unit for _, unit in found} - {""}
    unit = "timestamp" if {"date", "timestamp"} <= units else min(units, default="")
    if kind == "number":
        own = {u for (_, u), column in zip(found, (a, b), strict=True) if kind_of(column.type) != "empty"}
        unit = own.pop() if len(own) == 1 else "" if own else "integer"
    return Cells(name, kind, values, missing, len(a), unit=unit)


# Parts of a second in the units of arrow.
_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _numbers(column: Any, kind: str) -> tuple[Array, str]:
    """Return an arrow column as float64, NaN where missing, and the unit."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    column = decoded(column)
    t, dtype = pa.types, column.type
    unit, parts = "", 1
    if kind == "time" and t.is_date(dtype):
        # Dates in milliseconds may be beyond those in days.
        days = pc.divide(pc.cast(column, pa.int64()), 86_400_000) if t.is_date64(dtype) else pc.cast(column, pa.int32())
        column, unit = pc.multiply(pc.cast(days, pa.int64()), 86_400), "date"
    elif kind == "time" and t.is_time(dtype):
        parts = _PARTS[dtype.unit]
        column, unit = pc.cast(column, pa.int32() if t.is_time32(dtype) else pa.int64()), "time"
    elif t.is_null(dtype):
        unit = "" if kind == "time" else "integer"
    elif kind == "time" or t.is_duration(dtype):
        parts = _PARTS[dtype.unit]
        column, unit = pc.cast(column, pa.int64()), "timestamp" if kind == "time" else "duration"
    elif t.is_integer(dtype):
        unit = "integer"
    if parts == 1:
        return _floats(column), unit
    # The number nearest to the time, whatever its unit: those of nanoseconds have more digits than floats.
    whole = pc.divide(column, pa.scalar(parts, column.type))
    rest = pc.subtract(column, pc.multiply(whole, pa.scalar(parts, column.type)))
    return _floats(whole) + _floats(rest) / parts, unit


def _floats(column: Any) -> Array:
    pa, pc = arrow(), import_module("pyarrow.compute")
    return np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _categories(name: str, a: Any, b: Any) -> Cells:
    pa, pc = arrow(), import_module("pyarrow.compute")
    texts = [pc.cast(decoded(column), pa.large_string()) for column in (a, b)]
    both = pa.chunked_array([chunk for text in texts for chunk in text.chunks], pa.large_string())
    coded = both.dictionary_encode().combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # of no chunks or several
        coded = pa.concat_arrays(coded.chunks) if coded.num_chunks else pa.array([], pa.large_string())
        coded = coded if pa.types.is_dictionary(coded.type) else coded.dictionary_encode()
    missing = np.asarray(coded.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    codes: Index = np.asarray(coded.indices.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    words = coded.dictionary.to_pylist()
    counts = np.bincount(codes[~missing], minlength=len(words))
    # By frequency, then by name: independent of the order of rows.
    by_name = np.asarray(pc.array_sort_indices(coded.dictionary).to_numpy(), dtype=np.int64)
    order = by_name[np.argsort(-counts[by_name], kind="stable")]
    place = np.empty(max(len(words), 1), dtype=np.int64)
    place[order] = np.arange(len(words))
    values = place[codes].astype(np.float64) if len(words) else np.zeros(len(codes))
    values[missing] = 0.0
    return Cells(name, "category", values, missing, len(a), tuple(words[i] for i in order))
