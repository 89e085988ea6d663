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
from btests.comparison.compare_options import require_columns
from btests.comparison.format import option
from btests.comparison.groupby import RowFilter, SideValues
from btests.comparison.sources import Loaded, good_part
from btests.comparison.table_side import Side, with_texts
from btests.data.column_type import ColumnType, MixedError
from btests.data.fragment import Fragment

Keys = npt.NDArray[np.uint64]

# Growth beyond the limits before rows are dropped, which amortises the cost.
_SPARE = 1.25

# Keys are drawn for so many rows at a time, so that the key of row i does not depend on the batches.
_STRETCH = 2**16


@dataclass(frozen=True, slots=True)
class Draw:
    """Limits of the rows drawn from each side, in rows and bytes, and the seed of the draw."""

    most_rows: int
    most_bytes: int
    seed: int


@dataclass(slots=True)
class Reservoir:
    """Uniform sample of all rows: those with the smallest random keys.

    The key of a row depends only on the seed and on its number, not on the side: swapping the tables does not change
    the sample.

    Attributes
    ----------
    draw : Draw
        Limits of the sample, and the seed of the keys.
    n_rows : int
        Number of rows added.
    """

    draw: Draw
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
        if rows > _SPARE * self.draw.most_rows or size > _SPARE * self.draw.most_bytes:
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
        if rows > self.draw.most_rows or size > self.draw.most_bytes:
            self._shrink(rows, size)
        return [table for _, table in self._pieces]

    def _size(self) -> tuple[int, int]:
        return sum(len(keys) for keys, _ in self._pieces), sum(table.nbytes for _, table in self._pieces)

    def _shrink(self, rows: int, size: int) -> None:
        """Drop the rows with the largest keys, down to the limits."""
        kept = max(2, min(self.draw.most_rows, int(rows * min(1.0, self.draw.most_bytes / max(size, 1)))))
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
                rng = np.random.Generator(
                    np.random.PCG64(np.random.SeedSequence([self.draw.seed, 21, start // _STRETCH]))
                )
                self._stretch = start, rng.integers(0, 2**64, _STRETCH, dtype=np.uint64)
            low, high = max(first, start), min(first + count, start + _STRETCH)
            found[low - first : high - first] = self._stretch[1][low - start : high - start]
        return found


# The squares of larger numbers overflow.
_LARGEST = 1e150


@dataclass(frozen=True, slots=True)
class FirstPass:
    """One side after the first pass: its files, the types of its columns, and the drawn rows as an arrow table."""

    side: Side
    types: dict[str, ColumnType]
    table: Any

    @property
    def drawn(self) -> Loaded:
        """The drawn rows."""
        is_all = self.side.where is None and self.table.num_rows == self.side.n_rows
        return Loaded(self.table, self.side.name, is_numbered=is_all and not self.side.several)


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


def first_pass(
    side: Side,
    by: tuple[str, Any, Any] | None,
    draw: Draw,
    *,
    skipped: list[str] | None,
    report: Callable[[int], None],
) -> tuple[FirstPass, ...]:
    """Read a table once: one side or, with ``by``, the column that splits it and its values, both sides.

    Damaged parts are skipped and named in ``skipped`` if it is given, and an error otherwise; ``report`` is called with
    the number of rows read so far.
    """
    if by is not None:
        require_columns("by", [by[0]], [(side.name, side.names)])
    while True:
        values = None if by is None else SideValues(*by)
        reading = _Reading(side, values, draw, report)
        own: list[str] | None = None if skipped is None else []
        try:
            side = replace(side, parts=reading.parts(own))
            break
        except _MixedColumnError as mixed:
            side = with_texts(side, mixed.column)
    if skipped is not None:
        skipped.extend(own or ())
    if values is None:
        return (_surveyed(side, reading.states[""]),)
    names = tuple(name for name in side.names if name != values.by)
    return tuple(
        _surveyed(
            replace(side, name=f"{values.by} = {text}", names=names, where=RowFilter(values.by, key)),
            reading.states[key],
        )
        for key, text in values.chosen()
    )


class _MixedColumnError(Exception):
    """A column of JSON lines holds text in some rows and times in others."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


@dataclass(slots=True)
class _Reading:
    """One pass over the parts of a table, into the state of one side or, by the values of a column, of two."""

    side: Side
    values: SideValues | None
    draw: Draw
    report: Callable[[int], None]
    states: dict[str, _State] = field(default_factory=dict)
    done: int = 0

    def parts(self, skipped: list[str] | None) -> tuple[Fragment, ...]:
        """Read all parts, and return those that are not damaged."""
        kept: list[Fragment] = []
        for part in self.side.parts:
            before = {key: own.state() for key, own in self.states.items()}
            count = good_part(partial(self._read, part), self.side.several, skipped)
            if count is not None:
                self.done += count
                for own in self.states.values():
                    own.ends[len(kept)] = own.reservoir.n_rows
                kept.append(part)
                continue
            for key in list(self.states):  # its first rows may have been read
                if key in before:
                    self.states[key].restore(before[key])
                else:
                    del self.states[key]
        if not self.done:
            why = skipped[-1] if skipped else "there is a header at most"
            raise ValueError(f"{self.side.name} has no rows that can be read: {why}")
        return tuple(kept)

    def _read(self, part: Fragment) -> int:
        count = 0
        for batch in part.batches(self.side.read if self.values is None else (*self.side.read, self.values.by)):
            for key, rows in ({"": batch} if self.values is None else self.values.split(batch)).items():
                state = self.states.setdefault(key, _State(Reservoir(self.draw)))
                _note(state, rows, part, count if self.values is None else None, self.side)
            count += batch.num_rows
            self.report(self.done + count)
        return count


def _note(state: _State, rows: Any, part: Fragment, before: int | None, side: Side) -> None:
    """Add rows to a state; ``before`` are the rows of the file before them, None if there are others between."""
    if not rows.num_rows:
        return
    for name in side.read:
        column = rows.column(rows.schema.get_field_index(name))
        seen = state.types.get(name) or ColumnType.nothing()
        try:
            found = seen.after(column, part.commas)
        except MixedError:
            raise _MixedColumnError(name) from None
        except ValueError as error:
            raise ValueError(f"column {name!r} of {side.name} has {error}") from None
        if found is not seen and found.high is not None and max(found.high, -found.low) > _LARGEST:
            raise ValueError(_too_large(found.read(column), name, part, before))
        state.types[name] = found
    state.reservoir.add(rows.select(list(side.read)))


def _too_large(column: Any, name: str, part: Fragment, before: int | None) -> str:
    values = np.asarray(column.cast(arrow().float64()).to_numpy(zero_copy_only=False))
    bad = int(np.flatnonzero(np.abs(values) > _LARGEST)[0])
    what = "an infinite number" if np.isinf(values[bad]) else "a number beyond 1e150"
    row = "" if before is None else f" in row {before + bad + 1}"
    return (
        f"column {name!r} of {part.path!r} has {what}{row}; "
        f"replace such cells, or exclude the column with {option('exclude')}"
    )


def _surveyed(side: Side, state: _State) -> FirstPass:
    types = tuple(state.types.get(name) or ColumnType.nothing() for name in side.read)
    ends = [0]
    for k in range(len(side.parts)):
        ends.append(state.ends.get(k, ends[-1]))
    counts = tuple(end - start for start, end in pairwise(ends))
    side = replace(side, types=types, n_rows=state.reservoir.n_rows, counts=counts)
    return FirstPass(side, dict(state.types), side.table(state.reservoir.tables()))
