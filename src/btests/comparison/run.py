"""One comparison from beginning to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests.comparison.api import Comparison
from btests.comparison.assess import Assessed, Options, assess
from btests.comparison.cells import Cells
from btests.comparison.charts import column_chart, histogram
from btests.comparison.encoding import Encoding
from btests.comparison.evidence import Evidence
from btests.comparison.features import pooled_ranks
from btests.comparison.findings import Column, Look, Relation
from btests.comparison.measures import relation_measure
from btests.comparison.moves import describe_levels, describe_side, moves
from btests.comparison.pooling import pooled_columns
from btests.comparison.share import share_moved
from btests.comparison.sides import split_by
from btests.comparison.sources import Loaded, load
from btests.comparison.text import short_name
from btests.comparison.together import Together
from btests.comparison.tokens import mark_missing
from btests.comparison.tolerance import both_beyond, columns_beyond, whole_beyond
from btests.comparison.witness import examples, telling, witness
from btests.comparison.wording import option
from btests.plan import Array

# A column whose own p-value is above this, and that was not found to move, is shown as if nothing in it had moved: the
# estimates of how much are made for some dozens of rows and more, the p-value is exact for any number.
_PLAIN = 0.05

#: Told what is being done, how many rows of it are done, and how many there are in all.
Report = Callable[[str, int, int], None]


def run(
    a: Any, b: Any, options: Options, *, began: float, progress: Callable[[float], None], report: Report | None = None
) -> Comparison:
    """Read, match, encode, test, describe."""
    from btests.comparison.large.run import is_large, run_large

    if is_large(a, b, options):
        return run_large(a, b, options, began=began, progress=progress, report=report)
    skipped: list[str] = []
    sides, left_out = _sides(a, b, options, skipped)
    progress(0.15)
    notes = [f"left out as damaged: {one}" for one in skipped]
    if options.checkpoint is not None:
        notes.append(f"the tables fit into memory: there was no need for the checkpoint {options.checkpoint!r}")
    columns = pooled_columns(sides, options, left_out, notes)
    progress(0.3)
    names = (sides[0].name, sides[1].name)
    assessed = assess(columns, options, progress)
    n_a = columns[0].n_a
    rows = {
        "a": n_a,
        "b": len(columns[0]) - n_a,
        "a_given": sides[0].table.num_rows,
        "b_given": sides[1].table.num_rows,
    }
    found = Found(names, rows, tuple(left_out), tuple(notes))
    return describe(columns, assessed, found, options, began=began, progress=progress)


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of two tables before they are tested.

    Attributes
    ----------
    names
        What they are called.
    rows
        How many are tested, ``a`` and ``b``, and were given, ``a_given`` and ``b_given``.
    left_out, notes
        Columns that take no part, and sentences.
    """

    names: tuple[str, str]
    rows: dict[str, int]
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def describe(
    columns: Sequence[Cells],
    assessed: Assessed,
    tables: Found,
    options: Options,
    *,
    began: float,
    progress: Callable[[float], None],
) -> Comparison:
    """Return what the tests found, in numbers and words."""
    names = tables.names
    pvalue, together, evidence, encoding = assessed.pvalue, assessed.together, assessed.evidence, assessed.encoding
    looks = _looks(assessed, options.alpha)
    found = _described(columns, encoding, evidence, options.alpha, names)
    asked: dict[str, Any] = {"pvalue_at_all": pvalue, "beyond": None}
    if options.tolerance is not None:
        beyond = columns_beyond(columns, assessed.orders, options.tolerance)
        whole = whole_beyond(assessed.effect, options.tolerance)
        pvalue = both_beyond(whole, beyond)
        asked["beyond"] = {"together": whole, "columns": float(beyond.min())}
        found = [
            replace(column, pvalue_beyond=float(p), beyond=bool(p <= options.alpha))
            for column, p in zip(found, beyond, strict=True)
        ]
    relations = _relations(columns, evidence, found, options.alpha)
    ranked = sorted(found, key=lambda column: (-column.effect, column.pvalue))
    progress(0.95)
    details = _details(columns, ranked, relations, assessed, names)
    details["rows"] = {**tables.rows, "a_columns": columns[0].n_a, "b_columns": len(columns[0]) - columns[0].n_a}
    details["relations_tested"] = len(evidence.pairs)
    details["settings"] = _settings(options)
    details.update(asked)
    details["smallest_pvalue"] = assessed.smallest_pvalue()
    details["seconds"] = time.perf_counter() - began
    progress(1.0)
    return Comparison(
        pvalue,
        options.alpha,
        together.result,
        assessed.effect,
        tuple(ranked),
        tuple(relations),
        tuple(looks),
        encoding,
        tables.left_out,
        (*tables.notes, *assessed.notes),
        names,
        details,
    )


def _sides(a: Any, b: Any, options: Options, skipped: list[str]) -> tuple[tuple[Loaded, Loaded], list[tuple[str, str]]]:
    if options.by is not None:
        if b is not None:
            raise ValueError(f"{option('by')} splits one table: name one table, or two without {option('by')}")
        whole = _loaded(a, "the table", options, skipped)
        return split_by(whole, options.by, options.value_a, options.value_b), [(options.by, "it tells the sides apart")]
    if b is None:
        raise ValueError(f"name two tables, or one and the column that tells its sides apart with {option('by')}")
    if isinstance(a, str) and a == b == "-":
        raise ValueError("standard input can be one of the tables, not both")
    one, two = _loaded(a, "a", options, skipped), _loaded(b, "b", options, skipped)
    if one.name == two.name:  # the same file name in two folders
        one, two = (Loaded(t.table, str(s) if isinstance(s, str) else t.name) for t, s in ((one, a), (two, b)))
    if one.name == two.name:
        one, two = Loaded(one.table, f"{one.name} (a)"), Loaded(two.table, f"{two.name} (b)")
    return (one, two), []


def _loaded(source: Any, fallback: str, options: Options, skipped: list[str]) -> Loaded:
    found = load(source, fallback, options.delimiter, skipped if options.skip_bad_parts else None)
    return Loaded(mark_missing(found.table, options.missing), found.name)


def _looks(assessed: Assessed, alpha: float) -> list[Look]:
    looks = [_kernel_look(assessed.together, alpha)]
    for name, title, scored, p in assessed.others():
        largest = scored.largest()
        draws = largest.scores[0, :-1]
        null = {**histogram(draws), "n_draws": int(draws.size)}
        observed = float(largest.observed[0])
        axis = "largest normal score (standard deviations)"
        looks.append(Look(name, title, p, len(scored.scores), axis, observed, _upper(draws, alpha), null))
    return looks


def _kernel_look(together: Together, alpha: float) -> Look:
    result = together.result
    draws = getattr(result.null_distribution, "draws", None)
    null = None if draws is None or not len(draws) else {**histogram(draws), "n_draws": len(draws)}
    threshold = result.threshold(alpha)
    finite = threshold if np.isfinite(threshold) else None
    n_tests = max(1, len(result.candidates))
    axis = f"MMD^2 with {short_name(result.kernel)}"
    return Look("together", "all columns together", result.pvalue, n_tests, axis, result.statistic, finite, null)


def _upper(draws: Array, alpha: float) -> float | None:
    k = int(np.floor(alpha * (draws.size + 1)))
    return float(np.sort(draws)[draws.size - k]) if k >= 1 else None


def _described(
    columns: Sequence[Cells], encoding: Encoding, evidence: Evidence, alpha: float, names: tuple[str, str]
) -> list[Column]:
    own, corrected = evidence.by_column.pvalues(), evidence.by_column.corrected()
    found = []
    for j, cells in enumerate(columns):
        details = {
            "levels": describe_levels(cells),
            "chart": column_chart(cells, names),
            "encoding": str(encoding.codes[j]),
        }
        moved, periods = bool(corrected[j] <= alpha), encoding.codes[j].periods
        effect = evidence.effects[j] if moved or own[j] <= _PLAIN else 0.0
        if moved and effect == 0.0:
            rank = pooled_ranks(cells) if cells.kind in ("number", "time") else None
            effect = share_moved(cells, rank, periods, surely=True)
        found.append(
            Column(
                cells.name,
                cells.kind,
                effect,
                float(own[j]),
                float(corrected[j]),
                moved,
                tuple(moves(cells, periods, surely=moved)),
                describe_side(cells, False),
                describe_side(cells, True),
                details,
            )
        )
    return found


def _relations(columns: Sequence[Cells], evidence: Evidence, found: Sequence[Column], alpha: float) -> list[Relation]:
    scored = evidence.by_pair
    if scored is None:
        return []
    own, corrected = scored.pvalues(), scored.corrected()
    kept = []
    for (i, j), p, q in zip(evidence.pairs, own, corrected, strict=True):
        if q <= alpha and not found[i].moved and not found[j].moved:
            measured = relation_measure(columns[i], columns[j])
            kept.append(Relation((columns[i].name, columns[j].name), float(p), float(q), *measured))
    return sorted(kept, key=lambda relation: (relation.pvalue_corrected, -abs(relation.a - relation.b)))


def _details(
    columns: Sequence[Cells],
    ranked: Sequence[Column],
    relations: Sequence[Relation],
    assessed: Assessed,
    names: tuple[str, str],
) -> dict[str, Any]:
    place = {cells.name: cells for cells in columns}
    ordered = [place[column.name] for column in ranked]
    pair = telling(place, ranked, relations)
    bandwidth = getattr(assessed.effect.kernel, "bandwidth", None)
    if not isinstance(bandwidth, float):
        bandwidth = float(np.sqrt(len(assessed.encoding.owners)))
    return {
        "witness": None if pair is None else witness(*pair, names),
        "examples": examples(assessed.points, ordered, assessed.orders, bandwidth),
        "command": None,
    }


def _settings(options: Options) -> dict[str, Any]:
    return {
        "alpha": options.alpha,
        "seed": options.seed,
        "block_size": options.block_size,
        "budget": options.budget,
        "kernel": None if options.kernel is None else str(options.kernel),
        "null": None if options.null is None else str(options.null),
        "tolerance": options.tolerance,
        "columns": list(options.columns) or None,
        "exclude": list(options.exclude) or None,
        "common": options.common,
        "by": options.by,
        "a": None if options.value_a is None else str(options.value_a),
        "b": None if options.value_b is None else str(options.value_b),
        "delimiter": options.delimiter,
        "max_rows": options.max_rows,
        "missing": list(options.missing) or None,
        "categories": list(options.categories) or None,
        "memory": options.memory,
        "skip_bad_parts": options.skip_bad_parts,
    }
