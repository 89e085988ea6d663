"""Type inference of columns from all of their cells, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from btests._imports import arrow

# Types of text, in the order in which they are tried, as in pyarrow's CSV reader.
_TRIED = ("int64", "bool", "date32", "time32[s]", "timestamp[s]", "timestamp[ns]", "float64")

# Wider types for later cells that do not fit; all other types become text.
_WIDER = {"int64": "float64", "date32[day]": "timestamp[s]", "timestamp[s]": "timestamp[ns]"}


class MixedError(Exception):
    """A column is text, and was inferred as times before."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """Type, range and number of the cells of one column so far.

    Attributes
    ----------
    dtype : pyarrow.DataType
        The type; null before the first present cell.
    low, high : number or None
        Range of numbers.
    n_present : int
        Number of cells that are not missing.
    """

    dtype: Any
    low: Any = None
    high: Any = None
    n_present: int = 0

    @classmethod
    def nothing(cls) -> ColumnType:
        """Return the state of a column before its first cell."""
        return cls(arrow().null())

    def after(self, column: Any, is_text: bool) -> ColumnType:
        """Return the state after more cells; the type of text is one that all of it can be read as."""
        pa, pc = arrow(), import_module("pyarrow.compute")
        n_present = self.n_present + len(column) - column.null_count
        if n_present == self.n_present:
            return self if is_text else replace(self, dtype=_common(self.dtype, column.type))
        if is_text:
            dtype, column = _fitted(self.dtype, column)
        else:
            dtype = _common(self.dtype, column.type)
        if not (pa.types.is_integer(dtype) or pa.types.is_floating(dtype)) or not _is_number(column.type):
            return replace(self, dtype=dtype, n_present=n_present)
        ends = pc.min_max(column).as_py()
        low, high = (ends["min"], ends["max"]) if ends["min"] is not None else (self.low, self.high)
        if self.low is not None:
            low, high = min(self.low, low), max(self.high, high)
        return replace(self, dtype=dtype, low=low, high=high, n_present=n_present)


def converted(column: Any, dtype: Any) -> Any:
    """Return an arrow column as another type; blanks around numbers and times in text are ignored."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if column.type == dtype:
        return column
    if pa.types.is_null(dtype):  # no cell is present, and arrow casts no text to this
        return pa.nulls(len(column))
    if pa.types.is_string(column.type) and not (pa.types.is_string(dtype) or pa.types.is_large_string(dtype)):
        column = pc.utf8_trim_whitespace(column)
        if pa.types.is_time(dtype):
            return _times_of_day(column, dtype)
    return pc.cast(column, dtype)


def _times_of_day(text: Any, dtype: Any) -> Any:
    """Return text such as 12:30 and 12:30:59 as times, as pyarrow's CSV reader does; arrow has no cast for them."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    read = [pc.strptime(text, format=form, unit="s", error_is_null=True) for form in ("%H:%M:%S", "%H:%M")]
    found = pc.coalesce(*read)
    if found.null_count > text.null_count:
        raise pa.ArrowInvalid("not a time of day")
    return pc.cast(found, dtype)


def _is_number(dtype: Any) -> bool:
    types = arrow().types
    return bool(types.is_integer(dtype) or types.is_floating(dtype))


def _fitted(dtype: Any, column: Any) -> tuple[Any, Any]:
    """Return the type that fits the cells before and these, and these cells in that type."""
    pa = arrow()
    tried = [pa.type_for_alias(name) for name in _TRIED] if pa.types.is_null(dtype) else [dtype]
    while str(tried[-1]) in _WIDER:
        tried.append(pa.type_for_alias(_WIDER[str(tried[-1])]))
    for one in tried:
        if one == pa.string():
            break
        try:
            return one, converted(column, one)
        except pa.ArrowInvalid:
            continue
    return pa.string(), column


def _common(one: Any, two: Any) -> Any:
    """Return the type that holds cells of both types."""
    pa = arrow()
    if one == two or pa.types.is_null(two):
        return one
    if pa.types.is_null(one):
        return two
    texts = [pa.types.is_string(dtype) or pa.types.is_large_string(dtype) for dtype in (one, two)]
    if any(texts) and any(map(pa.types.is_temporal, (one, two))):
        raise MixedError
    try:
        both = [pa.schema([("cells", dtype)]) for dtype in (one, two)]
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise ValueError(f"{one} in some rows and {two} in others; make it one type") from None
