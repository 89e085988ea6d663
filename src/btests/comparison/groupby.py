"""Rows of one table in groups, by the values of a column: two sides, or all of them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._text import close_match
from btests.comparison.cells import decoded
from btests.comparison.changes import MONTHS, WEEKDAYS
from btests.comparison.compare_options import require_columns
from btests.comparison.format import counted, option, some_of
from btests.comparison.sources import Loaded
from btests.comparison.tokens import values_of
from btests.plan import Index

# Maximum number of values in a message.
_SHOWN = 20


def check_splits(whole: Loaded, by: str) -> None:
    """Raise unless a table has the column that splits it, and others to compare."""
    require_columns("by", [by], [(whole.name, whole.table.column_names)])
    if whole.table.num_columns == 1:
        raise ValueError(f"{whole.name} has no column but {by!r}")


def split_by(whole: Loaded, by: str, value_a: Any, value_b: Any) -> tuple[Loaded, Loaded]:
    """Return the rows of both sides, without the column that splits them."""
    check_splits(whole, by)
    values, schema = SideValues(by, value_a, value_b), whole.table.drop_columns([by]).schema
    parts = [values.split(batch) for batch in whole.table.to_batches()]
    before = np.cumsum([0, *(batch.num_rows for batch in whole.table.to_batches())])

    def side(key: str, text: str) -> Loaded:
        # Values of a later batch are in none of the batches before it.
        found = [(start, *part[key]) for start, part in zip(before, parts, strict=False) if key in part]
        numbers = np.concatenate([start + places for start, _, places in found])
        table = arrow().Table.from_batches([rows for _, rows, _ in found], schema)
        return Loaded(table, f"{by} = {text}", whole.origin.take(numbers))

    one, two = (side(*chosen) for chosen in values.chosen())
    return one, two


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Filter of the rows whose cell in column ``by`` has the key ``key`` (see ``key_of``)."""

    by: str
    key: str

    def rows(self, batch: Any) -> Any:
        """Return the matching rows of a batch, without column ``by``."""
        return self.numbered(batch)[0]

    def numbered(self, batch: Any) -> tuple[Any, Index]:
        """Return the matching rows of a batch, without column ``by``, and their numbers in it: (m,)."""
        values, codes = labels_of(batch, self.by)
        matches = np.array([key_of(value) == self.key for value in values] + [False])
        rest = batch.select([name for name in batch.schema.names if name != self.by])
        mask = matches[codes]
        return rest.filter(arrow().array(mask)), np.flatnonzero(mask)


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

    def split(self, batch: Any) -> dict[str, tuple[Any, Index]]:
        """Return the rows of a batch on the sides found so far and their numbers in the batch, by their keys."""
        for value in labels_of(batch, self.by)[0]:
            self.found.setdefault(key_of(value), value)
        if self.value_a is None and len(self.found) > 2:
            raise ValueError(
                f"column {self.by!r} has more than two different values ({self._shown()}), and all groups are compared "
                f"in memory only, within {option('memory')} and without {option('workers')}; say which two to compare "
                f"with {_both()}"
            )
        keys = list(self.found) if self.value_a is None else [key_of(self.value_a), key_of(self.value_b)]
        return {key: RowFilter(self.by, key).numbered(batch) for key in keys}

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
                    near = close_match(str(value), map(text_of, self.found.values()))
                    hint = f" (did you mean {near}?)" if near else ""
                    raise ValueError(f"no row has {self.by} = {value}{hint}; there are {self._shown()}")
        one, two = ((key, text_of(self.found[key])) for key in keys)
        return one, two

    def _shown(self) -> str:
        return some_of(list(map(text_of, sorted(self.found.values(), key=rank_of))), _SHOWN)


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


#: Maximum number of groups: pairs, and the draws that Holm's correction for them needs, grow with its square.
MOST_GROUPS = 50

#: Minimum rows of a group: the smallest p-value of swaps of two groups of 8 rows is 1/128, and of fewer rows hardly any
#: pair could be significant after correction for their number.
LEAST_ROWS = 8

# Maximum number of groups in a sentence.
_NAMED = 8


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of rows by the values of a column.

    Attributes
    ----------
    by : str
        The column.
    values, names : tuple
        Value and text of each group that is large enough: numbers in their order, then texts in theirs; months and
        weekdays as in a calendar.
    numbers : ndarray of int, shape (n,)
        Number of the group of each row; -1 for rows without a label, and of groups that are too small.
    small : tuple of (str, int)
        Names and rows of the groups that are too small.
    n_unlabelled : int
        Rows without a label.
    """

    by: str
    values: tuple[Any, ...]
    names: tuple[str, ...]
    numbers: Index
    small: tuple[tuple[str, int], ...]
    n_unlabelled: int

    def __len__(self) -> int:
        return len(self.names)

    def notes(self) -> list[str]:
        """Return a sentence about rows without a label, and one about groups that are too small."""
        found = []
        if n := self.n_unlabelled:
            have, were = ("has", "was") if n == 1 else ("have", "were")
            found.append(f"{counted(n, 'row')} {have} no value of {self.by!r} and {were} excluded")
        if n := len(self.small):
            have, were = ("has", "was") if n == 1 else ("have", "were")
            shown = some_of([f"{name} ({counted(rows, 'row')})" for name, rows in self.small], _NAMED)
            what = f"{counted(n, 'group')} of {self.by!r} {have} fewer than {LEAST_ROWS} rows"
            found.append(f"{what} and {were} excluded: {shown}")
        return found


def groups_of(whole: Loaded, by: str) -> Groups:
    """Return the groups of the rows of a table.

    Raises
    ------
    ValueError
        If there is no such column or no other one, if it cannot split a table, or has one value or too many.
    """
    check_splits(whole, by)
    values, codes = labels_of(whole.table, by)
    if not values:
        raise ValueError(f"column {by!r} of {whole.name} has no values; it must have one for each group")
    if len(values) == 1:
        raise ValueError(f"column {by!r} has one value, {text_of(values[0])}; it must have one for each group")
    if len(values) > MOST_GROUPS:
        shown = some_of(list(map(text_of, values)), _NAMED)
        raise ValueError(
            f"column {by!r} has {len(values)} different values ({shown}), and at most {MOST_GROUPS} groups are "
            f"compared at once; name two of them with {_both()}"
        )
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    least, order = 1, sorted(range(len(values)), key=lambda j: rank_of(values[j]))
    if len(values) > 2:  # two groups are an ordinary comparison, whatever their size
        least, order = LEAST_ROWS, _in_calendar(list(map(text_of, values))) or order
    kept = [j for j in order if counts[j] >= least]
    if len(kept) < 2:
        shown = some_of([f"{text_of(values[j])} ({counted(int(counts[j]), 'row')})" for j in order], _NAMED)
        raise ValueError(f"fewer than two groups of {by!r} have {LEAST_ROWS} rows or more: {shown}")
    place = np.full(len(values) + 1, -1)  # the last is that of rows without a label
    place[kept] = np.arange(len(kept))
    small = tuple((text_of(values[j]), int(counts[j])) for j in order if counts[j] < least)
    own = tuple(values[j] for j in kept)
    return Groups(by, own, tuple(map(text_of, own)), place[codes], small, int((codes < 0).sum()))


def _in_calendar(names: Sequence[str]) -> list[int] | None:
    """Return months or weekdays in their order, None if some names are neither.

    Examples
    --------
    >>> _in_calendar(["Mar", "jan", "Feb"]), _in_calendar(["Sunday", "Monday"]), _in_calendar(["May", "x"])
    ([1, 2, 0], [1, 0], None)
    """
    for calendar in (MONTHS, WEEKDAYS):
        place = {form.lower(): j for j, word in enumerate(calendar) for form in (word, word[:3])}
        if all(name.strip().lower() in place for name in names):
            return sorted(range(len(names)), key=lambda j: place[names[j].strip().lower()])
    return None


def labels_of(rows: Any, by: str) -> tuple[list[Any], Index]:
    """Return the different values of a column of an arrow table or batch, and the number of that of each row: (n,).

    Cells without a value, and those that are not a number, have the number -1.
    """
    pa = arrow()
    column = rows.column(rows.schema.get_field_index(by))
    try:
        coded = decoded(column).dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise ValueError(f"column {by!r} holds {column.type}, which cannot split a table") from None
    chunks = coded.unify_dictionaries().chunks if isinstance(coded, pa.ChunkedArray) else [coded]
    words = values_of(chunks[0].dictionary) if chunks else []
    values: dict[str, Any] = {}
    keys = [None if word is None or (isinstance(word, float) and math.isnan(word)) else key_of(word) for word in words]
    for key, word in zip(keys, words, strict=True):
        if key is not None:
            values.setdefault(key, word)
    number = {key: j for j, key in enumerate(values)}
    numbers = np.array([-1 if key is None else number[key] for key in keys] + [-1], dtype=np.int64)
    parts = [chunk.indices.fill_null(len(words)).to_numpy(zero_copy_only=False) for chunk in chunks]
    return list(values.values()), numbers[np.concatenate(parts)] if parts else np.zeros(0, dtype=np.int64)


def balanced_rows(numbers: Index, most: int, each: int, seed: int) -> Index:
    """Return rows drawn at random, those of no group excluded: (n,) to (m,), in increasing order.

    Of each group at most ``each`` rows are drawn, and fewer of the largest groups if all are more than ``most``. The
    draw does not depend on how groups are numbered.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.repeat([0, 1, 2, -1], [10, 4, 2, 3])
    >>> np.bincount(numbers[balanced_rows(numbers, 11, 100, 0)]).tolist()
    [5, 4, 2]
    """
    counts = np.bincount(numbers[numbers >= 0])
    limit = min(each, int(counts.max()))
    if np.minimum(counts, limit).sum() > most:
        limit = max(1, bisect_right(range(1, limit + 1), most, key=lambda t: int(np.minimum(counts, t).sum())))
    labelled = np.flatnonzero(numbers >= 0)
    if limit >= counts.max():
        return labelled
    order = np.random.default_rng([seed, 13]).permutation(labelled)
    by_group = order[np.argsort(numbers[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    place = np.arange(len(by_group)) - np.repeat(starts, counts)
    return np.sort(by_group[place < limit])
