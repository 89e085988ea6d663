"""One comparison of the groups of one table: find the groups, test them, describe the result."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._text import brief
from btests.comparison.align import columns_of
from btests.comparison.cells import Cells
from btests.comparison.changes import Change, changes
from btests.comparison.compare_options import MAX_ROWS, Options, Progress
from btests.comparison.encoding import Code, Encoding
from btests.comparison.features import pooled_ranks
from btests.comparison.format import option, short_name
from btests.comparison.group_results import Group, GroupColumn, GroupComparison, GroupPair
from btests.comparison.group_tests import GroupTests, group_against_others, run_group_tests
from btests.comparison.groupby import Groups, balanced_rows, groups_of
from btests.comparison.pieces import reads_in_pieces
from btests.comparison.results import Comparison
from btests.comparison.run import load_table, run
from btests.comparison.sources import Loaded, unused_options
from btests.comparison.total_variation import total_variation, total_variation_bound
from btests.nulls import SignFlip, null_of
from btests.plan import Index


def run_by(source: Any, by: str, options: Options, *, began: float, progress: Progress) -> Comparison | GroupComparison:
    """Return the comparison of all groups of a table: an ordinary one of two sides where there are two."""
    if reads_in_pieces(source, None, options):
        return run(source, None, options, began=began, progress=progress)
    whole, notes = load_table(source, options)
    groups = groups_of(whole, by)
    notes += [*groups.notes(), *unused_options((source,), options, in_pieces=False)]
    if len(groups) == 2:
        one, two = groups.names
        notes.append(
            f"side a is {by} = {one}, side b is {by} = {two} ({option('value_a')} and {option('value_b')} name them)"
        )
        sides = replace(options, value_a=groups.values[0], value_b=groups.values[1])
        found = run(whole, None, sides, began=began, progress=progress)
        return replace(found, notes=(*notes, *found.notes))
    _check(options, len(groups))
    progress.share(0.1)
    return _compare(whole, groups, notes, options, began=began, progress=progress)


def _check(options: Options, n_groups: int) -> None:
    """Raise for options that are for two sides."""
    both = f"compare two groups with {option('value_a')} and {option('value_b')}"
    if options.tolerance is not None:
        raise ValueError(f"{option('tolerance')} is for two sides, and {options.by!r} has {n_groups} groups; {both}")
    if options.unit is not None:
        raise ValueError(f"{option('unit')} is for two sides, and {options.by!r} has {n_groups} groups; {both}")
    if not isinstance(null_of(options.null), SignFlip):
        raise ValueError(
            f"{option('null')} of {n_groups} groups must be sign-flip, got {options.null}; drop it, or {both}"
        )
    kernel = options.kernel
    if kernel is not None and not isinstance(kernel, str) and not callable(kernel):
        raise ValueError(
            f"{option('kernel')} of {n_groups} groups must be a name or a kernel, got {brief(kernel)}; or {both}"
        )


def _compare(
    whole: Loaded, groups: Groups, notes: list[str], options: Options, *, began: float, progress: Progress
) -> GroupComparison:
    rows = balanced_rows(groups.numbers, MAX_ROWS, options.max_rows, options.seed)
    n_labelled = int((groups.numbers >= 0).sum())
    if len(rows) < n_labelled:
        notes.append(f"of {n_labelled} rows, {len(rows)} were tested, chosen at random ({option('max_rows')})")
    numbers = groups.numbers[rows]
    table = whole.table.drop_columns([groups.by])
    if len(rows) < table.num_rows:
        table = table.take(arrow().array(rows))
    excluded = [(groups.by, "it splits the table into groups")]
    every = replace(options, max_rows=max(2, len(rows)))
    origin = whole.origin if table.num_rows == whole.table.num_rows else whole.origin.take(rows)
    columns = columns_of(Loaded(table, whole.name, origin), every, excluded, notes)
    progress.share(0.2)
    encoding = Encoding.fit(columns)
    tests = run_group_tests(columns, encoding, numbers, options, lambda share: progress.share(0.2 + 0.75 * share))
    found = _columns(columns, encoding, numbers, groups.names, tests, alpha=options.alpha)
    kernel = tests.effects[0].kernel
    details = {
        "table": whole.name,
        "rows": _rows(whole, groups, rows, tests),
        "excluded_groups": [{"name": name, "rows": count} for name, count in groups.small],
        "effect": {
            "kernel": None if options.kernel else repr(kernel),
            "kernel_short": None if options.kernel else short_name(kernel),
        },
        "attainable": tests.attainable,
        "settings": options.to_dict(),
        "command": None,
        "seconds": time.perf_counter() - began,
    }
    progress.share(1.0)
    return GroupComparison(
        tests.pvalue,
        options.alpha,
        tests.joint,
        groups.by,
        tuple(_groups(groups, numbers)),
        tuple(_pairs(groups.names, tests, options.alpha)),
        tuple(found),
        tuple(excluded),
        (*notes, *tests.notes),
        details,
    )


def _rows(whole: Loaded, groups: Groups, rows: Index, tests: GroupTests) -> dict[str, int]:
    return {
        "given": whole.table.num_rows,
        "tested": len(rows),
        "at_once": len(tests.rows),
        "unlabelled": groups.n_unlabelled,
    }


def _groups(groups: Groups, tested: Index) -> list[Group]:
    given, own = (np.bincount(part[part >= 0], minlength=len(groups)) for part in (groups.numbers, tested))
    return [Group(name, int(n), int(m)) for name, n, m in zip(groups.names, given, own, strict=True)]


def _pairs(names: Sequence[str], tests: GroupTests, alpha: float) -> list[GroupPair]:
    found = []
    for pair, effect in zip(tests.pairs, tests.effects, strict=True):
        mmd2 = effect.summary.mean()
        corrected = max(pair.pvalue, tests.pvalue)  # without a difference of the groups no two of them differ
        bound = total_variation_bound(mmd2, effect.kernel)
        if bound is not None and corrected > alpha:
            bound = 0.0
        both = names[pair.first], names[pair.second]
        found.append(GroupPair(both, pair.result.pvalue, corrected, corrected <= alpha, mmd2, bound))
    return sorted(found, key=lambda pair: (pair.pvalue, -pair.mmd2))


def _columns(
    columns: Sequence[Cells],
    encoding: Encoding,
    numbers: Index,
    names: Sequence[str],
    tests: GroupTests,
    *,
    alpha: float,
) -> list[GroupColumn]:
    """Return the columns that were tested: those that differ first, by their effects.

    Parameters
    ----------
    columns : sequence of Cells
        Columns of all groups, as one side.
    encoding : Encoding
        Codes of the columns.
    numbers : ndarray of int, shape (n,)
        Number of the group of each row.
    names : sequence of str
        Names of the groups.
    tests : GroupTests
        Their tests.
    alpha : float
        Significance level.
    """
    found = []
    for j, (cells, code) in enumerate(zip(columns, encoding.codes, strict=True)):
        p, q = tests.columns[j].pvalue, max(float(tests.corrected[j]), tests.pvalue)
        drawn, own = cells.take(tests.rows, len(tests.rows)), numbers[tests.rows]
        effects, group = (0.0,) * len(names), None
        changed: tuple[Change, ...] = ()
        if q <= alpha:
            effects = _effects(drawn, code, own, len(names))
            best = int(np.argmax(effects))
            group = names[best] if effects[best] > 0.0 else None
            sides, _ = group_against_others(drawn, own, best)
            changed = tuple(changes(sides, code.periods)) if group else ()
        found.append(
            GroupColumn(
                cells.name,
                cells.kind,
                p,
                q,
                q <= alpha,
                group,
                max(effects),
                effects,
                changed,
                str(code),
            )
        )
    return sorted(found, key=lambda column: (-column.effect, column.pvalue))


def _effects(cells: Cells, code: Code, numbers: Index, n_groups: int) -> tuple[float, ...]:
    """Return the total variation distance of each group to all others together, in a column that differs."""
    rank = pooled_ranks(cells)
    sides = [group_against_others(cells, numbers, group) for group in range(n_groups)]
    found: list[float] = []
    for significant in (False, True):
        found = [
            total_variation(own, None if rank is None else rank[order], code.periods, significant=significant)
            for own, order in sides
        ]
        if max(found) > 0.0:
            break
    return tuple(found)
