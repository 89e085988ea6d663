"""From two tables to the columns that take part, and why the others do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from btests.comparison.assess import Options
from btests.comparison.cells import Cells, kind_of, pool
from btests.comparison.dates import note_zones, read_dates
from btests.comparison.integers import shift_huge
from btests.comparison.leaving import why_left_out
from btests.comparison.matching import match, reasons
from btests.comparison.sources import Loaded
from btests.comparison.tokens import as_categories, hint_at_codes, hint_at_marks
from btests.comparison.wording import option
from btests.data.optional import arrow
from btests.plan import Index


def pooled_columns(
    sides: Sequence[Loaded], options: Options, left_out: list[tuple[str, str]], notes: list[str]
) -> list[Cells]:
    """Return the columns of both tables that take part; add the others to ``left_out``, and remarks to ``notes``."""
    drawn = [_drawn(side, options, k, notes) for k, side in enumerate(sides)]
    one, two = prepared(sides[0], sides[1], options, notes)
    matched = match(one, two, options.columns, options.exclude, common=options.common, categories=options.categories)
    left_out.extend(matched.left_out)
    if one.table.equals(two.table):
        notes.append("both tables hold the same rows in the same order: a copy is not a second sample")
    columns = []
    for name in matched.names:
        parts = one.table[name], two.table[name]
        # What identifies rows, or is constant, is seen on all of them, not on those that were drawn.
        hint = hint_at_marks(name, parts)
        notes.extend([] if hint is None else [hint])
        cells = pool(name, parts[0], parts[1], (one.name, two.name))
        why = why_left_out(cells, name in options.columns)
        if why is None and any(rows is not None for rows in drawn):
            a, b = (part if rows is None else part.take(rows) for part, rows in zip(parts, drawn, strict=True))
            cells = pool(name, a, b, (one.name, two.name))
            why = why_left_out(cells, named=True)
        if why is None:
            columns.append(cells)
        else:
            left_out.append((name, why))
    if not columns:
        raise ValueError(f"no column of {one.name} and {two.name} is left to compare: {reasons(left_out)}")
    whole = [cells for cells in columns if cells.unit == "integer"]
    hint = hint_at_codes([cells.name for cells in whole], [cells.values[cells.present] for cells in whole])
    notes.extend([] if hint is None else [hint])
    return columns


def _drawn(side: Loaded, options: Options, k: int, notes: list[str]) -> Index | None:
    """Return the rows of a table that are tested, None for all of them."""
    n = side.table.num_rows
    if n < 2:
        raise ValueError(f"{side.name} has {n} row{'s' * (n != 1)}; a test needs at least 2 a side")
    if n <= options.max_rows:
        return None
    rng = np.random.default_rng([options.seed, 11, k])
    notes.append(
        f"of the {n} rows of {side.name}, {options.max_rows} were tested, chosen at random ({option('max_rows')})"
    )
    return np.sort(rng.choice(n, options.max_rows, replace=False))


def prepared(one: Loaded, two: Loaded, options: Options, notes: list[str]) -> tuple[Loaded, Loaded]:
    """Return both tables with codes as text, dates read from text, and whole numbers that floats can hold."""
    tables = [one.table, two.table]
    for name in one.table.column_names:
        if name not in two.table.column_names:
            continue
        found = one.table[name], two.table[name]
        if name in options.categories or any(_is_code(column) for column in found):
            found = as_categories(found[0]), as_categories(found[1])
        else:
            found = shift_huge(*read_dates(*found, name, notes), name, notes)
            note_zones(*found, name, (one.name, two.name), notes)
        for k, column in enumerate(found):
            if column is not tables[k][name]:
                tables[k] = tables[k].set_column(tables[k].column_names.index(name), name, column)
    return Loaded(tables[0], one.name), Loaded(tables[1], two.name)


def _is_code(column: Any) -> bool:
    """Whether numbers were declared to be categories, as pandas does."""
    types = arrow().types
    return bool(types.is_dictionary(column.type) and kind_of(column.type) == "number")
