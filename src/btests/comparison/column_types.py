"""Types of columns: inferred from parts of a table, and made equal in both samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from importlib import import_module
from typing import Any

from btests._imports import arrow
from btests.comparison.cells import kind_of
from btests.comparison.compare_options import Options
from btests.comparison.sources import Loaded
from btests.comparison.text_dates import note_zones, read_dates
from btests.comparison.tokens import as_categories

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
        pc = import_module("pyarrow.compute")
        n_present = self.n_present + len(column) - column.null_count
        if n_present == self.n_present:
            return self if is_text else replace(self, dtype=_common(self.dtype, column.type))
        if is_text:
            dtype, column = _fitted(self.dtype, column)
        else:
            dtype = _common(self.dtype, column.type)
        if not (_is_number(dtype) and _is_number(column.type)):
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


# Every integer up to this is exact as a float64.
_LAST = 2**53

# Digits of decimals whose differences are taken; these have one more, and decimal256 has 76.
_DIGITS = 75

# Arithmetic with all of them.
_MANY = Context(prec=_DIGITS + 1)


def shift_huge(a: Any, b: Any, name: str, notes: list[str]) -> tuple[Any, Any]:
    """Return two arrow columns, minus a common offset if their integers or decimals are not exact as floats."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    decimals = [column.type for column in (a, b) if pa.types.is_decimal(column.type)]
    if not all(pa.types.is_integer(column.type) or pa.types.is_decimal(column.type) for column in (a, b)):
        return a, b
    wide = pa.decimal256(_DIGITS, max(dtype.scale for dtype in decimals)) if decimals else None
    given = a, b
    if wide is not None:  # narrow decimals have no extremes in pyarrow
        try:
            given = a.cast(wide), b.cast(wide)
        except pa.ArrowInvalid:  # more digits
            return a, b
    ends = [end for column in given for end in pc.min_max(column).as_py().values() if end is not None]
    if not ends or max(map(abs, ends)) <= _LAST:
        return a, b
    least, most = min(ends), max(ends)
    if wide is not None:
        notes.append(f"column {name!r} has numbers beyond 2^53; {least} was subtracted from them")
        one, two = (pc.subtract(column, pa.scalar(least, wide)).cast(pa.float64()) for column in given)
        return one, two
    if most - least > _LAST or (least < 0 and most >= 2**63):
        notes.append(f"column {name!r} has whole numbers beyond 2^53, which are rounded: neighbours may become equal")
        return a, b
    notes.append(f"column {name!r} has whole numbers beyond 2^53; {least} was subtracted from them")
    whole = pa.uint64() if most >= 2**63 else pa.int64()
    one, two = (pc.subtract(pc.cast(column, whole), pa.scalar(least, whole)) for column in (a, b))
    return one, two


def offset_of(before: Any, after: Any) -> int | Decimal:
    """Return what was subtracted from whole numbers or decimals; of the least difference, which is the most exact."""
    pc = import_module("pyarrow.compute")
    least = pc.min(after).as_py()
    if least is None:
        return 0
    place = pc.index(after, least).as_py()
    if arrow().types.is_decimal(before.type):
        unit = Decimal(1).scaleb(-before.type.scale)
        return _MANY.subtract(before[place].as_py(), Decimal(after[place].as_py()).quantize(unit, context=_MANY))
    return int(before[place].as_py()) - int(after[place].as_py())


def without_offset(column: Any, offset: Any) -> Any:
    """Return whole numbers minus an offset as int64; raise `pyarrow.ArrowInvalid` where that does not hold them.

    Of decimals the differences, as float64.
    """
    pa, pc = arrow(), import_module("pyarrow.compute")
    if pa.types.is_decimal(column.type):
        wide = pa.decimal256(_DIGITS, column.type.scale)
        return pc.subtract(column.cast(wide), pa.scalar(offset, wide)).cast(pa.float64())
    if pa.types.is_uint64(column.type):
        # Without its highest bit, what remains of a number is itself minus 2^63, bit for bit.
        flipped = pc.bit_wise_xor(column, pa.scalar(2**63, pa.uint64()))
        column, offset = pc.cast(flipped, pa.int64(), safe=False), offset - 2**63
    return pc.subtract_checked(converted(column, pa.int64()), pa.scalar(offset, pa.int64()))


def prepared(one: Loaded, two: Loaded, options: Options, notes: list[str]) -> tuple[Loaded, Loaded, Mapping[str, str]]:
    """Return both tables with codes as text, dates parsed and integers exact as floats, and the formats of dates."""
    forms: dict[str, str] = {}
    names = one.table.column_names, two.table.column_names
    columns = dict(zip(names[0], one.table.columns, strict=True)), dict(zip(names[1], two.table.columns, strict=True))
    for name in names[0]:
        if name not in columns[1]:
            continue
        found = columns[0][name], columns[1][name]
        if name in options.categories or any(_is_code(column) for column in found):
            found = as_categories(found[0]), as_categories(found[1])
        else:
            *dated, forms[name] = read_dates(*found, name, notes)
            found = shift_huge(dated[0], dated[1], name, notes)
            note_zones(*found, name, (one.name, two.name), notes)
        for own, column in zip(columns, found, strict=True):
            own[name] = column
    tables = [arrow().table(list(own.values()), names=list(own)) for own in columns]
    return Loaded(tables[0], one.name), Loaded(tables[1], two.name), forms


def _is_code(column: Any) -> bool:
    """Return whether numbers were declared as categories, as in pandas."""
    types = arrow().types
    return bool(types.is_dictionary(column.type) and kind_of(column.type) == "number")
