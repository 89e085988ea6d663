"""The tests of a comparison: joint, by column, and by pair of columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.block_size import PAPER_EXPONENT, UNEQUAL, root
from btests.comparison.cells import Cells
from btests.comparison.compare_options import Options
from btests.comparison.encoding import Encoding
from btests.comparison.features import column_differences, pooled_ranks, relation_scores
from btests.comparison.joint import Joint, joint_in_memory, joint_of_units
from btests.comparison.pairs import MOST_COLUMNS, Margin, most_scores, scored_pairs
from btests.comparison.row_units import RowUnits, row_orders
from btests.comparison.scores import ColumnFeatures, Scored, combine, quadratic_scores
from btests.comparison.swap_units import SwapUnits
from btests.designs.units import Grouped
from btests.nulls import SignFlip
from btests.plan import Index, Plan
from btests.symmetries import Bins, RelabelBins, SwapGroups

#: Weight of each test in the verdict: most changes of a table are changes of single columns.
WEIGHTS = {"joint": 1.0, "columns": 2.0, "pairs": 1.0}

# Tests of columns and pairs use blocks of at most _LARGEST_BLOCK rows, and strata as for _SHARES kernels: several
# hundred independent signs. The null variance of a linear statistic with score z is 1 + z^2 / n_signs times as large.
_LARGEST_BLOCK, _SHARES = 128, 8

# Bins of the shorter one of two tables of different lengths, and of both, at most.
_BINS = (128, 2048)

_DRAWS = SignFlip().n_resamples

#: Returns the joint test of columns, given their encoding and the orders of their rows.
JointTest = Callable[[Sequence[Cells], Encoding, tuple[Index, Index], Options], Joint]


@dataclass(frozen=True, slots=True)
class ColumnTests:
    """Scores of each column and of each pair under sign flips.

    ``by_pair`` is None if there is one column, or too many.
    """

    by_column: Scored
    pairs: tuple[tuple[int, int], ...]
    by_pair: Scored | None

    @classmethod
    def of(cls, columns: Sequence[Cells], encoding: Encoding, units: SwapUnits) -> ColumnTests:
        """Test columns one by one and in pairs, under the signs of ``units``."""
        most = most_scores(len(columns)) if len(columns) > 1 else 0
        features: list[ColumnFeatures] = []
        owners: list[int] = []
        margins = []
        for j, (cells, code) in enumerate(zip(columns, encoding.codes, strict=True)):
            permuted = units.permute(cells)
            rank = pooled_ranks(permuted)
            for part in column_differences(permuted, code, rank, units):
                features.append(part)
                owners += [j] * part.weights.shape[1]
            if most:
                scores, n_scores = relation_scores(permuted, rank, most)
                margins.append(Margin(scores.astype(np.float32), n_scores))
        # Present and missing cells have separate statistics: a column has changed if one of them has.
        by_column = quadratic_scores(features, units.signs, units.exhaustive).grouped(owners)
        if not most:
            return cls(by_column, (), None)
        pairs, by_pair = scored_pairs(margins, units)
        return cls(by_column, tuple(pairs), by_pair)


@dataclass(frozen=True, slots=True)
class ComponentTest:
    """One of the tests behind the verdict: joint, by column, or by pair.

    Attributes
    ----------
    name : str
        ``"joint"``, ``"columns"`` or ``"pairs"``.
    title : str
        The same in words.
    pvalue : float
        Of the largest statistic, corrected for ``n_tests``.
    n_tests : int
        Number of statistics: kernels, columns or pairs.
    axis : str
        Label of the statistic.
    observed : float
        Its value.
    threshold : float or None
        Critical value at alpha.
    null : dict or None
        Histogram of the null distribution.
    """

    name: str
    title: str
    pvalue: float
    n_tests: int
    axis: str
    observed: float
    threshold: float | None
    null: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of a comparison, and their inputs.

    Attributes
    ----------
    pvalue : float
        Smallest p-value of the tests, corrected for their number.
    pvalues : tuple of float
        P-value of each test, the joint one first.
    joint : Joint
        The joint test and the effect.
    column_tests : ColumnTests
        The tests of columns and pairs.
    encoding : Encoding
        Map from columns to coordinates.
    orders : tuple of two arrays
        Random orders of the rows of both tables.
    smallest : float
        Smallest p-value that the draws of the tests of columns and pairs can give.
    n_signs : int
        Number of signs, of groups of rows or of bins, in the tests of columns and pairs.
    notes : tuple of str
        Warnings.
    """

    pvalue: float
    pvalues: tuple[float, ...]
    joint: Joint
    column_tests: ColumnTests
    encoding: Encoding
    orders: tuple[Index, Index]
    smallest: float
    n_signs: int
    notes: tuple[str, ...]

    def smallest_pvalue(self) -> float:
        """Return the smallest attainable p-value for this number of rows and draws, after correction.

        It is that of the columns and pairs, which have the larger weight, or that of a joint null without draws.
        """
        others = sum(WEIGHTS[name] for name, *_ in self.others())
        total = WEIGHTS["joint"] + others
        return min(self.smallest * total / others, self.joint.result.smallest_pvalue * total / WEIGHTS["joint"])

    def column_weight(self) -> float:
        """Return the part of the level that the tests of columns have in the verdict."""
        total = sum(WEIGHTS[name] for name in ("joint", *(name for name, *_ in self.others())))
        return WEIGHTS["columns"] / total

    def others(self) -> Iterator[tuple[str, str, Scored, float]]:
        """Yield name, title, scores and p-value of the tests other than the joint one."""
        yield "columns", "columns one by one", self.column_tests.by_column, self.pvalues[1]
        if self.column_tests.by_pair is not None:
            yield "pairs", "pairs of columns", self.column_tests.by_pair, self.pvalues[2]


def run_tests(
    columns: Sequence[Cells],
    options: Options,
    progress: Callable[[float], None],
    joint_test: JointTest = joint_in_memory,
    units: RowUnits | None = None,
) -> Tests:
    """Encode pooled columns and test them.

    Parameters
    ----------
    columns : sequence of Cells
        Columns of both tables, or of rows drawn from them.
    options : Options
        Options of the comparison.
    progress : callable
        Called with the completed share of the comparison.
    joint_test : callable, optional
        The joint test; by default of the rows of ``columns``.
    units : RowUnits, optional
        Units of the rows, which are swapped as a whole; the joint test is then of the rows of ``columns``.
    """
    encoding = Encoding.fit(columns)
    own = row_orders(columns, options.seed) if units is None else units.orders(columns, options.seed)
    orders = own if units is None else units.rows(own)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if units is None:
            joint = joint_test(columns, encoding, orders, options)
        else:
            joint = joint_of_units(columns, encoding, units, options)
    notes = [str(warning.message) for warning in caught]
    if joint.result.note:
        notes.append(f"joint test: {joint.result.note}")
    progress(0.8)
    swapped = _swapped(own, None if units is None else (units.a, units.b), options.seed)
    column_tests = ColumnTests.of(columns, encoding, swapped)
    if len(columns) > MOST_COLUMNS:
        notes.append(f"pairs of columns were not tested: there are {len(columns)} columns, more than {MOST_COLUMNS}")
    progress(0.85)
    pvalue, pvalues = _smallest(joint, column_tests)
    smallest, n_signs = swapped.smallest_pvalue, len(swapped.signs)
    return Tests(pvalue, pvalues, joint, column_tests, encoding, orders, smallest, n_signs, tuple(dict.fromkeys(notes)))


def _swapped(orders: tuple[Index, Index], groups: tuple[Grouped, Grouped] | None, seed: int) -> SwapUnits:
    """Return the units of rows that are swapped or relabelled in the tests of columns and pairs."""
    n_x, n_y = map(len, orders)
    if groups is None and max(n_x, n_y) > UNEQUAL * min(n_x, n_y):
        bins = Bins.of(n_x, n_y, _BINS)
        return SwapUnits.of_bins(bins, RelabelBins(bins).draw(Plan(n_x, n_y, 1), (), _DRAWS, seed), orders)
    plan = Plan.of_size(n_x, n_y, min(_LARGEST_BLOCK, root(min(n_x, n_y), PAPER_EXPONENT)), _SHARES)
    flips = SwapGroups().draw(plan, plan.moments_shape, _DRAWS, seed)
    return SwapUnits.of(plan, flips, orders, groups)


def _smallest(joint: Joint, column_tests: ColumnTests) -> tuple[float, tuple[float, ...]]:
    """Return the smallest p-value, corrected, and the p-value of each test.

    Columns and pairs share their signs and the joint test has others; the two are combined by Bonferroni's correction.
    """
    found = [(column_tests.by_column, WEIGHTS["columns"]), (column_tests.by_pair, WEIGHTS["pairs"])]
    best = [scored.largest() for scored, _ in found if scored is not None]
    weights = [weight for scored, weight in found if scored is not None]
    kernel = joint.result.pvalue
    pvalue, own = combine(best, weights)
    total = WEIGHTS["joint"] + sum(weights)
    both = min(kernel * total / WEIGHTS["joint"], pvalue * total / sum(weights))
    return min(1.0, both), (kernel, *(float(p) for p in own))
