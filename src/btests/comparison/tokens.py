"""Cells that say "missing" in words, numbers that are codes, and hints at both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from btests.comparison.cells import kind_of
from btests.comparison.format import option
from btests.data.optional import arrow

# What a number, or a number with a decimal comma, looks like as text.
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_COMMA_NUMBER = re.compile(r"^\s*[+-]?\d+,\d+\s*$")

# Text is numbers but for a few marks if it has at most so many marks, and at least so many different numbers.
_MOST_MARKS = 2
_LEAST_NUMBERS = 3
_LONGEST_MARK = 12

# Cells that are looked at before all of them are: of numbers half at least look like it.
_FIRST = 200

# Names of whole numbers that are codes as a rule, and how often each must be there on average to be taken as one.
_CODE_NAME = re.compile(
    r"(^|[\W_])(zip|zipcode|postcode|plz|code|type|class|category|kind|status|region|dept|store|shop|branch|sector)$",
    re.I,
)
_LEAST_OFTEN = 5.0


def mark_missing(table: Any, marks: Sequence[str]) -> Any:
    """Return an arrow table with cells that are one of these texts, or numbers, as missing.

    Text that had such cells and is numbers, or true and false, without them becomes that.
    """
    for name in table.column_names if marks else ():
        column = table[name]
        found = _without(column, marks)
        if found is not column:
            table = table.set_column(table.column_names.index(name), name, found)
    return table


def _without(column: Any, marks: Sequence[str]) -> Any:
    cleared = clear_marks(column, marks)
    if cleared is column or kind_of(cleared.type) != "category":
        return cleared
    return _parsed(cleared)


def clear_marks(column: Any, marks: Sequence[str]) -> Any:
    """Return an arrow column without the cells that are one of these texts, or numbers: itself where there are none."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    given = column
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    kind = kind_of(column.type)
    if kind == "category":
        found = pc.is_in(pc.utf8_trim_whitespace(column), pa.array(marks, column.type))
    elif kind == "number" and not pa.types.is_duration(column.type):
        numbers = [float(mark) for mark in marks if re.match(_NUMBER, mark)]
        found = pc.is_in(pc.cast(column, pa.float64(), safe=False), pa.array(numbers, pa.float64()))
    else:
        return given
    if not pc.any(found).as_py():
        return given
    return pc.if_else(found, pa.scalar(None, column.type), column)


def _parsed(text: Any) -> Any:
    """Return text as whole numbers, numbers, or true and false, whichever fits all of it first; else as it is."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if text.null_count == len(text):
        return text
    for dtype in (pa.int64(), pa.float64(), pa.bool_()):
        try:
            return pc.cast(pc.utf8_trim_whitespace(text), dtype)
        except pa.ArrowInvalid:
            continue
    return text


def as_categories(column: Any) -> Any:
    """Return an arrow column as text, whole numbers without a decimal point."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_floating(column.type):
        whole = pc.cast(column, pa.int64(), safe=False)
        if pc.all(pc.equal(pc.cast(whole, column.type), column)).as_py():
            column = whole
    return column if kind_of(column.type) == "category" else pc.cast(column, pa.string())


def hint_at_marks(name: str, columns: Sequence[Any]) -> str | None:
    """Return a sentence if text of some columns is numbers but for a mark or two, such as "-" for missing."""
    pc = import_module("pyarrow.compute")
    texts = [column for column in columns if kind_of(column.type) == "category"]
    if not texts:
        return None
    number = re.compile(_NUMBER)
    first = [word for column in texts for word in column.slice(0, _FIRST).to_pylist() if word is not None]
    if 2 * sum(bool(number.match(word) or _COMMA_NUMBER.match(word)) for word in first) < len(first):
        return None
    words: set[str] = set()
    for column in texts:
        words.update(word for word in pc.unique(column).to_pylist() if word is not None)
    marks = sorted(word for word in words if not number.match(word))
    commas = [word for word in marks if _COMMA_NUMBER.match(word)]
    if len(commas) >= _LEAST_NUMBERS and len(commas) > 0.9 * len(words):
        return f"column {name!r} holds numbers with a decimal comma, such as {commas[0]!r}: taken as text"
    numbers = len(words) - len(marks)
    if not marks or len(marks) > _MOST_MARKS or numbers < max(_LEAST_NUMBERS, 3 * len(marks)):
        return None
    if max(map(len, marks)) > _LONGEST_MARK:
        return None
    shown = " and ".join(map(repr, marks))
    return (
        f"column {name!r} holds numbers but for {shown}: taken as text; "
        f"{option('missing', [mark.strip() for mark in marks])} reads such cells as missing"
    )


def first_text(column: Any) -> str:
    """Return the first cell of a column of text that is no number, and its row, in brackets; empty without one."""
    pc = import_module("pyarrow.compute")
    if arrow().types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    row = pc.index(pc.match_substring_regex(column, _NUMBER), False).as_py()
    return "" if row < 0 else f" ({column[row].as_py()[:40]!r} in row {row + 1})"


def hint_at_codes(names: Sequence[str], columns: Sequence[Any]) -> str | None:
    """Return a sentence on columns of whole numbers, pooled values of each, that are codes by their names."""
    found = []
    for name, values in zip(names, columns, strict=True):
        if _CODE_NAME.search(name) and len(values) >= _LEAST_OFTEN * max(3, np.unique(values).size):
            found.append(name)
    if not found:
        return None
    shown = ", ".join(map(repr, found[:4])) + (f" and {len(found) - 4} more" if len(found) > 4 else "")
    advice = f"{option('categories', found)} compares as categories"
    return f"{shown} may hold codes, and {'was' if len(found) == 1 else 'were'} compared as numbers; {advice}"
