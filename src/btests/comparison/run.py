"""One comparison: open the tables, align their columns, test them, describe the result.

A table that fits into memory is loaded. One that does not is a set of files that are read twice: the first pass infers
types and draws rows at random, on which columns are tested; the second pass feeds all rows to the joint test.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from btests._memory import amount, free_bytes
from btests.comparison.align import check_rows, drawn_rows, pooled_columns, without_numbering
from btests.comparison.cells import Cells
from btests.comparison.compare_options import Options, Progress
from btests.comparison.describe import describe
from btests.comparison.encoded_source import EncodedSource, column_readers
from btests.comparison.encoding import Encoding
from btests.comparison.first_pass import FirstPass, first_pass
from btests.comparison.format import option
from btests.comparison.groupby import split_by
from btests.comparison.identifiers import DistinctCount
from btests.comparison.joint import Joint, joint_in_memory, joint_of_sources, null_in_pieces
from btests.comparison.pieces import (
    bytes_in_memory,
    memory_limit,
    memory_of,
    reads_in_pieces,
    recorder,
    rows_to_draw,
    two_tables,
)
from btests.comparison.reservoir import Draw
from btests.comparison.results import Comparison
from btests.comparison.row_units import take_units
from btests.comparison.sources import Loaded, distinct_names, load, unused_options
from btests.comparison.table_side import TableSide, cut, note_on_copies, notes_on_text, open_sides
from btests.comparison.tests import JointTest, run_tests
from btests.comparison.tokens import mark_missing
from btests.execution.checkpoint import Recorder, explaining_resume
from btests.plan import Index

# Limit for drawn rows in memory: a share of the memory, and at least so many bytes.
_DRAWN_SHARE, _DRAWN_BYTES = 1 / 16, 2**24


@dataclass(frozen=True, slots=True)
class Tables:
    """Two tables before their columns are aligned.

    Attributes
    ----------
    sides : tuple of two Loaded
        Their rows in memory: all of them, or those drawn in the first pass.
    n_rows : tuple of two int
        Number of rows that were given.
    excluded : tuple of (str, str)
        Columns that are not compared, with reasons.
    notes : tuple of str
        Remarks.
    passes : tuple of two FirstPass, or None
        Results of the first pass over files; None for tables in memory.
    """

    sides: tuple[Loaded, Loaded]
    n_rows: tuple[int, int]
    excluded: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    passes: tuple[FirstPass, FirstPass] | None = None


def run(a: Any, b: Any, options: Options, *, began: float, progress: Progress) -> Comparison:
    """Return the comparison of two tables, or of the two sides of one."""
    if not reads_in_pieces(a, b, options):
        tables = _load(a, b, options)
        progress.share(0.15)
        return _compare(tables, joint_in_memory, options, began=began, progress=progress)
    memory = memory_limit(options)
    if options.unit is not None:
        remedy = f"raise {option('memory')}" if options.workers is None else f"drop {option('workers')}"
        raise ValueError(f"{option('unit')} needs the tables in memory, and these are read in pieces; {remedy}")
    if not options.is_drawn:
        null_in_pieces(options.null)  # an error now rather than after the first pass
    paths = [os.fspath(table) for table in (a, b) if table is not None]
    skipped: list[str] | None = [] if options.skip_bad_parts else None
    at_once = free_bytes() if options.memory is None else memory
    sides, unused = open_sides(paths, options, skipped, at_once), unused_options((a, b), options, in_pieces=True)
    options = replace(options, memory=memory, checkpoint=None if options.is_drawn else options.checkpoint)
    saved = recorder(sides, options, memory, partial(progress.rows, "testing"))
    with explaining_resume(saved):
        tables = _read(sides, options, memory, skipped, progress, needed=sum(map(bytes_in_memory, paths)))
        tables = replace(tables, notes=(*tables.notes, *unused, *notes_on_text(sides, options), *note_on_copies(sides)))
        joint = joint_in_memory if options.is_drawn else _joint_of_files(tables, saved, progress)
        return _compare(tables, joint, options, began=began, progress=progress)


def _load(a: Any, b: Any, options: Options) -> Tables:
    """Return two tables in memory."""
    skipped: list[str] = []
    remarks: list[str] = []
    sides, excluded = _sides(a, b, options, skipped, remarks)
    notes = [*map(_damaged, skipped), *remarks, *unused_options((a, b), options, in_pieces=False)]
    n_rows = sides[0].table.num_rows, sides[1].table.num_rows
    return Tables(sides, n_rows, excluded, tuple(notes))


def _sides(
    a: Any, b: Any, options: Options, skipped: list[str], notes: list[str]
) -> tuple[tuple[Loaded, Loaded], tuple[tuple[str, str], ...]]:
    if options.by is not None:
        if b is not None:
            raise ValueError(f"{option('by')} splits one table: name one table, or two without {option('by')}")
        whole = _loaded(a, "the table", options, skipped, notes)
        return split_by(whole, options.by, options.value_a, options.value_b), _split_column(options)
    if b is None:
        raise ValueError(two_tables())
    if isinstance(a, str) and isinstance(b, str) and a == b == "-":
        raise ValueError("standard input can be one of the tables, not both")
    one, two = _loaded(a, "a", options, skipped, notes), _loaded(b, "b", options, skipped, notes)
    sources = [str(s) if isinstance(s, str) else t.name for s, t in ((a, one), (b, two))]
    names = distinct_names([one.name, two.name], sources)
    return (replace(one, name=names[0]), replace(two, name=names[1])), ()


def _split_column(options: Options) -> tuple[tuple[str, str], ...]:
    return () if options.by is None else ((options.by, "it splits the table into sides"),)


def _loaded(source: Any, fallback: str, options: Options, skipped: list[str], notes: list[str]) -> Loaded:
    skip = skipped if options.skip_bad_parts else None
    found = load(source, fallback, options.text, skip, memory_of(options.memory), notes=notes)
    return replace(found, table=mark_missing(found.table, options.missing))


def load_table(source: Any, options: Options) -> tuple[Loaded, list[str]]:
    """Return a table in memory, and remarks on it."""
    skipped: list[str] = []
    notes: list[str] = []
    whole = _loaded(source, "the table", options, skipped, notes)
    return whole, [*map(_damaged, skipped), *notes]


def _damaged(part: str) -> str:
    return f"skipped as damaged: {part}"


def _read(
    sides: Sequence[TableSide],
    options: Options,
    memory: int,
    skipped: list[str] | None,
    progress: Progress,
    *,
    needed: int,
) -> Tables:
    """Return two tables after the first pass over their files."""
    passes = _first_passes(sides, options, memory, skipped, progress)
    loaded = [replace(one.drawn, table=mark_missing(one.table, options.missing)) for one in passes]
    notes = [*map(_damaged, skipped or ()), _why_in_pieces(needed, memory, passes, options)]
    n_rows = passes[0].side.n_rows, passes[1].side.n_rows
    return Tables((loaded[0], loaded[1]), n_rows, _split_column(options), tuple(notes), passes)


def _first_passes(
    sides: Sequence[TableSide], options: Options, memory: int, skipped: list[str] | None, progress: Progress
) -> tuple[FirstPass, FirstPass]:
    most = rows_to_draw(memory, len(sides[0].read), options.max_rows)
    draw = Draw(most, max(_DRAWN_BYTES, int(_DRAWN_SHARE * memory)), options.seed)
    about = sum(part.n_rows_about for side in sides for part in side.parts)

    def report(before: int, done: int) -> None:
        progress.rows("reading", before + done, about)

    by = None if options.by is None else (options.by, options.value_a, options.value_b)
    found: list[FirstPass] = []
    for side in sides:
        before = sum(one.side.n_rows for one in found)
        found += first_pass(side, by, draw, marks=options.missing, skipped=skipped, report=partial(report, before))
    return found[0], found[1]


def _why_in_pieces(needed: int, memory: int, passes: Sequence[FirstPass], options: Options) -> str:
    """Return why the files were read in pieces, and the number of rows tested if that was not all."""
    if options.workers is not None:
        return "the files were read in pieces, and their rows were tested on a cluster"
    limit = f"{amount(memory)} (a quarter of what was free, or {option('memory')})"
    larger = f"in memory they would take about {amount(needed)}, more than {limit}"
    if not options.is_drawn:
        return f"the files were read in pieces: {larger}"
    counts = [one.table.num_rows for one in passes]
    each = f"{counts[0]} rows of each side" if counts[0] == counts[1] else f"{counts[0]} and {counts[1]} rows"
    return f"{each} were tested, drawn at random ({option('max_rows')}), and the files were read in pieces: {larger}"


def _joint_of_files(tables: Tables, saved: Recorder, progress: Progress) -> JointTest:
    """Return the joint test of all rows of files, which are encoded as the rows drawn from them were."""
    passes = tables.passes or ()
    total = sum(tables.n_rows)

    def joint_test(
        columns: Sequence[Cells], encoding: Encoding, orders: tuple[Index, Index], options: Options
    ) -> Joint:
        readers = column_readers([one.drawn for one in passes], columns, options)
        sides = [one.side if options.workers is None else cut(one.side) for one in passes]
        x, y = (EncodedSource(side, own, encoding) for side, own in zip(sides, readers, strict=True))
        report = partial(_shuffled, progress, total)
        return joint_of_sources(x, y, columns, options, saved, report=report)

    return joint_test


def _shuffled(progress: Progress, total: int, done: int) -> None:
    progress.rows("shuffling", done, total)


def _distinct(passes: tuple[FirstPass, FirstPass] | None) -> dict[str, DistinctCount]:
    """Return the numbers of different values of columns in all rows of both sides."""
    if passes is None:
        return {}
    one, two = (own.distinct for own in passes)
    return {name: one[name] + two[name] for name in one if name in two}


def _compare(
    tables: Tables, joint_test: JointTest, options: Options, *, began: float, progress: Progress
) -> Comparison:
    """Return the comparison of two tables that are open."""
    excluded, notes = list(tables.excluded), list(tables.notes)
    check_rows(tables.sides)
    sides, units = take_units(tables.sides, options, excluded, notes)
    drawn = drawn_rows(sides, options, notes)
    columns = pooled_columns(sides, options, excluded, notes, drawn=drawn, distinct=_distinct(tables.passes))
    if tables.passes is not None:
        types = [one.types for one in tables.passes]
        columns = without_numbering(columns, types, options, excluded, [side.name for side in sides])
    progress.share(0.3)
    tests = run_tests(columns, options, progress.share, joint_test, units)
    n_a, n_b = columns[0].n_a, len(columns[0]) - columns[0].n_a
    n_x, n_y = (n_a, n_b) if joint_test is joint_in_memory else tables.n_rows
    rows = {"a": n_x, "b": n_y, "a_given": tables.n_rows[0], "b_given": tables.n_rows[1]}
    origins = tuple(side.origin.take(own) for side, own in zip(sides, drawn, strict=True))
    found = describe(columns, tests, (tables.sides[0].name, tables.sides[1].name), options, (origins[0], origins[1]))
    details = {
        **found.details,
        "rows": {**rows, "a_columns": n_a, "b_columns": n_b},
        "seconds": time.perf_counter() - began,
    }
    progress.share(1.0)
    return replace(found, excluded=tuple(excluded), notes=(*notes, *found.notes), details=details)
