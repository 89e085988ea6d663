"""Tests of independence of columns of one table: of two groups of columns, or of all pairs."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from btests._option_checks import check_alpha, check_seed
from btests.block_size import BUDGET
from btests.comparison.align import columns_of, reasons
from btests.comparison.cells import Cells
from btests.comparison.compare_options import MAX_ROWS, Options, require_columns
from btests.comparison.encoding import Encoding
from btests.comparison.format import counted, option, quoted_list
from btests.comparison.sources import Loaded, load, path_of, unused_text_format
from btests.comparison.tokens import mark_missing
from btests.comparison.verdicts import independence_verdict
from btests.data.text_format import TextFormat
from btests.designs import MIN_PAIRS
from btests.independence import independence_test
from btests.independence_pipeline import SMALLER_FAMILY
from btests.kernels.distances import squared_distances
from btests.multiple_testing import draws_for, holm
from btests.nulls import Null, SignFlip
from btests.plan import Array, Index
from btests.result import TestResult
from btests.statistics.cost import hsic_pair_seconds
from btests.statistics.paired_gram import u_centred

# Up to so many tests, few rows are permuted as a whole; fewest and most swaps of a test otherwise.
_FEW_TESTS, _SWAPS = 6, (1999, 19_999)

# Rows of a test of all pairs at least, however small the budget of each pair.
_FEWEST_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of the test, as in :func:`btests.independence_test`, and of the table, as in :func:`btests.compare`."""

    statistic: str = "hsic"
    null: str | None = None
    alpha: float = 0.05
    block_size: int | str | None = None
    budget: float | None = None
    seed: int = 0
    exclude: tuple[str, ...] = ()
    max_rows: int | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_seed(self.seed)

    @property
    def n_kernels(self) -> int:
        """Number of kernels of each side: several need swaps, which the kernels share."""
        return len(SMALLER_FAMILY.factors) if self.statistic == "hsic" and self.null in (None, "swap") else 1


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table, and what is collected as its columns are read."""

    table: Loaded
    excluded: list[tuple[str, str]]
    notes: list[str]

    def columns(self, names: Sequence[str], settings: Settings, *, named: bool) -> list[Cells]:
        """Return columns as ``compare`` reads them; ``named`` columns are not excluded as identifiers."""
        options = Options(
            columns=tuple(names) if named else (),
            common=True,
            seed=settings.seed,
            max_rows=settings.max_rows or MAX_ROWS,
            categories=tuple(name for name in settings.categories if name in names),
        )
        own = replace(self.table, table=self.table.table.select(list(names)))
        return columns_of(own, options, self.excluded, self.notes)

    def document(self, columns: Sequence[Cells], settings: Settings, result: TestResult) -> dict[str, Any]:
        """Return what both kinds of tests have in common."""
        return {
            "table": self.table.name,
            "alpha": settings.alpha,
            "statistic_name": settings.statistic,
            "null": repr(result.null),
            "seed": settings.seed,
            "rows": {"given": self.table.table.num_rows, "tested": result.n_x},
            "columns": [{"name": c.name, "kind": c.kind, "missing": int(c.missing.sum())} for c in columns],
            "excluded": [{"name": name, "reason": why} for name, why in self.excluded],
            "notes": list(dict.fromkeys(self.notes)),
        }


def open_table(source: Any, settings: Settings, sides: Mapping[str, Sequence[str]]) -> TableColumns:
    """Return the table after a check of the names of columns and of the number of rows, with remarks."""
    text = TextFormat(settings.delimiter)
    notes: list[str] = []
    found = load(source, "the table", text, notes=notes)
    there = found.table.column_names
    for keyword, names in {**sides, "exclude": settings.exclude, "categories": settings.categories}.items():
        require_columns(keyword, names, [(found.name, there)])
        if keyword in sides and (both := [name for name in names if name in settings.exclude]):
            raise ValueError(f"{option(keyword)} and {option('exclude')} both name {both[0]!r}")
    if (rows := found.table.num_rows) < MIN_PAIRS:
        raise ValueError(f"{found.name} has {counted(rows, 'row')}; a test of independence needs at least {MIN_PAIRS}")
    notes += unused_text_format([path_of(source)], text)
    tested = {*sides.get("x", ()), *sides["y"]} if sides.get("y") else set(there)
    unused = [name for name in settings.categories if name not in tested]
    notes += [f"{option('categories')} names {name!r}, which was not tested" for name in unused]
    excluded = [(name, "as asked") for name in settings.exclude]
    return TableColumns(replace(found, table=mark_missing(found.table, settings.missing)), excluded, notes)


def encoded(columns: Sequence[Cells]) -> list[Array]:
    """Return the coordinates of each column: (n, width) each."""
    return [code.transform(cells) for code, cells in zip(Encoding.fit(columns).codes, columns, strict=True)]


def groups_independence(source: Any, x: Sequence[str], y: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Return the test of independence of two groups of columns, as plain values.

    Parameters
    ----------
    source : data frame, array, mapping of columns, str or Path
        The table, as in :func:`btests.compare`.
    x, y : sequence of str
        Columns of the groups; no ``y`` is all columns that are not in ``x``.
    settings : Settings
        Options.

    Raises
    ------
    ValueError
        If the table cannot be read, a column does not exist or is in both groups, or no column of a group remains.
    """
    began = time.perf_counter()
    facts = open_table(source, settings, {"x": x, "y": y})
    if common := [name for name in x if name in y]:
        raise ValueError(f"{option('x')} and {option('y')} both name {quoted_list(common)}; a column is on one side")
    others = y or [name for name in facts.table.table.column_names if name not in (*x, *settings.exclude)]
    if not others:
        raise ValueError(f"{facts.table.name} has no column besides {quoted_list(x)}; {option('y')} needs one")
    sides = [facts.columns(x, settings, named=True), facts.columns(others, settings, named=bool(y))]
    one, two = (np.hstack(encoded(cells)) for cells in sides)
    result = run_pair(one, two, settings, facts.notes, null_for(settings))
    return _concluded(
        began,
        **facts.document([*sides[0], *sides[1]], settings, result),
        x=[cells.name for cells in sides[0]],
        y=[cells.name for cells in sides[1]],
        **outcome(result, settings.alpha),
        attainable=math.isfinite(result.threshold(settings.alpha)),
        blocks_text=result.blocks_text(),
        kernel=repr(result.kernel),
    )


def _concluded(began: float, **document: Any) -> dict[str, Any]:
    """Return the entries of a test with its verdict and the seconds since it began."""
    return {"verdict": independence_verdict(document), **document, "seconds": time.perf_counter() - began}


def run_pair(x: Array, y: Array, settings: Settings, notes: list[str], null: Null | str | None) -> TestResult:
    """Return the test of coordinates (n, d) and (n, e), which are on one scale; warnings become notes.

    In blocks: pairs of columns share a budget, which may be less than features of few frequencies take.
    """
    kernel = "gaussian" if settings.statistic == "hsic" and settings.n_kernels == 1 else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = independence_test(
            x,
            y,
            statistic=settings.statistic,
            method="blocks",
            kernel_x=kernel,
            kernel_y=kernel,
            null=null,
            block_size=settings.block_size,
            budget=settings.budget,
            seed=settings.seed,
            scale=False,
        )
    notes.extend(str(warning.message) for warning in caught)
    return result


def null_for(settings: Settings, n_tests: int = 1) -> Null | str | None:
    """Return the null, with as many draws as make half the level attainable after correction for ``n_tests``."""
    if settings.null not in (None, "swap") or n_tests <= _FEW_TESTS:
        return settings.null  # None permutes all of few rows, which takes a while
    return SignFlip(int(np.clip(draws_for(n_tests, settings.alpha), *_SWAPS)))


def outcome(result: TestResult, alpha: float, corrected: float | None = None) -> dict[str, Any]:
    """Return p-value, statistic and blocks of a test; the corrected p-value decides if it is given."""
    return {
        "dependent": (result.pvalue if corrected is None else corrected) <= alpha,
        "pvalue": result.pvalue,
        **({} if corrected is None else {"pvalue_corrected": corrected}),
        "statistic": result.statistic,
        "n_blocks": result.n_blocks,
        "block_size": result.block_size,
        "block_rule": result.block_rule,
    }


# Rows of the distance correlations at most, and entries of the distance matrices of all columns.
_STRENGTH_ROWS, _STRENGTH_ENTRIES = 1000, 2 * 10**7


def pairs_independence(
    source: Any, settings: Settings, progress: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Return the tests of independence of all pairs of columns, corrected by Holm's method, as plain values.

    Pairs are tested on the same rows, each within its share of the budget. ``progress`` is called with the share of
    pairs that are done.
    """
    began = time.perf_counter()
    if settings.null == "permutation":
        raise ValueError(f"{option('null')} permutation takes all rows of each pair in one block; use another null")
    facts = open_table(source, settings, {})
    names = [name for name in facts.table.table.column_names if name not in settings.exclude]
    settings = replace(settings, max_rows=settings.max_rows or _affordable_rows(len(names), settings))
    cells = facts.columns(names, settings, named=False) if names else []
    pairs = list(combinations(range(len(cells)), 2))
    if not pairs:
        why = f"{facts.table.name} has {len(cells)}" + (f": {reasons(facts.excluded)}" if facts.excluded else "")
        raise ValueError(f"{option('all_pairs')} needs two columns, and {why}")
    null, settings = null_for(settings, len(pairs)), replace(settings, budget=_pair_budget(len(pairs), settings))
    coordinates, results = encoded(cells), []
    for i, j in pairs:
        results.append(run_pair(coordinates[i], coordinates[j], settings, facts.notes, null))
        if progress is not None:
            progress(len(results) / len(pairs))
    corrected = holm(np.array([result.pvalue for result in results]))
    strengths, n_strength = distance_correlations(coordinates, settings.seed)
    found = [
        {
            "columns": [cells[i].name, cells[j].name],
            **outcome(result, settings.alpha, float(p)),
            "distance_correlation": float(strengths[i, j]),
        }
        for (i, j), result, p in zip(pairs, results, corrected, strict=True)
    ]
    found.sort(key=lambda pair: (pair["pvalue"], -pair["distance_correlation"]))
    return _concluded(
        began,
        **facts.document(cells, settings, results[0]),
        pairs=found,
        dependent=any(pair["dependent"] for pair in found),
        attainable=any(math.isfinite(result.threshold(settings.alpha / len(pairs))) for result in results),
        correction="holm",
        budget=settings.budget,
        distance_correlation_rows=n_strength,
    )


def distance_correlations(coordinates: Sequence[Array], seed: int) -> tuple[Array, int]:
    """Return bias-corrected distance correlations of columns, each (n, width), as (c, c), and the number of rows used.

    Square roots of the squared distance correlation of Szekely and Rizzo (2013), 0 where that is negative, on rows
    drawn at random.
    """
    n, c = len(coordinates[0]), len(coordinates)
    m = min(n, _STRENGTH_ROWS, max(MIN_PAIRS, math.isqrt(_STRENGTH_ENTRIES // c)))
    rows: Index = np.sort(np.random.default_rng([seed, 12]).choice(n, m, replace=False))
    centred = np.stack([u_centred(np.sqrt(squared_distances(own[rows], own[rows]))).ravel() for own in coordinates])
    products = centred @ centred.T
    norms = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    return np.sqrt(np.clip(products / np.outer(norms, norms), 0.0, 1.0)), m


def _affordable_rows(n_columns: int, settings: Settings) -> int:
    """Return how many rows each pair can have in blocks of their square root, the smallest, within its budget."""
    seconds = hsic_pair_seconds(settings.n_kernels, settings.n_kernels, 2)
    share = (settings.budget or BUDGET) / max(1, math.comb(n_columns, 2))
    # n^0.5 blocks of n^0.5 rows: 2 n^2 / n^0.5 pairs of pooled rows (see BlockRule.size_for).
    return min(MAX_ROWS, max(_FEWEST_ROWS, int((share / (2.0 * seconds)) ** (2 / 3))))


def _pair_budget(n_pairs: int, settings: Settings) -> float | None:
    """Return the budget of one pair; None if the block size is given by the user or by the null."""
    if settings.block_size not in (None, "auto") or settings.null == "normal":
        return None
    return (settings.budget or BUDGET) / n_pairs
