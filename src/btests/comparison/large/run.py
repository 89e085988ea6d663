"""A comparison of tables that are not in memory, from beginning to end."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from btests._memory import amount
from btests.block_size import check_block_rule
from btests.comparison.api import Comparison
from btests.comparison.assess import (
    Assessed,
    Options,
    assess,
    comes_first,
    deal_rows,
    strongest,
    too_many_columns,
)
from btests.comparison.cells import Cells
from btests.comparison.encoding import Encoding
from btests.comparison.evidence import gather
from btests.comparison.large.budget import bytes_in_memory, memory_of, rows_to_draw
from btests.comparison.large.cutting import cut
from btests.comparison.large.encoded import Encoded
from btests.comparison.large.joint import Joint, jointly, null_in_pieces
from btests.comparison.large.kept import kept_memory, recorder
from btests.comparison.large.leaving import why_numbering
from btests.comparison.large.recipes import recipes
from btests.comparison.large.side import Side, base_name, open_side
from btests.comparison.large.survey import Draw, Surveyed, survey, survey_by
from btests.comparison.matching import reasons
from btests.comparison.pooling import pooled_columns
from btests.comparison.run import Found, Report, describe
from btests.comparison.sources import Loaded
from btests.comparison.together import beside
from btests.comparison.tokens import mark_missing
from btests.comparison.units import Units
from btests.comparison.wording import option
from btests.data.files import TABLES
from btests.data.fragment import can_be_split
from btests.execution.checkpoint import Recorder, telling_how_to_go_on
from btests.nulls.protocol import kinds_of_blocks

# Rows whose coordinates examples are chosen from.
_EXAMPLE_ROWS = 1500

# What drawn rows may take as they are read: a share of the memory, and always so many bytes.
_DRAWN_SHARE, _DRAWN_BYTES = 1 / 16, 2**24


def is_large(a: Any, b: Any, options: Options) -> bool:
    """Whether the tables are files that would take more memory than they may."""
    memory_of(options.memory)  # says what is wrong with it
    tables = [table for table in (a, b) if table is not None]
    if options.workers is not None:
        _require_files(tables, options)
        return True
    if not all(isinstance(table, (str, os.PathLike)) and os.fspath(table) != "-" for table in tables):
        return False
    if (options.by is None) != (len(tables) == 2):
        return False  # which is refused elsewhere
    paths = [os.fspath(table) for table in tables]
    if not all(can_be_split(part) for path in paths for part in TABLES.files(path)):
        return False
    return sum(map(bytes_in_memory, paths)) > memory_of(_memory(options))


def _require_files(tables: Sequence[Any], options: Options) -> None:
    """Raise unless workers can read the tables piece by piece."""
    if (options.by is None) != (len(tables) == 2):
        raise ValueError(f"name two tables, or one and the column that tells its sides apart with {option('by')}")
    if options.is_drawn:
        raise ValueError(
            f"{option('workers')} computes the joint test of all rows, and {option('max_rows')} draws some; leave one"
        )
    for table in tables:
        if not isinstance(table, (str, os.PathLike)) or os.fspath(table) == "-":
            raise ValueError(f"{option('workers')} is for tables in files, which workers read themselves")
        for part in TABLES.files(os.fspath(table)):
            if not can_be_split(part):
                raise ValueError(f"{part!r} can only be read whole; {option('workers')} is for other formats")


def _memory(options: Options) -> Any:
    if options.memory is None and options.checkpoint is not None:
        return kept_memory(options.checkpoint)
    return options.memory


def run_large(
    a: Any, b: Any, options: Options, *, began: float, progress: Callable[[float], None], report: Report | None
) -> Comparison:
    """Draw rows of both sides for the columns, and test all of them together, or those alone if the user says so."""
    memory = memory_of(_memory(options))
    if not options.is_drawn:
        null_in_pieces(options.null)  # says now what is wrong with it
    skipped: list[str] | None = [] if options.skip_bad_parts else None
    told = _Told(progress, report)
    sides = _opened([os.fspath(table) for table in (a, b) if table is not None], options, skipped)
    kept = recorder(sides, options, memory, lambda done, of: told("testing", done, of))
    needed = sum(bytes_in_memory(os.fspath(table)) for table in (a, b) if table is not None)
    with telling_how_to_go_on(kept):  # from here on it takes long
        return _compared(sides, kept, replace(options, memory=memory), skipped, told, began=began, needed=needed)


def _compared(
    sides: Sequence[Side],
    kept: Recorder,
    options: Options,
    skipped: list[str] | None,
    told: _Told,
    *,
    began: float,
    needed: int,
) -> Comparison:
    memory = memory_of(options.memory)
    null = None if options.is_drawn else null_in_pieces(options.null)
    drawn = _surveyed(sides, options, memory, skipped, told)
    notes = [f"left out as damaged: {one}" for one in skipped or ()]
    left_out = [] if options.by is None else [(options.by, "it tells the sides apart")]
    raw = [Loaded(one.table, one.side.name) for one in drawn]
    loaded = [Loaded(mark_missing(one.table, options.missing), one.name) for one in raw]
    columns = _without_numbering(pooled_columns(loaded, options, left_out, notes), drawn, options, left_out)
    given = [one.side.n_rows for one in drawn]
    tested = [one.table.num_rows for one in drawn] if null is None else given
    notes.append(_why(needed, memory, drawn, options))
    if null is None:
        assessed = assess(columns, options, told.progress)
    else:
        encoding = Encoding.fit(columns)
        made = recipes(raw, columns, options)
        rows = [one.side if options.workers is None else cut(one.side) for one in drawn]
        x, y = (Encoded(side, own, encoding) for side, own in zip(rows, made, strict=True))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            joint = jointly(
                x,
                y,
                kept,
                kernel=options.kernel,
                null=null,
                rule=check_block_rule(options.block_size, None, options.budget, **kinds_of_blocks(null)),
                streams=_streams(columns, x.n_rows, y.n_rows),
                report=lambda done: told("shuffling", done, sum(given)),
                workers=options.workers,
            )
        assessed = _assessed(columns, encoding, joint, options)
        notes.extend(dict.fromkeys(str(warning.message) for warning in caught))
    counted = {"a": tested[0], "b": tested[1], "a_given": given[0], "b_given": given[1]}
    found = Found((raw[0].name, raw[1].name), counted, tuple(left_out), tuple(notes))
    return describe(columns, assessed, found, options, began=began, progress=told.progress)


#: Where each phase begins and ends as a share of the whole.
_PHASES = {"reading": (0.0, 0.3), "shuffling": (0.3, 0.5), "testing": (0.5, 0.8)}


class _Told:
    """Passes on how far a phase has come, in rows and as a share of the whole."""

    def __init__(self, progress: Callable[[float], None], report: Report | None) -> None:
        self.progress, self._report = progress, report

    def __call__(self, phase: str, done: int, of: int) -> None:
        begin, end = _PHASES[phase]
        self.progress(begin + (end - begin) * min(1.0, done / max(of, 1)))
        if self._report is not None:
            self._report(phase, done, max(of, done))


def _opened(paths: Sequence[str], options: Options, skipped: list[str] | None) -> list[Side]:
    names = [base_name(path) for path in paths]
    if len(set(names)) < len(names):
        names = list(paths) if paths[0] != paths[1] else [f"{names[0]} (a)", f"{names[1]} (b)"]
    opened = [open_side(path, name, options.delimiter, skipped) for path, name in zip(paths, names, strict=True)]
    everywhere = [set(side.names) for side in opened]
    for name in options.columns:
        lacking = [side for side in opened if name not in side.names]
        if len(lacking) == len(opened) or (lacking and not options.common):
            where, there = " nor in ".join(side.name for side in lacking), ", ".join(map(repr, opened[0].names[:8]))
            raise ValueError(f"{option('columns')} names {name!r}, which is not in {where}; there are {there}")
    found = []
    for side in opened:
        odd = {name for name, _ in side.odd}
        read = tuple(
            name
            for name in side.names
            if all(name in names for names in everywhere)
            and name not in odd
            and name not in options.exclude
            and (not options.columns or name in options.columns)
            and name != options.by
        )
        found.append(replace(side, read=read))
    return found


def _surveyed(
    sides: Sequence[Side], options: Options, memory: int, skipped: list[str] | None, told: _Told
) -> tuple[Surveyed, Surveyed]:
    most = rows_to_draw(memory, len(sides[0].read), options.max_rows)
    draw = Draw(most, max(_DRAWN_BYTES, int(_DRAWN_SHARE * memory)), options.seed)
    about = sum(part.n_rows_about for side in sides for part in side.parts)
    if options.by is not None:
        by = (options.by, options.value_a, options.value_b)
        return survey_by(sides[0], by, draw, skipped=skipped, report=lambda done: told("reading", done, about))
    found = []
    before = 0
    for side in sides:
        one = survey(
            side,
            draw,
            skipped=skipped,
            report=lambda done, before=before: told("reading", before + done, about),  # type: ignore[misc]
        )
        before += one.side.n_rows
        found.append(one)
    return found[0], found[1]


def _without_numbering(
    columns: list[Cells], drawn: Sequence[Surveyed], options: Options, left_out: list[tuple[str, str]]
) -> list[Cells]:
    """Return the columns that do not number the rows, and add the others to ``left_out``."""
    kept = []
    for cells in columns:
        asked = cells.name in options.columns
        why = None if asked else why_numbering(cells, [one.seen[cells.name] for one in drawn])
        if why is None:
            kept.append(cells)
        else:
            left_out.append((cells.name, why))
    if not kept:
        names = " and ".join(one.side.name for one in drawn)
        raise ValueError(f"no column of {names} is left to compare: {reasons(left_out)}")
    return kept


def _streams(columns: Sequence[Cells], n_x: int, n_y: int) -> tuple[int, int]:
    """Return in which of two orders the rows of each side are dealt, the same where the sides change places."""
    first = n_x > n_y if n_x != n_y else comes_first(columns)
    return (1, 2) if first else (2, 1)


def _assessed(columns: Sequence[Cells], encoding: Encoding, joint: Joint, options: Options) -> Assessed:
    """Look at the columns of the rows drawn, beside the test of all rows."""
    orders = deal_rows(columns, options.seed)
    n_a, n_b = columns[0].n_a, len(columns[0]) - columns[0].n_a
    together = beside(joint.result, n_a, n_b, options.seed)
    evidence = gather(columns, encoding, Units.of(together.plan, together.flips, orders))
    pvalue, own = strongest(together, evidence)
    points = encoding.encode(columns, (orders[0][:_EXAMPLE_ROWS], orders[1][:_EXAMPLE_ROWS]))
    notes = tuple(too_many_columns(columns))
    return Assessed(pvalue, own, together, evidence, joint.effect, encoding, points, orders, notes)


def _why(needed: int, memory: int, drawn: Sequence[Surveyed], options: Options) -> str:
    """Return why the files were read in pieces, and what was tested if that was not all."""
    if options.workers is not None:
        return "the files were read in pieces, and their rows were tested on a cluster"
    limit = f"{amount(memory)} (a quarter of what was free, or {option('memory')})"
    larger = f"in memory they would take about {amount(needed)}, more than {limit}"
    if not options.is_drawn:
        return f"the files were read in pieces: {larger}"
    counts = [one.table.num_rows for one in drawn]
    each = f"{counts[0]} rows of each side" if counts[0] == counts[1] else f"{counts[0]} and {counts[1]} rows"
    return f"{each} were tested, drawn at random ({option('max_rows')}), and the files were read in pieces: {larger}"
