"""Alignment of two tables: columns matched by name, pooled, and excluded where they hold no distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from btests.comparison.cells import KINDS, VECTORS, Cells, kind_of, pool
from btests.comparison.column_types import prepared
from btests.comparison.compare_options import Options, require_columns, require_common_columns
from btests.comparison.coordinate_means import coordinate_means
from btests.comparison.format import SAME_ROWS, option, quoted_list, some_of
from btests.comparison.identifiers import DistinctCount, why_excluded, why_numbering
from btests.comparison.row_units import hint_at_units
from btests.comparison.sources import Loaded
from btests.comparison.tokens import first_text, hint_at_codes, hint_at_marks
from btests.comparison.vectors import n_numbers, why_no_vectors
from btests.data.column_type import ColumnType
from btests.data.images import image_shape
from btests.plan import Index


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
            if cells.vectors is not None:
                width = n_numbers(parts)
                means = coordinate_means(parts, width, image_shape(sides[0].table.schema.field(name)))
                cells = replace(cells, means=means)
                notes.append(_note_on_vectors(cells, width))
            columns.append(cells)
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
    excluded = [(name, "as asked") for name in dict.fromkeys([*in_a, *in_b]) if name in exclude]
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
        codes = (
            f"compare it as categories with {option('categories', name)}, "
            if "numbers" in why and "true or" in why
            else ""
        )
        advice = (
            f"{codes}exclude it with {option('exclude')}, or go on without such columns with {option('common', True)}"
        )
        raise ValueError(f"column {name!r} {why}{more}; {hint or advice}")
    excluded += [(name, why) for name, why, _ in conflicts]
    if not kept:
        raise ValueError(f"no column of {_both(a, b)} remains to be compared: {reasons(excluded)}")
    return Matched(tuple(kept), tuple(excluded))


def reasons(excluded: Sequence[tuple[str, str]]) -> str:
    """Return columns and why they are excluded, as part of a sentence."""
    return some_of([f"{name!r}: {why}" for name, why in excluded], 4, "; ")


def _both(a: Loaded, b: Loaded) -> str:
    return " and ".join(dict.fromkeys((a.name, b.name)))


def _odd(side: Loaded, name: str, kind: str) -> str:
    return f"{side.name}: {name} ({kind})"


def _kind(kind: str) -> str:
    return {"number": "numbers", "boolean": "true or false", "category": "text", "time": "times"}.get(kind, kind)


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
