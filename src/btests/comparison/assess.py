"""The tests of a comparison: all columns together, one by one, and in pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.encoding import Encoding
from btests.comparison.evidence import Evidence, gather
from btests.comparison.relations import MOST_COLUMNS
from btests.comparison.scores import Scored, combine
from btests.comparison.together import Together, look, measure
from btests.comparison.units import Units
from btests.nulls import SignFlip
from btests.plan import Array, Index
from btests.result import TestResult

#: What a look counts for in the verdict: what happens to a table happens to a column of it as a rule.
WEIGHTS = {"together": 1.0, "columns": 2.0, "pairs": 1.0}


@dataclass(frozen=True, slots=True)
class Options:
    """What ``compare`` was called with; ``is_drawn`` if ``max_rows`` was named."""

    by: str | None
    value_a: Any
    value_b: Any
    columns: tuple[str, ...]
    exclude: tuple[str, ...]
    common: bool
    alpha: float
    tolerance: float | None
    kernel: Any
    null: Any
    block_size: int | str | None
    seed: int
    max_rows: int
    delimiter: str | None
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    is_drawn: bool = False
    memory: int | str | None = None
    checkpoint: str | None = None
    skip_bad_parts: bool = False
    workers: Any = None
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class Assessed:
    """The tests of a comparison, and what they were made on.

    Attributes
    ----------
    pvalue
        Of the strongest look, corrected for their number.
    own
        The p-value of each look, the kernel's first.
    together, evidence
        What the looks found.
    effect
        The test whose MMD^2 is the effect. It depends neither on the seed nor on which table is named first.
    encoding, points, orders
        How columns became coordinates, those of both tables, and the orders in which their rows were dealt.
    notes
        What else one should know.
    """

    pvalue: float
    own: tuple[float, ...]
    together: Together
    evidence: Evidence
    effect: TestResult
    encoding: Encoding
    points: tuple[Array, Array]
    orders: tuple[Index, Index]
    notes: tuple[str, ...]

    def smallest_pvalue(self) -> float:
        """Return the smallest p-value that so many rows and draws of signs can give, 0 for nulls without draws.

        It is that of the columns and pairs, which have the larger weight.
        """
        if not isinstance(self.together.result.null, SignFlip):
            return 0.0
        flips, paired = self.together.flips, self.together.plan.paired
        # With equal numbers of rows, swapping all pairs at once leaves every statistic as it is.
        own = (2 if paired else 1) / flips.n_draws if flips.exhaustive else 1.0 / (flips.n_draws + 1)
        others = sum(WEIGHTS[name] for name, *_ in self.others())
        return own * (WEIGHTS["together"] + others) / others

    def others(self) -> Iterator[tuple[str, str, Scored, float]]:
        """Yield name, title, scores and p-value of the looks but the kernel's."""
        yield "columns", "columns one by one", self.evidence.by_column, self.own[1]
        if self.evidence.by_pair is not None:
            yield "pairs", "pairs of columns", self.evidence.by_pair, self.own[2]


def assess(columns: Sequence[Cells], options: Options, progress: Callable[[float], None]) -> Assessed:
    """Encode pooled columns and test them."""
    encoding = Encoding.fit(columns)
    orders = deal_rows(columns, options.seed)
    x, y = encoding.encode(columns, orders)
    progress(0.4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        together = look(
            x,
            y,
            kernel=options.kernel,
            null=options.null,
            block_size=options.block_size,
            budget=options.budget,
            seed=options.seed,
        )
        effect = _measured(x, y, columns, options, orders)
    notes = [str(warning.message) for warning in caught]
    if together.result.note:
        notes.append(f"joint test: {together.result.note}")
    progress(0.6)
    evidence = gather(columns, encoding, Units.of(together.plan, together.flips, orders))
    notes.extend(too_many_columns(columns))
    progress(0.85)
    pvalue, own = strongest(together, evidence)
    unique = tuple(dict.fromkeys(notes))
    return Assessed(pvalue, own, together, evidence, effect, encoding, (x, y), orders, unique)


def too_many_columns(columns: Sequence[Cells]) -> list[str]:
    """Return a sentence where there are too many columns for a look at their pairs."""
    if len(columns) <= MOST_COLUMNS:
        return []
    return [f"pairs of columns were not looked at: there are {len(columns)} columns, more than {MOST_COLUMNS}"]


def deal_rows(columns: Sequence[Cells], seed: int) -> tuple[Index, Index]:
    """Return the orders in which rows are dealt, the same two where the tables change places.

    Which of two streams of random numbers a table gets is told by its length or, of two as long as one another, by the
    sums of its columns. That leaves the p-values exact: between sides of one length no statistic changes when all pairs
    swap at once, which changes the sign of every difference of sums, so that neither says anything about the other.
    """
    n_a = columns[0].n_a
    streams = (0, 1) if comes_first(columns) else (1, 0)
    first, second = (
        np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 1 + stream]))).permutation(n)
        for stream, n in zip(streams, (n_a, len(columns[0]) - n_a), strict=True)
    )
    return first, second


def comes_first(columns: Sequence[Cells]) -> bool:
    """Whether the first table is dealt first, told by what does not depend on which is named first."""
    n_a = columns[0].n_a
    if 2 * n_a != len(columns[0]):
        return 2 * n_a > len(columns[0])
    for cells in columns:
        for found in (cells.missing, cells.values, np.abs(cells.values)):
            a, b = float(found[:n_a].sum()), float(found[n_a:].sum())
            if a != b:
                return a > b
    return True


def _measured(
    x: Array, y: Array, columns: Sequence[Cells], options: Options, orders: tuple[Index, Index]
) -> TestResult:
    fixed = deal_rows(columns, 0)
    if options.seed != 0:
        x, y = (side[_inverse(order)[always]] for side, order, always in zip((x, y), orders, fixed, strict=True))
    return measure(x, y, kernel=options.kernel, block_size=options.block_size, budget=options.budget)


def _inverse(order: Index) -> Index:
    out = np.empty_like(order)
    out[order] = np.arange(len(order))
    return out


def strongest(together: Together, evidence: Evidence) -> tuple[float, tuple[float, ...]]:
    """Return the p-value of the strongest test, and of each.

    Columns and pairs share their signs, and the kernel test has others: the rule of Bonferroni for the two.
    """
    found = [(evidence.by_column, WEIGHTS["columns"]), (evidence.by_pair, WEIGHTS["pairs"])]
    best = [scored.largest() for scored, _ in found if scored is not None]
    weights = [weight for scored, weight in found if scored is not None]
    kernel = together.result.pvalue
    pvalue, own = combine(best, weights)
    total = WEIGHTS["together"] + sum(weights)
    both = min(kernel * total / WEIGHTS["together"], pvalue * total / sum(weights))
    return min(1.0, both), (kernel, *(float(p) for p in own))
