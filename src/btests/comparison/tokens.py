"""Text markers of missing cells, numeric codes of categories, and hints at both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.comparison.cells import KINDS, decoded, kind_of
from btests.comparison.format import option, quoted_list

# Patterns of numbers, and of numbers with a decimal comma, in text.
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_COMMA_NUMBER = re.compile(r"^\s*[+-]?\d+,\d+\s*$")

# Text of columns whose other cells may be markers, by what it holds.
_PLAIN = re.compile(_NUMBER)

# Characters of cells that may be numbers: of longer ones these patterns take the square of their length.
_LONGEST_NUMBER = 400

_LIKE = {
    "numbers": re.compile(f"{_NUMBER}|{_COMMA_NUMBER.pattern}"),
    "numbers with a symbol": re.compile(
        r"^\s*[+-]?([$\u20ac\u00a3\u00a5]\s*\d[\d.,]*|\d[\d.,]*\s*[%\u2030$\u20ac\u00a3\u00a5])\s*$"
    ),
    "dates": re.compile(r"^\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b"),
}

# Those in which the comma may group digits.
_GROUPED = re.compile(r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*$")

# Cells that are read as numbers, and as times without a further look.
_OF_KIND = {"number": _NUMBER, "time": r"^\s*\d{4}-\d{2}-\d{2}([ T]\d|\s*$)|^\s*\d{1,2}:\d{2}"}

# A text column is numeric with markers if it has at most _MOST_MARKS markers and at least _LEAST_NUMBERS numbers.
_MOST_MARKS = 2
_LEAST_NUMBERS = 3
_LONGEST_MARK = 12

# Cells of a first check, of which at least half must be numbers.
_FIRST = 200

# Names of columns of whole numbers that are usually codes, and the minimum average count of each code.
_CODE_NAME = re.compile(
    r"(^|[\W_])(zip|zipcode|postcode|plz|code|type|class|category|kind|status|region|dept|store|shop|branch|sector)$",
    re.I,
)
_LEAST_OFTEN = 5.0


def mark_missing(table: Any, marks: Sequence[str]) -> Any:
    """Return an arrow table in which cells equal to one of these texts or numbers are missing.

    Text columns that are numeric or boolean without such cells are converted.
    """
    for name in table.column_names if marks else ():
        column = table[name]
        found = _without(column, marks)
        if found is not column:
            place = table.column_names.index(name)
            table = table.set_column(place, table.schema.field(place).with_type(found.type), found)
    return table


def _without(column: Any, marks: Sequence[str]) -> Any:
    cleared = clear_marks(column, marks)
    if cleared is column or kind_of(cleared.type) != "category":
        return cleared
    return _parsed(cleared)


def clear_marks(column: Any, marks: Sequence[str]) -> Any:
    """Return an arrow column in which cells equal to one of these texts or numbers are missing; itself without any."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    given, kind = column, kind_of(column.type)
    if kind in KINDS:
        column = decoded(column)
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
    """Return text as integers, floats or booleans, the first type that fits all cells; unchanged if none does."""
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
    """Return an arrow column as text, whole numbers without a decimal point; itself if it is of no kind."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if kind_of(column.type) not in KINDS:
        return column
    column = decoded(column)
    if pa.types.is_floating(column.type):
        whole = pc.cast(column, pa.int64(), safe=False)
        if pc.all(pc.equal(pc.cast(whole, column.type, safe=False), column)).as_py():
            column = whole
    return column if kind_of(column.type) == "category" else as_text(column)


def as_text(column: Any) -> Any:
    """Return an arrow column as text; booleans as 0 and 1, times of a zone that is unknown here in UTC."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    column = pc.cast(column, pa.int8()) if pa.types.is_boolean(column.type) else column
    try:
        return pc.cast(column, pa.string())
    except pa.ArrowInvalid:
        return pc.cast(pc.cast(column, pa.timestamp(column.type.unit)), pa.string())


def values_of(cells: Any) -> list[Any]:
    """Return arrow cells as Python values; times that Python does not know as text."""
    try:
        found: list[Any] = cells.to_pylist()
    except (OverflowError, ValueError):
        found = [_value_of(cells.slice(i, 1)) for i in range(len(cells))]
    return found


def _value_of(cell: Any) -> Any:
    try:
        return cell[0].as_py()
    except (OverflowError, ValueError):
        return as_text(cell)[0].as_py()


def hint_at_marks(name: str, columns: Sequence[Any]) -> str | None:
    """Return a hint if text columns hold numbers or dates except for one or two markers, such as "-" for missing."""
    pc = import_module("pyarrow.compute")
    texts = [column for column in columns if kind_of(column.type) == "category"]
    first = [word for column in texts for word in column.slice(0, _FIRST).to_pylist() if word is not None]
    first = [word[:_LONGEST_NUMBER] for word in first]
    what = next(
        (what for what, like in _LIKE.items() if 2 * sum(map(bool, map(like.match, first))) >= len(first)), None
    )
    if not first or what is None:
        return None
    words: set[str] = set()
    for column in texts:
        words.update(word for word in pc.unique(column).to_pylist() if word is not None)
    if max(map(len, words)) > _LONGEST_NUMBER:
        return None
    if what == "numbers":
        hint = _hint_at_commas(name, sorted(word for word in words if not _PLAIN.match(word)), len(words))
        if hint is not None:
            return hint
    marks = sorted(word for word in words if not (_PLAIN if what == "numbers" else _LIKE[what]).match(word))
    numbers = len(words) - len(marks)
    if not marks or len(marks) > _MOST_MARKS or numbers < max(_LEAST_NUMBERS, 3 * len(marks)):
        return None
    if max(map(len, marks)) > _LONGEST_MARK:
        return None
    shown = " and ".join(map(repr, marks))
    return (
        f"column {name!r} holds {what} but for {shown}: taken as text; "
        f"{option('missing', [mark.strip() for mark in marks])} reads such cells as missing"
    )


def _hint_at_commas(name: str, words: Sequence[str], n_all: int) -> str | None:
    """Return a hint if the words that are no numbers, among all words, are numbers with commas."""
    comma, commas = option("decimal", ","), [word for word in words if _COMMA_NUMBER.match(word)]
    if words and all(map(_GROUPED.match, words)):
        what = f"holds numbers such as {words[0]!r}, whose comma may be decimal or group digits: taken as text"
        return f"column {name!r} {what}; {option('decimal', '.')} or {comma} says which"
    if len(commas) >= _LEAST_NUMBERS and len(commas) > 0.9 * n_all:
        what = f"holds numbers with a decimal comma, such as {commas[0]!r}: taken as text"
        return f"column {name!r} {what}; in CSV files {comma} reads them as numbers"
    return None


def first_text(column: Any, kind: str, *, is_numbered: bool) -> str:
    """Return the first cell of a text column that is not of a kind, ``"number"`` or ``"time"``; empty if there is none.

    In brackets, with its row if that has a number.
    """
    pc, column = import_module("pyarrow.compute"), decoded(column)
    row = pc.index(pc.match_substring_regex(column, _OF_KIND[kind]), False).as_py()
    place = f" in row {row + 1}" if is_numbered else ""
    return "" if row < 0 else f" ({column[row].as_py()[:40]!r}{place})"


def hint_at_codes(names: Sequence[str], columns: Sequence[Any]) -> str | None:
    """Return a hint at columns of whole numbers that are codes by their names; ``columns`` are pooled values."""
    found = []
    for name, values in zip(names, columns, strict=True):
        if _CODE_NAME.search(name) and len(values) >= _LEAST_OFTEN * max(3, np.unique(values).size):
            found.append(name)
    if not found:
        return None
    advice = f"{option('categories', found)} compares as categories"
    were = "was" if len(found) == 1 else "were"
    return f"{quoted_list(found, 4)} may hold codes, and {were} compared as numbers; {advice}"
