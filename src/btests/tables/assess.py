"""The tests of a comparison: all columns together, one by one, and in pairs, under signs that they share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.blocks import Array, Index
from btests.tables.cells import Cells
from btests.tables.encoding import Encoding
from btests.tables.evidence import Evidence, gather
from btests.tables.relations import MOST_COLUMNS
from btests.tables.scores import Scored, combine
from btests.tables.together import Together, look
from btests.tables.units import Units


@dataclass(frozen=True, slots=True)
class Options:
    """What ``compare`` was called with."""

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
    block_size: int | None
    seed: int
    max_rows: int
    delimiter: str | None


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
    encoding, points, orders
        How columns became coordinates, those of both tables, and the orders in which their rows were dealt.
    notes
        What else one should know.
    """

    pvalue: float
    own: tuple[float, ...]
    together: Together
    evidence: Evidence
    encoding: Encoding
    points: tuple[Array, Array]
    orders: tuple[Index, Index]
    notes: tuple[str, ...]

    def others(self) -> Iterator[tuple[str, str, Scored, float]]:
        """Yield name, title, scores and p-value of the looks but the kernel's."""
        yield "columns", "columns one by one", self.evidence.by_column, self.own[1]
        if self.evidence.by_pair is not None:
            yield "pairs", "pairs of columns", self.evidence.by_pair, self.own[2]


def assess(columns: Sequence[Cells], options: Options, progress: Callable[[float], None]) -> Assessed:
    """Encode pooled columns and test them."""
    encoding = Encoding.fit(columns)
    n_a = columns[0].n_a
    orders = (_order(n_a, options.seed, 0), _order(len(columns[0]) - n_a, options.seed, 1))
    x, y = encoding.encode(columns, orders)
    progress(0.4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        together = look(
            x, y, kernel=options.kernel, null=options.null, block_size=options.block_size, seed=options.seed
        )
    notes = [str(warning.message) for warning in caught]
    progress(0.6)
    evidence = gather(columns, encoding, Units.of(together.blocks, together.flips, orders))
    if len(columns) > MOST_COLUMNS:
        notes.append(f"pairs of columns were not looked at: there are {len(columns)} columns, more than {MOST_COLUMNS}")
    progress(0.85)
    pvalue, own = _strongest(together, evidence)
    unique = tuple(dict.fromkeys(notes))
    return Assessed(pvalue, own, together, evidence, encoding, (x, y), orders, unique)


def _order(n: int, seed: int, side: int) -> Index:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 1 + side]))).permutation(n)


def _strongest(together: Together, evidence: Evidence) -> tuple[float, tuple[float, ...]]:
    """Return the p-value of the strongest look, and of each."""
    best = [scored.largest() for scored in (evidence.by_column, evidence.by_pair) if scored is not None]
    kernel = together.result.pvalue
    if together.scored is not None:
        pvalue, own = combine([together.scored, *best])
        return pvalue, (kernel, *(float(p) for p in own[1:]))
    # Other signs, or none: the rule of Bonferroni for the kernel and the others.
    pvalue, own = combine(best)
    return min(1.0, 2.0 * min(kernel, pvalue)), (kernel, *(float(p) for p in own))
