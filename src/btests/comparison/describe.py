"""Description of the tests of a comparison: columns, relations, charts and examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.changes import changes, level_shares
from btests.comparison.charts import column_chart, histogram
from btests.comparison.compare_options import Options
from btests.comparison.detectable import POWER, PowerSetting, column_level, detectable_share, detectable_shift
from btests.comparison.features import pooled_ranks
from btests.comparison.format import option, short_name
from btests.comparison.relations import relation_measure
from btests.comparison.results import Column, Comparison, Relation
from btests.comparison.row_origin import RowOrigin
from btests.comparison.scores import Scored
from btests.comparison.tests import ComponentTest, Tests
from btests.comparison.total_variation import both_beyond, columns_beyond, joint_beyond, total_variation
from btests.comparison.typical_rows import examples
from btests.comparison.witness import most_changed_pair, witness
from btests.plan import Array
from btests.result import TestResult

# Rows from which on a change of a few per cent is significant.
_MANY = 1000

# Number of rows from which examples are chosen.
_EXAMPLE_ROWS = 1500

# Levels in the summary of a column.
_LEVELS = 12


def describe(
    columns: Sequence[Cells],
    tests: Tests,
    names: tuple[str, str],
    options: Options,
    origins: tuple[RowOrigin, RowOrigin],
) -> Comparison:
    """Return the comparison of tested columns, without entries for rows and columns that were not tested.

    Parameters
    ----------
    columns : sequence of Cells
        The columns that were tested.
    tests : Tests
        Results of the tests.
    names : tuple of two str
        Names of the tables.
    options : Options
        Options of the comparison.
    origins : tuple of two RowOrigin
        Where the rows of both tables are in their files.
    """
    found = _columns(columns, tests, options.alpha, names)
    pvalue, beyond = tests.pvalue, None
    if options.tolerance == 0.0:  # more than nothing is any difference
        found = [replace(own, pvalue_beyond=own.pvalue_corrected, beyond=own.changed) for own in found]
    elif options.tolerance is not None:
        pvalue, beyond, found = _tolerated(columns, tests, options.tolerance, options.alpha, found)
    relations = _relations(columns, tests, found, options.alpha)
    ranked = sorted(found, key=lambda column: (-column.effect, column.pvalue))
    nothing = {"witness": None, "examples": None}
    details = {
        "relations_tested": len(tests.column_tests.pairs),
        "settings": options.to_dict(),
        "pvalue_any_difference": tests.pvalue,
        "beyond": beyond,
        "smallest_pvalue": tests.smallest_pvalue(),
        "detectable": _detectable(columns, tests, options) if tests.pvalue > options.alpha else None,
        **(
            _witness(columns, ranked, relations, tests, names=names, origins=origins)
            if tests.pvalue <= options.alpha
            else nothing
        ),
        "command": None,
    }
    return Comparison(
        pvalue,
        options.alpha,
        tests.joint.result,
        tests.joint.effect,
        tuple(ranked),
        tuple(relations),
        tuple(_component_tests(tests, options.alpha)),
        tests.encoding,
        (),
        (*tests.notes, *_many_rows(ranked, options)),
        names,
        details,
    )


def _detectable(columns: Sequence[Cells], tests: Tests, options: Options) -> dict[str, float | None] | None:
    """Return the changes of one column that would have been found with power ``POWER``; None if none could be.

    None for units, whose rows depend on one another to an unknown degree, and with a tolerance.
    """
    if options.unit is not None or options.tolerance is not None or tests.smallest_pvalue() > options.alpha:
        return None
    n_a, n = columns[0].n_a, len(columns[0])
    level = column_level(columns, options.alpha, tests.column_weight())
    design = PowerSetting(n_a, n - n_a, tests.n_signs, level)
    n_levels = [int((cells.counts() > 0).sum()) for cells in columns if cells.has_levels]
    share = detectable_share(design, min(n_levels)) if n_levels else None
    shift = None if len(n_levels) == len(columns) else detectable_shift(design)
    return None if share is shift is None else {"power": POWER, "share": share, "shift": shift}


def _many_rows(columns: Sequence[Column], options: Options) -> list[str]:
    """Return a note that advises a tolerance where all of several columns changed."""
    n = min((side["rows"] for column in columns for side in (column.a, column.b)), default=0)
    if options.tolerance is not None or len(columns) < 2 or not all(own.changed for own in columns):
        return []
    why = f"with {n} rows or more a side even small changes are significant" if n >= _MANY else "all columns changed"
    return [f"{why}; {option('tolerance', 0.05)} asks which changed by more than 5 % of the rows"]


def _component_tests(tests: Tests, alpha: float) -> list[ComponentTest]:
    found = [_joint_test(tests.joint.result, alpha)]
    for name, title, scored, p in tests.others():
        largest = scored.largest()
        draws = largest.scores[0, :-1]
        null = {**histogram(draws), "n_draws": int(draws.size)}
        observed = float(largest.observed[0])
        axis = "largest normal score (standard deviations)"
        found.append(ComponentTest(name, title, p, len(scored.scores), axis, observed, _upper(draws, alpha), null))
    return found


def _joint_test(result: TestResult, alpha: float) -> ComponentTest:
    draws = getattr(result.null_distribution, "draws", None)
    null = None if draws is None or not len(draws) else {**histogram(draws), "n_draws": len(draws)}
    threshold = result.threshold(alpha)
    finite = threshold if np.isfinite(threshold) else None
    n_tests = max(1, len(result.candidates))
    axis = f"MMD^2 with {short_name(result.kernel)}"
    return ComponentTest(
        "joint", "joint test of all columns", result.pvalue, n_tests, axis, result.statistic, finite, null
    )


def _upper(draws: Array, alpha: float) -> float | None:
    k = int(np.floor(alpha * (draws.size + 1)))
    return float(np.sort(draws)[draws.size - k]) if k >= 1 else None


def _columns(columns: Sequence[Cells], tests: Tests, alpha: float, names: tuple[str, str]) -> list[Column]:
    """Return the columns in their order; what is not significant has no effect and no changes."""
    scored, codes = tests.column_tests.by_column, tests.encoding.codes
    own, corrected = scored.pvalues(), _after_verdict(scored, tests.pvalue)
    found = []
    for j, cells in enumerate(columns):
        details = {
            "levels": describe_levels(cells),
            "chart": column_chart(cells, names),
            "encoding": str(codes[j]),
        }
        changed, periods = bool(corrected[j] <= alpha), codes[j].periods
        effect = 0.0
        if changed:
            effect = total_variation(cells, pooled_ranks(cells), periods, significant=True)
        found.append(
            Column(
                cells.name,
                cells.kind,
                effect,
                float(own[j]),
                float(corrected[j]),
                changed,
                tuple(changes(cells, periods)) if changed else (),
                describe_side(cells, False),
                describe_side(cells, True),
                details,
                names=names,
            )
        )
    return found


def _after_verdict(scored: Scored, pvalue: float) -> Array:
    """Return corrected p-values, at least that of the verdict: without a difference no column or pair changed."""
    return np.maximum(scored.corrected(), pvalue)


def _tolerated(
    columns: Sequence[Cells], tests: Tests, tolerance: float, alpha: float, found: Sequence[Column]
) -> tuple[float, dict[str, float | None], list[Column]]:
    """Return p-value, its parts and columns for the hypothesis that at most a tolerated share of rows differs.

    P-values are at least those of any difference: more than the tolerance is a difference.
    """
    own, shares = columns_beyond(columns, tests.orders, tolerance)
    joint = joint_beyond(tests.joint.effect, tolerance)
    pvalue = max(both_beyond(joint, own), tests.pvalue)
    marked = []
    for column, p, share in zip(found, own, shares, strict=True):
        corrected = max(float(p), column.pvalue_corrected, pvalue)
        effect = max(column.effect, float(share)) if corrected <= alpha else column.effect
        marked.append(replace(column, effect=effect, pvalue_beyond=corrected, beyond=corrected <= alpha))
    return pvalue, {"joint": joint, "columns": float(own.min())}, marked


def _relations(columns: Sequence[Cells], tests: Tests, found: Sequence[Column], alpha: float) -> list[Relation]:
    scored = tests.column_tests.by_pair
    if scored is None:
        return []
    own, corrected = scored.pvalues(), _after_verdict(scored, tests.pvalue)
    kept = []
    for (i, j), p, q in zip(tests.column_tests.pairs, own, corrected, strict=True):
        if q <= alpha and not found[i].changed and not found[j].changed:
            measured = relation_measure(columns[i], columns[j])
            kept.append(Relation((columns[i].name, columns[j].name), float(p), float(q), *measured))
    return sorted(kept, key=lambda relation: (relation.pvalue_corrected, -abs(relation.a - relation.b)))


def _witness(
    columns: Sequence[Cells],
    ranked: Sequence[Column],
    relations: Sequence[Relation],
    tests: Tests,
    *,
    names: tuple[str, str],
    origins: tuple[RowOrigin, RowOrigin],
) -> dict[str, Any]:
    """Return the witness function on two columns, and the rows most typical of each side."""
    cells = {own.name: own for own in columns}
    ordered = [cells[column.name] for column in ranked]
    related = relations[0].columns if relations else None
    pair = most_changed_pair(ordered, [(column.changed, column.effect) for column in ranked], related)
    bandwidth = getattr(tests.joint.effect.kernel, "bandwidth", None)
    if not isinstance(bandwidth, float):
        bandwidth = float(np.sqrt(len(tests.encoding.owners)))
    first = tests.orders[0][:_EXAMPLE_ROWS], tests.orders[1][:_EXAMPLE_ROWS]
    points = tests.encoding.encode(columns, first)
    return {
        "witness": None if pair is None else witness(*pair, names),
        "examples": examples(points, ordered, tests.orders, bandwidth, origins),
    }


_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


def describe_side(cells: Cells, b: bool) -> dict[str, Any]:
    """Return counts, moments and quantiles of one side; times as text."""
    missing, values = cells.missing[cells.side(b)], cells.values_of(b)
    out: dict[str, Any] = {"rows": len(missing), "missing": float(missing.mean()) if len(missing) else 0.0}
    names = ("mean", "sd", "min", *_QUANTILES, "max")
    if cells.kind == "category" or values.size == 0:
        return {**out, **dict.fromkeys(names)}
    found = [float(values.mean()), float(values.std()), float(values.min())]
    found += [float(q) for q in np.quantile(values, list(_QUANTILES.values()))]
    found.append(float(values.max()))
    numbers: dict[str, Any] = dict(zip(names, found, strict=True))
    if cells.kind == "time":
        numbers = {name: value if name == "sd" else cells.show(value) for name, value in numbers.items()}
    return {**out, **numbers}


def describe_levels(cells: Cells) -> list[dict[str, Any]] | None:
    """Return the levels whose shares changed most; None for numbers and times."""
    if not cells.has_levels:
        return None
    a, b = level_shares(cells)
    order = np.argsort(-np.abs(a - b), kind="stable")[:_LEVELS]
    return [{"level": cells.show(float(j)), "a": float(a[j]), "b": float(b[j])} for j in order]
