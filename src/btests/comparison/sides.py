"""One table with a column that says which side a row is on."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from btests.comparison.sources import Loaded
from btests.comparison.wording import option
from btests.data.optional import arrow


def split_by(whole: Loaded, by: str, value_a: Any, value_b: Any) -> tuple[Loaded, Loaded]:
    """Return the rows of both sides, without the column that told them apart."""
    pa = arrow()
    pc = import_module("pyarrow.compute")
    names, both = whole.table.column_names, f"{option('value_a')} and {option('value_b')}"
    if by not in names:
        raise ValueError(f"there is no column {by!r} in {whole.name}; there are {', '.join(map(repr, names[:8]))}")
    column = whole.table[by]
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    try:
        values = [value for value in pc.unique(column).to_pylist() if value is not None]
    except pa.ArrowNotImplementedError:
        raise ValueError(f"column {by!r} of {whole.name} holds {column.type}, which does not tell sides") from None
    if (value_a is None) != (value_b is None):
        raise ValueError(f"{both} go together: name the values of {by!r} for both sides, or none")
    if value_a is None:
        if len(values) != 2:
            shown = ", ".join(_text(v) for v in values[:6]) + (", ..." if len(values) > 6 else "")
            raise ValueError(
                f"column {by!r} has {len(values)} different values ({shown}); say which two to compare with {both}"
            )
        chosen = sorted(values)
    else:
        chosen = [_found(value, values, by) for value in (value_a, value_b)]
        if chosen[0] == chosen[1]:
            raise ValueError(f"{both} are the same value of {by!r}, {_text(chosen[0])}")
    sides = []
    for value in chosen:
        rows = whole.table.filter(pc.equal(column, pa.scalar(value, column.type))).drop_columns([by])
        sides.append(Loaded(rows, f"{by} = {_text(value)}"))
    if not sides[0].table.num_columns:
        raise ValueError(f"{whole.name} has no column but {by!r}")
    return sides[0], sides[1]


def _found(value: Any, values: list[Any], by: str) -> Any:
    """Return the value of the column that was meant: equal, or the same text, or the same number."""
    for candidate in values:
        if candidate == value or _text(candidate) == str(value) or _number(candidate) == _number(value):
            return candidate
    shown = ", ".join(_text(v) for v in values[:8]) + (", ..." if len(values) > 8 else "")
    raise ValueError(f"no row has {by} = {value}; there are {shown}")


def _number(value: Any) -> float | object:
    try:
        return object() if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return object()


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
