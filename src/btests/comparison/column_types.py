"""Types of columns, made equal in both samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Context, Decimal
from importlib import import_module
from typing import Any

from btests._imports import arrow
from btests.comparison.cells import kind_of
from btests.comparison.compare_options import Options
from btests.comparison.sources import Loaded
from btests.comparison.text_dates import note_zones
from btests.comparison.text_styles import read_texts
from btests.comparison.tokens import as_categories
from btests.data.column_type import converted, remark_of

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
        rest = ", and the rest is rounded: neighbours may become equal" if most - least > _LAST else ""
        notes.append(f"column {name!r} has numbers beyond 2^53; {least} was subtracted from them{rest}")
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
        if name not in columns[1] or name in options.exclude or (options.columns and name not in options.columns):
            continue
        found = columns[0][name], columns[1][name]
        fields = one.table.schema.field(name), two.table.schema.field(name)
        remarks = set(map(remark_of, fields))
        if name in options.categories or any(_is_code(column) for column in found):
            found = as_categories(found[0]), as_categories(found[1])
        elif "codes" in remarks and all(map(_may_be_code, found)):
            notes.append(f"column {name!r} holds digits with leading zeros, as codes have: compared as categories")
            found = as_categories(found[0]), as_categories(found[1])
        else:
            *read, forms[name] = read_texts(found, fields, options.decimal, (one.name, two.name), notes)
            found = shift_huge(read[0], read[1], name, notes)
            note_zones(*found, name, (one.name, two.name), notes)
            if "rounded" in remarks and kind_of(found[0].type) == "number":
                what = "has whole numbers beyond 2^53 among others, which are rounded: neighbours may become equal"
                notes.append(f"column {name!r} {what}")
        for own, column in zip(columns, found, strict=True):
            own[name] = column
    tables = [arrow().table(list(own.values()), names=list(own)) for own in columns]
    return replace(one, table=tables[0]), replace(two, table=tables[1]), forms


def _may_be_code(column: Any) -> bool:
    """Return whether a column holds texts, or whole numbers that have lost their leading zeros."""
    types = arrow().types
    return kind_of(column.type) in ("category", "empty") or bool(
        types.is_integer(column.type) or types.is_decimal(column.type)
    )


def _is_code(column: Any) -> bool:
    """Return whether numbers were declared as categories, as in pandas."""
    types = arrow().types
    return bool(types.is_dictionary(column.type) and kind_of(column.type) == "number")
