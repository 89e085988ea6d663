"""Dates and numbers in columns of text, by one style that all cells of both tables have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from btests._imports import arrow
from btests.comparison.cells import kind_of
from btests.comparison.format import option
from btests.comparison.text_amounts import (
    ambiguous_cell,
    amount_styles,
    chosen_amount,
    described_amount,
    fitting_amounts,
    parse_amounts,
)
from btests.comparison.text_dates import are_dates, chosen_date, fitting_dates, parse_dates

# Metadata of a field: the styles that fit all rows of a file, of which the column holds some.
_STYLES = b"btests.styles"

# Styles of numbers without a symbol.
_BARE = ("#", "#.#", "#,#")

# Between styles in metadata.
_BETWEEN = "\n"


def styles_of(text: Any) -> tuple[str, ...]:
    """Return the styles of dates and numbers that fit every cell of a column of text."""
    if text.null_count == len(text):
        return ()
    return fitting_dates(text) if are_dates([text]) else amount_styles(text)


def fitting(text: Any, styles: Sequence[str]) -> tuple[str, ...]:
    """Return the styles that fit every cell of a column of text."""
    dates = tuple(style for style in styles if not _is_amount(style))
    return fitting_dates(text, dates) + fitting_amounts(text, tuple(style for style in styles if _is_amount(style)))


def with_styles(table: Any, styles: Mapping[str, Sequence[str]]) -> Any:
    """Return a table of rows that were drawn, with the styles that fit all rows of its columns of text."""
    fields = [
        field if field.name not in styles else field.with_metadata(_with(field, styles[field.name]))
        for field in table.schema
    ]
    return table.cast(arrow().schema(fields))


def _with(field: Any, styles: Sequence[str]) -> dict[bytes, Any]:
    return {**(field.metadata or {}), _STYLES: _BETWEEN.join(styles).encode()}


def read_texts(
    columns: tuple[Any, Any], fields: tuple[Any, Any], decimal: str | None, sides: tuple[str, str], notes: list[str]
) -> tuple[Any, Any, str]:
    """Return two arrow columns with dates and numbers parsed from text if both allow it, and the style, empty if not.

    Columns of times and numbers are unchanged. Columns whose ``fields`` have the styles of all rows of a file are
    judged by these.
    """
    name = fields[0].name
    is_text = [kind_of(column.type) == "category" and not _is_coded(column) for column in columns]
    others = {kind_of(column.type) for column, is_own in zip(columns, is_text, strict=True) if not is_own}
    own = {
        side: (column, _styles(column, field))
        for side, column, field, is_own in zip(sides, columns, fields, is_text, strict=True)
        if is_own and column.null_count < len(column)
    }
    style, texts = "", [column for column, _ in own.values()]
    if own and others <= {"time", "empty"} and are_dates(texts):
        style = chosen_date(_common([styles for _, styles in own.values()]), texts, name, notes)
    elif own and others <= {"number", "empty"}:
        style = _amount({side: styles for side, (_, styles) in own.items()}, texts, decimal, name, notes)
        style = "" if "number" in others and style not in _BARE else style
    if not style:
        return (*columns, "")
    if _is_amount(style):
        notes.append(f"column {name!r} holds numbers with {described_amount(style)}, read as numbers")
    a, b = (parsed(column, style) if is_own else column for column, is_own in zip(columns, is_text, strict=True))
    return a, b, style


def parsed(text: Any, style: str) -> Any:
    """Return text as dates, times or numbers, missing where it does not fit the style."""
    return parse_amounts(text, style) if _is_amount(style) else parse_dates(text, style)


def _amount(
    found: Mapping[str, Sequence[str]], texts: Sequence[Any], decimal: str | None, name: str, notes: list[str]
) -> str:
    """Return the style of numbers, of those that fit the text of each side; empty if there is none.

    With symbols, a note says why.
    """
    common = _common(list(found.values()))
    if not all(styles and _is_amount(styles[0]) for styles in found.values()):
        return ""
    style = chosen_amount(common, decimal)
    if style or all(styles[-1] in _BARE for styles in found.values()):  # `hint_at_marks` has notes on those
        return style
    if common:
        both = f"{option('decimal', '.')} or {option('decimal', ',')}"
        notes.append(
            f"column {name!r} holds numbers such as {ambiguous_cell(texts)!r}, whose mark may be decimal or group "
            f"digits: taken as text; {both} says which"
        )
    else:
        each = [f"{described_amount(styles[0])} in {side}" for side, styles in found.items()]
        notes.append(f"column {name!r} holds numbers with {' and '.join(each)}: taken as text; write them alike")
    return ""


def _common(found: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the styles that all of some have."""
    return tuple(style for style in found[0] if all(style in other for other in found))


def _styles(column: Any, field: Any) -> tuple[str, ...]:
    known = (field.metadata or {}).get(_STYLES)
    return styles_of(column) if known is None else tuple(filter(None, known.decode().split(_BETWEEN)))


def _is_amount(style: str) -> bool:
    return "#" in style


def _is_coded(column: Any) -> bool:
    return bool(arrow().types.is_dictionary(column.type))
