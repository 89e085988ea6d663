"""Alignment of two tables: columns matched by name, pooled, and excluded where they hold no distribution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from btests.comparison.cells import KINDS, VECTORS, Cells, kind_of, pool
from btests.comparison.column_types import prepared
from btests.comparison.compare_options import Options, require_columns, require_common_columns
from btests.comparison.distinct import DistinctCount
from btests.comparison.format import SAME_ROWS, option, quoted_list, some_of
from btests.comparison.row_units import hint_at_units
from btests.comparison.sources import Loaded
from btests.comparison.tokens import first_text, hint_at_codes, hint_at_marks
from btests.comparison.vectors import n_numbers, why_no_vectors
from btests.data.column_type import ColumnType
from btests.plan import Array, Index


def check_rows(sides: Sequence[Loaded]) -> None:
    """Raise ``ValueError`` unless each side has at least 2 rows."""
    for side in sides:
        n = side.table.num_rows
        if n < 2:
            raise ValueError(f"{side.name} has {n} row{'s' * (n != 1)}; a test needs at least 2 a side")


def pooled_columns(
    sides: Sequence[Loaded],
    options: Options,
    excluded: list[tuple[str, str]],
    notes: list[str],
    *,
    drawn: Sequence[Index | None] = (None, None),
    distinct: Mapping[str, DistinctCount] | None = None,
) -> list[Cells]:
    """Return the columns to compare; add the others to ``excluded``, and remarks to ``notes``.

    ``drawn`` are the rows of each side that are tested, None for all of them. Of rows that were drawn from files,
    ``distinct`` counts the values of columns in all rows.
    """
    one, two, _ = prepared(sides[0], sides[1], options, notes)
    matched = match(one, two, options.columns, options.exclude, common=options.common, categories=options.categories)
    excluded.extend(matched.excluded)
    columns, copies = [], []
    for name in matched.names:
        parts = one.table[name], two.table[name]
        # Identifiers and constants are detected on all rows, not on those drawn.
        hint = hint_at_marks(name, parts)
        notes.extend([] if hint is None else [hint])
        cells = pool(name, parts[0], parts[1], (one.name, two.name), (one.is_numbered, two.is_numbered))
        why = why_excluded(cells, name in options.columns, (distinct or {}).get(name))
        # Units are for two sides; a table of its own has no other.
        hint = hint_at_units(cells) if options.unit is None and two.table.num_rows else None
        notes.extend([] if hint is None else [hint])
        copies += [_same_sides(cells)] if why is None else []
        if why is None and any(rows is not None for rows in drawn):
            a, b = (part if rows is None else part.take(rows) for part, rows in zip(parts, drawn, strict=True))
            cells = pool(name, a, b, (one.name, two.name))
            why = why_excluded(cells, named=True)
        if why is None:
            columns.append(cells)
            notes.extend([] if cells.vectors is None else [_note_on_vectors(cells, n_numbers(parts))])
        else:
            excluded.append((name, why))
    if not columns:
        raise ValueError(f"no column of {_both(one, two)} remains to be compared: {reasons(excluded)}")
    if all(copies):
        notes.append(SAME_ROWS)
    whole = [cells for cells in columns if cells.unit == "integer"]
    hint = hint_at_codes([cells.name for cells in whole], [cells.values[cells.present] for cells in whole])
    notes.extend([] if hint is None else [hint])
    return columns


def _note_on_vectors(cells: Cells, width: int) -> str:
    k = 0 if cells.vectors is None else cells.vectors.shape[1]
    how = f", by random projections to {k}" if k < width else ""
    return (
        f"column {cells.name!r} holds vectors of {width} numbers, compared by kernels{how}; "
        "its quantiles are those of the direction in which both tables vary most"
    )


def columns_of(whole: Loaded, options: Options, excluded: list[tuple[str, str]], notes: list[str]) -> list[Cells]:
    """Return the columns of one table to compare, all rows on the first side, as ``pooled_columns`` does."""
    both = whole, replace(whole, table=whole.table.slice(0, 0))
    return pooled_columns(both, options, excluded, notes, drawn=drawn_rows(both, options, notes))


def _same_sides(cells: Cells) -> bool:
    """Whether both sides of a column have the same cells in the same order."""
    a, b = cells.side(False), cells.side(True)
    same = np.array_equal(cells.missing[a], cells.missing[b])
    return same and np.array_equal(cells.values_of(False), cells.values_of(True))


def drawn_rows(sides: Sequence[Loaded], options: Options, notes: list[str]) -> list[Index | None]:
    """Return the rows of both tables that are tested, None for all of them; a remark on drawn ones is in ``notes``."""
    # Rows of units were drawn with their units, two of them at least, whatever their number of rows.
    return [None if options.unit is not None else _drawn(side, options, k, notes) for k, side in enumerate(sides)]


def _drawn(side: Loaded, options: Options, k: int, notes: list[str]) -> Index | None:
    """Return the rows of a table that are tested, None for all of them."""
    n = side.table.num_rows
    if n <= options.max_rows:
        return None
    rng = np.random.default_rng([options.seed, 11, k])
    notes.append(
        f"of the {n} rows of {side.name}, {options.max_rows} were tested, chosen at random ({option('max_rows')})"
    )
    return np.sort(rng.choice(n, options.max_rows, replace=False))


@dataclass(frozen=True, slots=True)
class Matched:
    """Columns that both tables have, in the order of the first, and those that are excluded, with the reason."""

    names: tuple[str, ...]
    excluded: tuple[tuple[str, str], ...]


def match(
    a: Loaded,
    b: Loaded,
    columns: Sequence[str],
    exclude: Sequence[str],
    *,
    common: bool,
    categories: Sequence[str] = (),
) -> Matched:
    """Return the columns to compare; columns that do not match are an error, or excluded if ``common``."""
    in_a, in_b = a.table.column_names, b.table.column_names
    tables = [(a.name, in_a), (b.name, in_b)]
    require_columns("columns", columns, tables, everywhere=not common)
    require_columns("exclude", exclude, tables, everywhere=False)
    require_columns("categories", categories, tables, everywhere=False)
    wanted = [name for name in in_a if (not columns or name in columns) and name not in exclude]
    extra = [name for name in in_b if name not in in_a and (not columns or name in columns) and name not in exclude]
    excluded = [(name, "excluded") for name in dict.fromkeys([*in_a, *in_b]) if name in exclude]
    if columns:
        named = set(columns) | set(exclude)
        excluded += [
            (name, "not among the selected columns") for name in dict.fromkeys([*in_a, *in_b]) if name not in named
        ]
    only_a = [name for name in wanted if name not in in_b]
    require_common_columns(tables)
    if (only_a or extra) and not common:
        parts = [f"only in {t.name}: {quoted_list(names, 6)}" for t, names in ((a, only_a), (b, extra)) if names]
        raise ValueError(
            f"the tables do not have the same columns ({'; '.join(parts)}); "
            f"{option('common', True)} goes on with the others"
        )
    excluded += [(name, f"only in {a.name}") for name in only_a] + [(name, f"only in {b.name}") for name in extra]
    kept, conflicts = [], []
    for name in wanted:
        if name not in in_b:
            continue
        kinds = kind_of(a.table[name].type), kind_of(b.table[name].type)
        for side, kind in zip((a, b), kinds, strict=True):
            if kind not in (*KINDS, VECTORS, "empty"):
                conflicts.append((name, f"holds {kind} in {side.name}", _odd(side, name, kind)))
                break
        else:
            lists = [side.table[name] for side, kind in zip((a, b), kinds, strict=True) if kind == VECTORS]
            why = why_no_vectors(lists) if len(lists) == 2 else None
            if why is not None:
                conflicts.append((name, why, ""))
                continue
            if (VECTORS not in kinds and "empty" in kinds) or kinds[0] == kinds[1]:
                kept.append(name)
                continue
            what = [_kind(kind) + " in " + side.name for kind, side in zip(kinds, (a, b), strict=True)]
            if set(kinds) in ({"number", "category"}, {"time", "category"}):
                k = kinds.index("category")
                what[k] += first_text((a, b)[k].table[name], kinds[1 - k], is_numbered=(a, b)[k].is_numbered)
            why = f"is {what[0]} and {what[1]}"
            conflicts.append((name, why, ""))
    if conflicts and not common:
        name, why, _ = conflicts[0]
        more = f" (and {len(conflicts) - 1} more such)" if len(conflicts) > 1 else ""
        hint = hint_at_marks(name, [a.table[name], b.table[name]])
        advice = f"exclude it with {option('exclude')}, or go on without such columns with {option('common', True)}"
        raise ValueError(f"column {name!r} {why}{more}; {hint or advice}")
    excluded += [(name, why) for name, why, _ in conflicts]
    if not kept:
        raise ValueError(f"no column of {_both(a, b)} remains to be compared: {reasons(excluded)}")
    return Matched(tuple(kept), tuple(excluded))


def reasons(excluded: Sequence[tuple[str, str]], most: int = 4) -> str:
    """Return columns and why they are excluded, as part of a sentence."""
    return some_of([f"{name!r}: {why}" for name, why in excluded], most, "; ")


def _both(a: Loaded, b: Loaded) -> str:
    return " and ".join(dict.fromkeys((a.name, b.name)))


def _odd(side: Loaded, name: str, kind: str) -> str:
    return f"{side.name}: {name} ({kind})"


def _kind(kind: str) -> str:
    return {"number": "numbers", "boolean": "true or false", "category": "text", "time": "times"}.get(kind, kind)


# Minimum rows of both tables for a column without repetitions to be an identifier.
_LEAST_ROWS = 20

_ID_NAME = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|rowid|row|rownum|unnamed: 0)$|[a-z]I[dD]$|^$", re.IGNORECASE
)


def why_excluded(cells: Cells, named: bool, distinct: DistinctCount | None = None) -> str | None:
    """Return why a column is excluded, None if it is not; ``named`` if the user has selected it by name.

    The decision uses pooled cells only, so that it does not depend on which row is in which table. If the cells are
    drawn ones, their repetitions are those of all rows, of which ``distinct`` counts the values.
    """
    present = cells.values[cells.present]
    if present.size == 0:
        return "all its cells are missing"
    if present.min() == present.max() and not cells.missing.any():
        if cells.kind == "number" and abs(present[0]) > 2.0**53:
            return f"all its numbers are {cells.show(float(present[0]))}, to the 16 digits that are read of them"
        return f"it is constant, {cells.show(float(present[0]))!r} in every row"
    if named or present.size < _LEAST_ROWS:
        return None
    if cells.kind == "category":
        n_values, n_cells = len(cells.levels), present.size
        if distinct is not None:
            n_values, n_cells = distinct.n_distinct, distinct.n_present
        what = f"it has {n_values} different values in {n_cells} cells: a row identifier or free text"
        return what if n_values > 0.5 * n_cells else None
    return _why_number(cells, present, distinct) if cells.unit == "integer" else None


def _why_number(cells: Cells, present: Array, all_rows: DistinctCount | None) -> str | None:
    """Return why whole numbers are an identifier: unique in each table, and without gaps or named like one."""
    distinct, counts = np.unique(present, return_counts=True)
    if 2 * distinct.size < present.size or counts.max() > 2:
        return None
    if all_rows is not None and 2 * all_rows.n_distinct < all_rows.n_present:
        return None
    low, high = float(distinct[0]), float(distinct[-1])
    if high - low + 1 <= 1.5 * distinct.size:
        return f"it numbers the rows, {cells.show(low)} to {cells.show(high)}"
    return "it identifies rows, by its name and for want of repetitions" if _ID_NAME.search(cells.name) else None


# Minimum drawn cells of a side for a column without repetitions to be an identifier.
_LEAST_DRAWN_ROWS = 20

# Maximum range of row numbers, as a multiple of the number of rows.
_RANGE = 1.5

# Maximum Kolmogorov-Smirnov distance from the uniform distribution, times sqrt(m); exceeded with probability 1e-4.
_UNEVEN = 2.25


def without_numbering(
    columns: list[Cells],
    types: Sequence[Mapping[str, ColumnType]],
    options: Options,
    excluded: list[tuple[str, str]],
    names: Sequence[str],
) -> list[Cells]:
    """Return the columns that do not number the rows of files, and add the others to ``excluded``."""
    kept = []
    for cells in columns:
        asked = cells.name in options.columns
        why = None if asked else why_numbering(cells, [own[cells.name] for own in types])
        if why is None:
            kept.append(cells)
        else:
            excluded.append((cells.name, why))
    if not kept:
        raise ValueError(f"no column of {' and '.join(names)} remains to be compared: {reasons(excluded)}")
    return kept


def why_numbering(cells: Cells, sides: Sequence[ColumnType]) -> str | None:
    """Return why a column of row numbers is excluded, None if it is not one; ``sides`` describes all rows.

    Drawn rows have gaps between any numbers. Row numbers are whole, unique on a side, spread evenly between the
    smallest and the largest, and their range is close to the number of rows.
    """
    if cells.unit != "integer" or any(seen.low is None for seen in sides):
        return None
    low, high = min(seen.low for seen in sides), max(seen.high for seen in sides)
    if high - low + 1 > _RANGE * sum(seen.n_present for seen in sides):
        return None
    for b, seen in enumerate(sides):
        if not _is_numbering(np.sort(cells.values_of(bool(b))), int(seen.high) - int(seen.low)):
            return None
    return f"it numbers the rows, {low} to {high}"


def _is_numbering(ordered: Array, span: int) -> bool:
    """Return whether sorted numbers (m,) are unique and spread evenly over about ``span``."""
    m = len(ordered)
    if m < _LEAST_DRAWN_ROWS or span <= 0 or (ordered[1:] == ordered[:-1]).any():
        return False
    # The extremes of all rows are usually not among the drawn rows; the span is of all rows.
    first = ordered[0] - (span - (ordered[-1] - ordered[0])) / 2.0
    uneven = np.abs((ordered - first) / span - (np.arange(m) + 0.5) / m).max()
    return bool(uneven <= _UNEVEN / np.sqrt(m))
