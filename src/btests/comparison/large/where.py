"""Which rows are on which side, where one table holds both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests.comparison.wording import option
from btests.data.optional import arrow

# Values that a message shows, at most.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Where:
    """The rows of a batch whose cell in one column is a certain value, as text or as a number."""

    by: str
    key: str

    def rows(self, batch: Any) -> Any:
        """Return those rows of a batch, without that column."""
        coded = batch.column(batch.schema.get_field_index(self.by)).dictionary_encode()
        right = np.array([key_of(value) == self.key for value in coded.dictionary.to_pylist()] + [False])
        codes = coded.indices.fill_null(len(right) - 1).to_numpy(zero_copy_only=False)
        rest = batch.select([name for name in batch.schema.names if name != self.by])
        return rest.filter(arrow().array(right[codes]))


@dataclass(slots=True)
class Values:
    """The values of a column that tells sides apart, as they come."""

    by: str
    value_a: Any
    value_b: Any
    found: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value_a is None) != (self.value_b is None):
            raise ValueError(f"{_both()} go together: name the values of {self.by!r} for both sides, or none")
        if self.value_a is not None and key_of(self.value_a) == key_of(self.value_b):
            raise ValueError(f"{_both()} are the same value of {self.by!r}, {self.value_a}")

    def keys(self, batch: Any) -> list[str]:
        """Return the keys of the sides that have rows so far, two at most, after a look at some more rows."""
        for value in batch.column(batch.schema.get_field_index(self.by)).unique().to_pylist():
            if value is not None:
                self.found.setdefault(key_of(value), value)
        if self.value_a is not None:
            return [key_of(self.value_a), key_of(self.value_b)]
        if len(self.found) > 2:
            shown = ", ".join(map(_text, list(self.found.values())[:3]))
            raise ValueError(
                f"column {self.by!r} has more than two different values ({shown}, ...); say which two to compare "
                f"with {_both()}"
            )
        return list(self.found)

    def chosen(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the keys of the two sides, and what to call their values."""
        if self.value_a is None:
            if len(self.found) != 2:
                shown = ", ".join(map(_text, self.found.values()))
                raise ValueError(f"column {self.by!r} has one value, {shown}; it must have one for each side")
            keys = sorted(self.found, key=lambda key: _rank(self.found[key]))
        else:
            keys = [key_of(self.value_a), key_of(self.value_b)]
            for key, value in zip(keys, (self.value_a, self.value_b), strict=True):
                if key not in self.found:
                    shown = ", ".join(map(_text, list(self.found.values())[:_SHOWN]))
                    raise ValueError(f"no row has {self.by} = {value}; there are {shown}")
        return tuple((key, _text(self.found[key])) for key in keys)  # type: ignore[return-value]


def key_of(value: Any) -> str:
    """Return what two cells have in common that say the same: 1, 1.0 and "1", or True and "true"."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


def _rank(value: Any) -> tuple[int, float, str]:
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0.0, str(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _both() -> str:
    return f"{option('value_a')} and {option('value_b')}"
