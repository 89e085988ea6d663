"""First pass over files that are read in pieces: column types from all rows, and rows drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.comparison.cells import kind_of
from btests.comparison.compare_options import require_columns
from btests.comparison.format import option
from btests.comparison.groupby import RowFilter, SideValues
from btests.comparison.identifiers import DistinctCount
from btests.comparison.reservoir import Draw, Reservoir
from btests.comparison.row_origin import RowOrigin
from btests.comparison.sources import Loaded, good_part
from btests.comparison.table_side import TableSide, with_texts
from btests.comparison.text_styles import fitting, styles_of, with_styles
from btests.comparison.tokens import clear_marks
from btests.data.column_type import ColumnType, MixedError, remark_of
from btests.data.fragment import Fragment

# The squares of larger numbers overflow.
_LARGEST = 1e150


@dataclass(frozen=True, slots=True)
class FirstPass:
    """One side after the first pass: its files, what all rows of its columns are, the drawn rows and where they are."""

    side: TableSide
    types: dict[str, ColumnType]
    distinct: dict[str, DistinctCount]
    table: Any
    origin: RowOrigin

    @property
    def drawn(self) -> Loaded:
        """The drawn rows."""
        return Loaded(self.table, self.side.name, self.origin)


@dataclass(slots=True)
class _State:
    """State of the first pass over one side: the type of each column, and the rows drawn."""

    reservoir: Reservoir
    types: dict[str, ColumnType] = field(default_factory=dict)
    styles: dict[str, tuple[str, ...]] = field(default_factory=dict)  # those that fit all cells of columns of text
    distinct: dict[str, DistinctCount] = field(default_factory=dict)  # of texts and whole numbers
    ends: dict[int, int] = field(default_factory=dict)  # cumulative rows at the end of each part that has any

    def state(self) -> tuple[Any, ...]:
        return self.reservoir.state(), dict(self.types), dict(self.styles), dict(self.distinct)

    def restore(self, state: tuple[Any, ...]) -> None:
        self.reservoir.restore(state[0])
        self.types, self.styles, self.distinct = state[1:]


def first_pass(
    side: TableSide,
    by: tuple[str, Any, Any] | None,
    draw: Draw,
    *,
    marks: tuple[str, ...] = (),
    skipped: list[str] | None,
    report: Callable[[int], None],
) -> tuple[FirstPass, ...]:
    """Read a table once: one side or, with ``by``, the column that splits it and its values, both sides.

    Cells equal to one of ``marks`` are missing. Damaged parts are skipped and named in ``skipped`` if it is given, and
    an error otherwise; ``report`` is called with the number of rows read so far.
    """
    styled: frozenset[str] = frozenset()
    if by is not None:
        require_columns("by", [by[0]], [(side.name, side.names)])
    while True:
        values = None if by is None else SideValues(*by)
        reading = _Reading(side, values, draw, report, marks, styled)
        own: list[str] | None = None if skipped is None else []
        try:
            side = replace(side, parts=reading.parts(own))
            break
        except _MixedColumnError as mixed:
            side = with_texts(side, mixed.column)
        except _StyledColumnError as late:
            styled |= {late.column}
    if skipped is not None:
        skipped.extend(own or ())
    if values is None:
        return (_surveyed(side, reading.states[""], reading.counts),)
    names = tuple(name for name in side.names if name != values.by)
    return tuple(
        _surveyed(
            replace(side, name=f"{values.by} = {text}", names=names, where=RowFilter(values.by, key)),
            reading.states[key],
            reading.counts,
        )
        for key, text in values.chosen()
    )


class _MixedColumnError(Exception):
    """A column of JSON lines holds text in some rows and times in others."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


class _StyledColumnError(Exception):
    """A column has cells of a style such as $5 after others, which may have it too."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


@dataclass(slots=True)
class _Reading:
    """One pass over the parts of a table, into the state of one side or, by the values of a column, of two."""

    side: TableSide
    values: SideValues | None
    draw: Draw
    report: Callable[[int], None]
    marks: tuple[str, ...] = ()
    styled: frozenset[str] = frozenset()  # columns whose styles are wanted from the first cell on
    states: dict[str, _State] = field(default_factory=dict)
    done: int = 0
    counts: list[int] = field(default_factory=list)  # rows of each part that is not damaged

    def parts(self, skipped: list[str] | None) -> tuple[Fragment, ...]:
        """Read all parts, and return those that are not damaged."""
        kept: list[Fragment] = []
        for part in self.side.parts:
            before = {key: own.state() for key, own in self.states.items()}
            count = good_part(partial(self._read, part), self.side.several, skipped)
            if count is not None:
                self.done += count
                self.counts.append(count)
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
            whole = {"": (batch, np.arange(batch.num_rows))}
            for key, (rows, places) in (whole if self.values is None else self.values.split(batch)).items():
                state = self.states.setdefault(key, _State(Reservoir(self.draw)))
                self._note(state, rows, part, count if self.values is None else None)
                state.reservoir.add(rows.select(list(self.side.read)), self.done + count + places)
            count += batch.num_rows
            self.report(self.done + count)
        return count

    def _note(self, state: _State, rows: Any, part: Fragment, before: int | None) -> None:
        """Note the types of rows; ``before`` are the rows of the file before them, None if there are others between."""
        if not rows.num_rows:
            return
        for name in self.side.read:
            place = rows.schema.get_field_index(name)
            column, seen = rows.column(place), state.types.get(name) or ColumnType.nothing()
            try:
                found = seen.after(column, part.commas)
            except MixedError:
                raise _MixedColumnError(name) from None
            except ValueError as error:
                raise ValueError(f"column {name!r} of {self.side.name} has {error}") from None
            if found is not seen and found.high is not None and max(found.high, -found.low) > _LARGEST:
                raise ValueError(_too_large(found.read(column), name, part, before))
            if remark_of(rows.schema.field(place)) == "rounded":
                found = replace(found, has_long=True)
            state.types[name] = found
            self._note_style(state, name, column, seen)
            self._note_distinct(state, name, column, seen)

    def _note_style(self, state: _State, name: str, column: Any, before: ColumnType) -> None:
        """Note the styles that fit the cells of a column so far, of which those ``before`` these had a type."""
        is_text = kind_of(state.types[name].dtype) == "category" or name in self.styled
        if not is_text or kind_of(column.type) != "category" or state.styles.get(name) == ():
            return
        text = clear_marks(column, self.marks) if self.marks else column
        if text.null_count == len(text):
            return
        if name in state.styles:
            state.styles[name] = fitting(text, state.styles[name])
            return
        state.styles[name] = styles_of(text)
        if before.n_present and state.styles[name] and name not in self.styled:
            raise _StyledColumnError(name)

    def _note_distinct(self, state: _State, name: str, column: Any, before: ColumnType) -> None:
        """Count the different values of whole numbers, and of text, unless cells ``before`` these had another type."""
        found = state.types[name]
        is_whole = arrow().types.is_integer(found.dtype)
        if not (is_whole or kind_of(found.dtype) == "category") or column.null_count == len(column):
            return
        if before.n_present and (name not in state.distinct or arrow().types.is_integer(before.dtype) != is_whole):
            state.distinct.pop(name, None)
            return
        cells = clear_marks(found.read(column), self.marks) if self.marks else found.read(column)
        state.distinct[name] = state.distinct.get(name, DistinctCount()) + DistinctCount.of(cells)


def _too_large(column: Any, name: str, part: Fragment, before: int | None) -> str:
    values = np.asarray(column.cast(arrow().float64()).to_numpy(zero_copy_only=False))
    bad = int(np.flatnonzero(np.abs(values) > _LARGEST)[0])
    what = "an infinite number" if np.isinf(values[bad]) else "a number beyond 1e150"
    row = "" if before is None else f" in row {before + bad + 1}"
    return (
        f"column {name!r} of {part.path!r} has {what}{row}; "
        f"replace such cells, or exclude the column with {option('exclude')}"
    )


def _surveyed(side: TableSide, state: _State, part_rows: list[int]) -> FirstPass:
    types = tuple(state.types.get(name) or ColumnType.nothing() for name in side.read)
    ends = [0]
    for k in range(len(side.parts)):
        ends.append(state.ends.get(k, ends[-1]))
    counts = tuple(end - start for start, end in pairwise(ends))
    side = replace(side, types=types, n_rows=state.reservoir.n_rows, counts=counts)
    texts = {name: state.styles.get(name, ()) for name, own in state.types.items() if kind_of(own.dtype) == "category"}
    table, numbers = with_styles(side.table(state.reservoir.tables()), texts), state.reservoir.numbers()
    is_all = side.where is None and len(numbers) == side.n_rows
    files = tuple(zip((part.path for part in side.parts), part_rows, strict=True)) if side.several else ()
    origin = RowOrigin(None if is_all else numbers, files)
    return FirstPass(side, dict(state.types), dict(state.distinct), table, origin)
