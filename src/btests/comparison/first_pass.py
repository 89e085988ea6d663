"""First pass over files that are read in pieces: column types from all rows, and rows drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._imports import arrow
from btests.comparison.column_types import ColumnType, MixedError, converted
from btests.comparison.format import option
from btests.comparison.groupby import RowFilter, SideValues
from btests.comparison.sources import good_part
from btests.comparison.table_side import Side, with_texts
from btests.data.fragment import Fragment

Keys = npt.NDArray[np.uint64]

# Growth beyond the limits before rows are dropped, which amortises the cost.
_SPARE = 1.25

# Keys are drawn for so many rows at a time, so that the key of row i does not depend on the batches.
_STRETCH = 2**16


@dataclass(slots=True)
class Reservoir:
    """Uniform sample of all rows: those with the smallest random keys.

    The key of a row depends only on the seed and on its number, not on the side: swapping the tables does not change
    the sample.

    Attributes
    ----------
    most_rows, most_bytes : int
        Limits of the sample.
    seed : int
        Seed of the keys.
    n_rows : int
        Number of rows added.
    """

    most_rows: int
    most_bytes: int
    seed: int
    n_rows: int = 0
    _pieces: list[tuple[Keys, Any]] = field(default_factory=list)
    _below: int = 2**64
    _stretch: tuple[int, Keys] = (-1, np.empty(0, dtype=np.uint64))

    def add(self, batch: Any) -> None:
        """Add the rows of a batch."""
        keys = self._keys(batch.num_rows)
        chosen = np.flatnonzero(keys < np.uint64(self._below)) if self._below < 2**64 else np.arange(len(keys))
        if not len(chosen):
            return
        table = arrow().Table.from_batches([batch.take(arrow().array(chosen))])
        self._pieces.append((keys[chosen], table))
        rows, size = self._size()
        if rows > _SPARE * self.most_rows or size > _SPARE * self.most_bytes:
            self._shrink(rows, size)

    def state(self) -> tuple[Any, ...]:
        """Return the state for ``restore``."""
        return self.n_rows, list(self._pieces), self._below

    def restore(self, state: tuple[Any, ...]) -> None:
        """Go back to a state."""
        self.n_rows, self._pieces, self._below = state[0], list(state[1]), state[2]

    def tables(self) -> list[Any]:
        """Return the rows that were drawn, in the order in which they were added, as tables of one schema each."""
        rows, size = self._size()
        if rows > self.most_rows or size > self.most_bytes:
            self._shrink(rows, size)
        return [table for _, table in self._pieces]

    def _size(self) -> tuple[int, int]:
        return sum(len(keys) for keys, _ in self._pieces), sum(table.nbytes for _, table in self._pieces)

    def _shrink(self, rows: int, size: int) -> None:
        """Drop the rows with the largest keys, down to the limits."""
        kept = max(2, min(self.most_rows, int(rows * min(1.0, self.most_bytes / max(size, 1)))))
        keys = np.concatenate([keys for keys, _ in self._pieces])
        if kept >= len(keys):  # two rows that are beyond the limit
            return
        self._below = int(np.partition(keys, kept)[kept])
        pa = arrow()
        joined: list[tuple[list[Keys], list[Any]]] = []
        for own, table in self._pieces:
            mask = own < np.uint64(self._below)
            if not joined or joined[-1][1][0].schema != table.schema:
                joined.append(([], []))
            joined[-1][0].append(own[mask])
            joined[-1][1].append(table.filter(pa.array(mask)))
        self._pieces = [
            (np.concatenate(keys), pa.concat_tables(tables).combine_chunks()) for keys, tables in joined if keys
        ]

    def _keys(self, count: int) -> Keys:
        """Return the keys of the next ``count`` rows: (count,)."""
        found = np.empty(count, dtype=np.uint64)
        first = self.n_rows
        self.n_rows += count
        for start in range(first - first % _STRETCH, first + count, _STRETCH):
            if self._stretch[0] != start:
                rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, 21, start // _STRETCH])))
                self._stretch = start, rng.integers(0, 2**64, _STRETCH, dtype=np.uint64)
            low, high = max(first, start), min(first + count, start + _STRETCH)
            found[low - first : high - first] = self._stretch[1][low - start : high - start]
        return found


# The squares of larger numbers overflow.
_LARGEST = 1e150

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Draw:
    """Limits of the rows drawn from each side, in rows and bytes, and the seed of the draw."""

    most_rows: int
    most_bytes: int
    seed: int


@dataclass(frozen=True, slots=True)
class FirstPass:
    """One side after the first pass: its files, the types of its columns, and the drawn rows as an arrow table."""

    side: Side
    types: dict[str, ColumnType]
    table: Any


@dataclass(slots=True)
class _State:
    """State of the first pass over one side: the type of each column, and the rows drawn."""

    reservoir: Reservoir
    types: dict[str, ColumnType] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)  # cumulative rows at the end of each part that has any

    def state(self) -> tuple[Any, ...]:
        return self.reservoir.state(), dict(self.types)

    def restore(self, state: tuple[Any, ...]) -> None:
        self.reservoir.restore(state[0])
        self.types = state[1]


def first_pass(side: Side, draw: Draw, *, skipped: list[str] | None, report: Callable[[int], None]) -> FirstPass:
    """Read a side once; ``report`` is called with the number of rows read so far.

    Damaged parts are skipped and named in ``skipped`` if it is given, and an error otherwise.
    """
    while True:
        notes = _State(Reservoir(draw.most_rows, draw.most_bytes, draw.seed))
        own: list[str] | None = None if skipped is None else []
        try:
            reading = _Reading(side, lambda batch: {"": batch}, {"": notes}, report, side.read)
            parts = reading.parts(own)
            break
        except _MixedColumnError as mixed:
            side = with_texts(side, mixed.column)
    if skipped is not None:
        skipped.extend(own or ())
    return _surveyed(replace(side, parts=parts), notes)


def first_pass_by(
    side: Side,
    by: tuple[str, Any, Any],
    draw: Draw,
    *,
    skipped: list[str] | None,
    report: Callable[[int], None],
) -> tuple[FirstPass, FirstPass]:
    """Read a table that holds both sides once; ``by`` is the column that splits it, and its values."""
    if by[0] not in side.names:
        there = ", ".join(map(repr, side.names[:8]))
        raise ValueError(f"there is no column {by[0]!r} in {side.name}; there are {there}")
    while True:
        values = SideValues(*by)
        notes: dict[str, _State] = {}
        own: list[str] | None = None if skipped is None else []

        def split(batch: Any, values: SideValues = values, notes: dict[str, _State] = notes) -> dict[str, Any]:
            values.add(batch)
            keys = values.keys()
            for key in keys:
                notes.setdefault(key, _State(Reservoir(draw.most_rows, draw.most_bytes, draw.seed)))
            return {key: RowFilter(values.by, key).rows(batch) for key in keys}

        try:
            parts = _Reading(side, split, notes, report, (*side.read, by[0])).parts(own)
            break
        except _MixedColumnError as mixed:
            side = with_texts(side, mixed.column)
    if skipped is not None:
        skipped.extend(own or ())
    rest = tuple(name for name in side.names if name != by[0])
    found = []
    for key, text in values.chosen():
        own_side = replace(side, name=f"{by[0]} = {text}", names=rest, parts=parts, where=RowFilter(by[0], key))
        found.append(_surveyed(own_side, notes[key]))
    return found[0], found[1]


class _MixedColumnError(Exception):
    """A column of JSON lines holds text in some rows and times in others."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


@dataclass(slots=True)
class _Reading:
    """One pass over the parts of a side into the state of one side or two, by the column that splits them."""

    side: Side
    split: Callable[[Any], dict[str, Any]]
    notes: dict[str, _State]
    report: Callable[[int], None]
    columns: tuple[str, ...]
    done: int = 0

    def parts(self, skipped: list[str] | None) -> tuple[Fragment, ...]:
        """Read all parts, and return those that are not damaged."""
        kept: list[Fragment] = []
        for part in self.side.parts:
            before = {key: own.state() for key, own in self.notes.items()}
            count = good_part(partial(self._read, part), self.side.several, skipped)
            if count is not None:
                self.done += count
                for own in self.notes.values():
                    own.ends[len(kept)] = own.reservoir.n_rows
                kept.append(part)
                continue
            for key in list(self.notes):  # its first rows may have been read
                if key in before:
                    self.notes[key].restore(before[key])
                else:
                    del self.notes[key]
        if not self.done:
            why = skipped[-1] if skipped else "there is a header at most"
            raise ValueError(f"{self.side.name} has no rows that can be read: {why}")
        return tuple(kept)

    def _read(self, part: Fragment) -> int:
        count = 0
        for batch in part.batches(self.columns):
            for key, rows in self.split(batch).items():
                _note(self.notes[key], rows, part, count, self.side)
            count += batch.num_rows
            self.report(self.done + count)
        return count


def _note(notes: _State, rows: Any, part: Fragment, before: int, side: Side) -> None:
    if not rows.num_rows:
        return
    for name in side.read:
        column = rows.column(rows.schema.get_field_index(name))
        seen = notes.types.get(name) or ColumnType.nothing()
        try:
            found = seen.after(column, part.is_text)
        except MixedError:
            raise _MixedColumnError(name) from None
        except ValueError as error:
            raise ValueError(f"column {name!r} of {side.name} has {error}") from None
        if found is not seen and found.high is not None and max(found.high, -found.low) > _LARGEST:
            raise ValueError(_too_large(column, name, part, before))
        notes.types[name] = found
    notes.reservoir.add(rows.select(list(side.read)))


def _too_large(column: Any, name: str, part: Fragment, before: int) -> str:

    values = np.asarray(converted(column, arrow().float64()).to_numpy(zero_copy_only=False))
    bad = int(np.flatnonzero(np.abs(values) > _LARGEST)[0])
    what = "an infinite number" if np.isinf(values[bad]) else "a number beyond 1e150"
    return (
        f"column {name!r} of {part.path!r} has {what} in row {before + bad + 1}; "
        f"replace such cells, or exclude the column with {option('exclude')}"
    )


def _surveyed(side: Side, notes: _State) -> FirstPass:
    types = tuple((notes.types.get(name) or ColumnType.nothing()).dtype for name in side.read)
    ends = [0]
    for k in range(len(side.parts)):
        ends.append(notes.ends.get(k, ends[-1]))
    counts = tuple(end - start for start, end in pairwise(ends))
    side = replace(side, types=types, n_rows=notes.reservoir.n_rows, counts=counts)
    return FirstPass(side, dict(notes.types), side.table(notes.reservoir.tables()))
