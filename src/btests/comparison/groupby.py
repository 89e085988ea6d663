"""Two sides in one table: rows split by the values of a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.comparison.format import option
from btests.comparison.sources import Loaded
from btests.comparison.tokens import values_of

# Maximum number of values in a message.
_SHOWN = 8


def check_splits(whole: Loaded, by: str) -> None:
    """Raise unless a table has the column that splits it, and others to compare."""
    if by not in whole.table.column_names:
        there = ", ".join(map(repr, whole.table.column_names[:_SHOWN]))
        raise ValueError(f"there is no column {by!r} in {whole.name}; there are {there}")
    if whole.table.num_columns == 1:
        raise ValueError(f"{whole.name} has no column but {by!r}")


def split_by(whole: Loaded, by: str, value_a: Any, value_b: Any) -> tuple[Loaded, Loaded]:
    """Return the rows of both sides, without the column that splits them."""
    check_splits(whole, by)
    table = whole.table
    values, batches = SideValues(by, value_a, value_b), table.to_batches()
    for batch in batches:
        values.add(batch)
    schema = table.drop_columns([by]).schema
    one, two = (
        Loaded(
            arrow().Table.from_batches([RowFilter(by, key).rows(batch) for batch in batches], schema), f"{by} = {text}"
        )
        for key, text in values.chosen()
    )
    return one, two


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Filter of the rows whose cell in column ``by`` has the key ``key`` (see ``key_of``)."""

    by: str
    key: str

    def rows(self, batch: Any) -> Any:
        """Return the matching rows of a batch, without column ``by``."""
        coded = batch.column(batch.schema.get_field_index(self.by)).dictionary_encode()
        right = np.array([key_of(value) == self.key for value in values_of(coded.dictionary)] + [False])
        codes = coded.indices.fill_null(len(right) - 1).to_numpy(zero_copy_only=False)
        rest = batch.select([name for name in batch.schema.names if name != self.by])
        return rest.filter(arrow().array(right[codes]))


@dataclass(slots=True)
class SideValues:
    """Values of the column that splits a table into sides, collected batch by batch."""

    by: str
    value_a: Any
    value_b: Any
    found: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value_a is None) != (self.value_b is None):
            raise ValueError(f"{_both()} go together: name the values of {self.by!r} for both sides, or none")
        if self.value_a is not None and key_of(self.value_a) == key_of(self.value_b):
            raise ValueError(f"{_both()} are the same value of {self.by!r}, {self.value_a}")

    def add(self, batch: Any) -> None:
        """Add the values of a batch."""
        column = batch.column(batch.schema.get_field_index(self.by))
        try:
            values = values_of(column.unique())
        except arrow().ArrowNotImplementedError:
            raise ValueError(f"column {self.by!r} holds {column.type}, which cannot split a table") from None
        for value in values:
            if value is not None:
                self.found.setdefault(key_of(value), value)
        if self.value_a is None and len(self.found) > 2:
            raise ValueError(
                f"column {self.by!r} has more than two different values ({self._shown()}), and all groups are compared "
                f"in memory only, within {option('memory')} and without {option('workers')}; say which two to compare "
                f"with {_both()}"
            )

    def keys(self) -> list[str]:
        """Return the keys of the sides found so far, at most two."""
        return list(self.found) if self.value_a is None else [key_of(self.value_a), key_of(self.value_b)]

    def chosen(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the key and the text of the value of each side."""
        if self.value_a is None:
            if len(self.found) != 2:
                raise ValueError(f"column {self.by!r} has one value, {self._shown()}; it must have one for each side")
            keys = sorted(self.found, key=lambda key: rank_of(self.found[key]))
        else:
            keys = [key_of(self.value_a), key_of(self.value_b)]
            for key, value in zip(keys, (self.value_a, self.value_b), strict=True):
                if key not in self.found:
                    raise ValueError(f"no row has {self.by} = {value}; there are {self._shown()}")
        one, two = ((key, text_of(self.found[key])) for key in keys)
        return one, two

    def _shown(self) -> str:
        texts = [text_of(value) for value in self.found.values()]
        return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


def key_of(value: Any) -> str:
    """Return a text key that is equal for equal values, such as 1, 1.0 and "1", or True and "true"."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    try:
        return repr(float(value))
    except (TypeError, ValueError, OverflowError):
        return str(value)


def rank_of(value: Any) -> tuple[int, float, str]:
    """Return a key that sorts numbers by value, before texts by letters."""
    try:
        return 0, float(value), ""
    except (TypeError, ValueError, OverflowError):
        return 1, 0.0, str(value)


def text_of(value: Any) -> str:
    """Return a value as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _both() -> str:
    return f"{option('value_a')} and {option('value_b')}"
