"""Dates and times in columns of text: their format, and time zones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

from btests._imports import arrow

_LIKE_DATE = re.compile(
    r"^\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?\s*$"
)

_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_CLOCKS = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S", "T%H:%M")

_FORMS = tuple(day + clock for day in _DAYS for clock in _CLOCKS)

# Days by which a month may seem longer than it is: 31 February.
_LONGER = 3

# Times with fractions of a second, or with a time zone, as in JSON.
_ISO = "ISO 8601"

# Cells of a first check.
_FIRST = 200

# Minimum share of dates in a text column for a note, if not all are dates.
_MOST = 0.9


# Names of the zone that all times are compared in.
_UTC = {"UTC", "Etc/UTC", "GMT", "Z", "+00:00", "Universal", "Zulu"}


def are_dates(texts: Sequence[Any]) -> bool:
    """Return whether nearly all of the first cells of text columns look like dates."""
    first = [cell for text in texts for cell in text.slice(0, _FIRST).to_pylist() if cell is not None]
    like = sum(_LIKE_DATE.match(cell) is not None for cell in first)
    return bool(first) and like >= _MOST * len(first)


def fitting_dates(text: Any, styles: Sequence[str] = (*_FORMS, _ISO)) -> tuple[str, ...]:
    """Return the date formats that fit every cell of a text column."""
    return tuple(form for form in styles if _fits(text, form))


def chosen_date(formats: Sequence[str], texts: Sequence[Any], name: str, notes: list[str]) -> str:
    """Return the date format of text columns that hold dates, of those that fit all cells; empty with a note if none.

    The last resort is ISO 8601.
    """
    formats = [form for form in formats if form != _ISO] or list(formats)
    if len(formats) == 1:
        notes.append(f"column {name!r} holds dates as text, read as {formats[0]}")
        return formats[0]
    if formats:
        what = "holds dates as text, with the day or the month first: taken as text"
        notes.append(f"column {name!r} {what}; days such as 2024-01-31 are clear")
    else:
        odd = _odd(texts)
        such = "" if odd is None else f" ({odd!r})"
        notes.append(f"column {name!r} holds dates as text, not all of one form{such}: taken as text")
    return ""


def note_zones(a: Any, b: Any, name: str, sides: tuple[str, str], notes: list[str]) -> None:
    """Add a note if only one of two arrow columns of times has a time zone, or if their zone is not UTC."""
    types = arrow().types
    if not (types.is_timestamp(a.type) and types.is_timestamp(b.type)):
        return
    zones = [column.type.tz for column in (a, b) if len(column)]  # of one table, the second side is empty
    if not zones:
        return
    if (zones[0] is None) != (zones[-1] is None):
        one, other = sides if zones[-1] is None else sides[::-1]
        notes.append(f"column {name!r} has a time zone in {one} and none in {other}: taken as UTC there")
    elif zones[0] is not None and not set(zones) <= _UTC:
        shown = " and ".join(dict.fromkeys(zones))
        notes.append(f"column {name!r} has times of {shown}: compared, and shown, in UTC")


def _fits(text: Any, form: str) -> bool:
    """Whether every cell is of that form."""
    first = text.slice(0, _FIRST)
    if parse_dates(first, form).null_count > first.null_count:
        return False
    return bool(parse_dates(text, form).null_count == text.null_count)


def parse_dates(column: Any, form: str) -> Any:
    """Return text as dates or times of a format, missing where it does not fit."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if form == _ISO:
        return _parsed_iso(pc.utf8_trim_whitespace(column))
    text = pc.utf8_trim_whitespace(column)
    found = pc.strptime(text, format=form, unit="s", error_is_null=True)
    found = pc.if_else(_rolls_over(text, found, form), None, found)
    # Years of two digits do not fit: 01/02/13 would be the year 13.
    year = pc.year(found)
    kept = pc.if_else(pc.and_(pc.greater_equal(year, 1000), pc.less_equal(year, 9999)), found, None)
    return kept if "%H" in form else pc.cast(kept, pa.date32())


def _rolls_over(text: Any, found: Any, form: str) -> Any:
    """Return whether cells name days that do not exist, such as 2021-02-30, which arrow takes for days of March."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    # Not those that are written as arrow writes them, nor those late in a month.
    odd = pc.and_(pc.not_equal(pc.strftime(found, format=form), text), pc.less_equal(pc.day(found), _LONGER))
    cells = pc.unique(text.filter(odd)).to_pylist()
    return pc.is_in(text, value_set=pa.array([cell for cell in cells if not _exists(cell, form)], text.type))


def _exists(cell: str, form: str) -> bool:
    try:
        datetime.strptime(cell, form)
    except ValueError:
        return False
    return True


def _parsed_iso(column: Any) -> Any:
    """Return times from ISO 8601 text, all with a time zone or all without; otherwise all missing."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    for dtype in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return pc.cast(column, dtype)
        except pa.ArrowInvalid:
            continue
    return pa.chunked_array([pa.nulls(len(column), pa.timestamp("us"))])


def _odd(texts: Sequence[Any]) -> str | None:
    """Return a cell that is not a date, or not one of the format that fits most cells; None if there is none."""
    cells: list[str] = [cell for text in texts for cell in text.to_pylist() if cell is not None]
    odd = next((cell for cell in cells if not _LIKE_DATE.match(cell)), None)
    if odd is None:
        fits = {form: sum(len(text) - parse_dates(text, form).null_count for text in texts) for form in _FORMS}
        best = max(fits, key=lambda form: fits[form])
        parsed = (date for text in texts for date in parse_dates(text, best).to_pylist())
        given = (cell for text in texts for cell in text.to_pylist())
        unread = (cell for cell, date in zip(given, parsed, strict=True) if cell is not None and date is None)
        odd = next(unread, None)
    return None if odd is None else odd[:40]
