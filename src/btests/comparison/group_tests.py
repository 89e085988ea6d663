"""Tests of several groups of rows: all at once, column by column, and pair by pair."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from btests.block_size import BUDGET
from btests.comparison.cells import Cells
from btests.comparison.compare_options import Options
from btests.comparison.encoding import Encoding
from btests.comparison.groupby import balanced_rows
from btests.comparison.tests import WEIGHTS
from btests.independence_pipeline import SMALLER_FAMILY
from btests.kernels import Gaussian, median_bandwidth
from btests.ksample import PairResult, labelled_test, pairwise_tests
from btests.multiple_testing import draws_for, holm
from btests.nulls import SignFlip
from btests.plan import Array, Index
from btests.result import TestResult

# Rows of the tests of all groups at once, whose time grows faster than the rows.
_ROWS_AT_ONCE = 20_000

# Fewest draws of a test, most of a test of all groups at once, and most of a pair, which is much faster.
_DRAWS, _DRAWS_AT_ONCE, _DRAWS_OF_PAIR = 1999, 19_999, 99_999

# Rows for the bandwidth of the effect, and draws of its null distribution, which is not used.
_MEDIAN_ROWS, _FEW_DRAWS = 1000, 19


@dataclass(frozen=True, slots=True)
class GroupTests:
    """Tests of several groups.

    Attributes
    ----------
    pvalue : float
        Of the joint test and the tests of columns, corrected for both.
    joint : TestResult
        Test of all columns and all groups at once.
    columns : tuple of TestResult
        Test of each column, all groups at once.
    corrected : ndarray of shape (c,)
        P-values of columns, corrected for their number by Holm's method.
    pairs : tuple of PairResult
        Tests of all pairs of groups, corrected by Holm's method.
    effects : tuple of TestResult
        The pairs with one kernel, whose MMD^2 is the effect.
    rows : ndarray of int
        Rows of the tests of all groups at once.
    attainable : bool
        Whether a p-value can be as small as alpha for so many rows and draws.
    notes : tuple of str
        Warnings.
    """

    pvalue: float
    joint: TestResult
    columns: tuple[TestResult, ...]
    corrected: Array
    pairs: tuple[PairResult, ...]
    effects: tuple[TestResult, ...]
    rows: Index
    attainable: bool
    notes: tuple[str, ...]


def run_group_tests(
    columns: Sequence[Cells],
    encoding: Encoding,
    numbers: Index,
    options: Options,
    progress: Callable[[float], None],
) -> GroupTests:
    """Test whether groups differ.

    Nothing depends on how groups are numbered: all is estimated from pooled rows, and groups are in the order of their
    first rows.

    Parameters
    ----------
    columns : sequence of Cells
        Columns of all groups, as one side.
    encoding : Encoding
        Map from columns to coordinates, fitted on all these rows.
    numbers : ndarray of int, shape (n,)
        Number of the group of each row.
    options : Options
        Options of the comparison.
    progress : callable
        Called with the completed share of the tests.
    """
    labels, first = _by_appearance(numbers)
    rows = balanced_rows(labels, _ROWS_AT_ONCE, len(labels), options.seed)
    coordinates = [code.transform(cells) for code, cells in zip(encoding.codes, columns, strict=True)]
    points = np.hstack(coordinates)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        joint = _joint(points[rows], labels[rows], options)
        progress(0.3)
        own = [joint]
        if len(columns) > 1:
            own = [_column(part[rows], labels[rows], len(columns), options) for part in coordinates]
        progress(0.6)
        samples = [points[labels == g] for g in range(len(first))]
        pairs, effects = _pairs(samples, points, options, lambda share: progress(0.6 + 0.4 * share))
    pairs = _renumbered(pairs, first)
    corrected = holm(np.array([result.pvalue for result in own]))
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    pvalue, attainable = _verdict(joint, own, corrected, options.alpha)
    return GroupTests(pvalue, joint, tuple(own), corrected, pairs, effects, rows, attainable, notes)


def _by_appearance(numbers: Index) -> tuple[Index, Index]:
    """Return the groups of rows, numbered by their first rows, and the given number of each."""
    given, first, labels = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[labels], given[order]


def _renumbered(pairs: Sequence[PairResult], first: Index) -> tuple[PairResult, ...]:
    """Return pairs with the given numbers of their groups, the smaller first."""
    found = []
    for pair in pairs:
        i, j = sorted((int(first[pair.first]), int(first[pair.second])))
        found.append(pair._replace(first=i, second=j))
    return tuple(found)


def _joint(points: Array, labels: Index, options: Options) -> TestResult:
    null = _null(WEIGHTS["columns"] / WEIGHTS["joint"] + 1.0, options, _DRAWS_AT_ONCE)
    return labelled_test(
        points,
        labels,
        kernel=options.kernel,
        null=null,
        block_size=options.block_size,
        budget=options.budget,
        seed=options.seed,
    )


def _column(points: Array, labels: Index, n_columns: int, options: Options) -> TestResult:
    null = _null(n_columns * (WEIGHTS["joint"] / WEIGHTS["columns"] + 1.0), options, _DRAWS_AT_ONCE)
    budget = (options.budget or BUDGET) / n_columns
    return labelled_test(points, labels, kernel=SMALLER_FAMILY, null=null, budget=budget, seed=options.seed)


def _pairs(
    samples: Sequence[Array], points: Array, options: Options, progress: Callable[[float], None]
) -> tuple[tuple[PairResult, ...], tuple[TestResult, ...]]:
    """Return the tests of all pairs, and the tests with the kernel of the effect."""
    n_pairs = math.comb(len(samples), 2)
    budget, null = (options.budget or BUDGET) / n_pairs, _null(n_pairs, options, _DRAWS_OF_PAIR)
    seed, kernel = options.seed, options.kernel
    pairs = pairwise_tests(samples, kernel=kernel, null=null, seed=seed, budget=budget, progress=progress)
    if kernel is not None:
        return pairs, tuple(pair.result for pair in pairs)
    some = np.random.default_rng([0, 14]).permutation(len(points))[:_MEDIAN_ROWS]
    fixed = Gaussian(median_bandwidth(points[some]))
    effects = pairwise_tests(samples, kernel=fixed, null=SignFlip(_FEW_DRAWS), seed=0, budget=budget)
    return pairs, tuple(pair.result for pair in effects)


def _null(n_tests: float, options: Options, most: int) -> SignFlip | None:
    """Return the null with draws enough for so many tests, unless their number is given.

    None, which permutes few rows as a whole, if few draws will do.
    """
    if isinstance(options.null, SignFlip):
        return options.null
    n_draws = draws_for(math.ceil(n_tests), options.alpha)
    return None if n_draws <= _DRAWS else SignFlip(min(most, n_draws))


def _verdict(joint: TestResult, columns: Sequence[TestResult], corrected: Array, alpha: float) -> tuple[float, bool]:
    """Return the smaller p-value of joint test and columns, by Bonferroni's correction, and whether it can be alpha."""
    if len(columns) == 1:
        return joint.pvalue, math.isfinite(joint.threshold(alpha))
    total = WEIGHTS["joint"] + WEIGHTS["columns"]
    shares = {name: WEIGHTS[name] / total for name in ("joint", "columns")}
    pvalue = min(joint.pvalue / shares["joint"], float(corrected.min()) / shares["columns"])
    level = alpha * shares["columns"] / len(columns)
    attainable = [joint.threshold(alpha * shares["joint"]), *(column.threshold(level) for column in columns)]
    return min(1.0, pvalue), any(map(math.isfinite, attainable))


def group_against_others(cells: Cells, numbers: Index, group: int) -> tuple[Cells, Index]:
    """Return a column with the other groups as the first side and one group as the second, and the order of rows."""
    inside = numbers == group
    order = np.concatenate([np.flatnonzero(~inside), np.flatnonzero(inside)])
    return cells.take(order, int((~inside).sum())), order
