"""The block HSIC and distance covariance: dependence of the columns x and y of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add
from typing import ClassVar

import numpy as np

from btests import _core
from btests._core.threads import map_ranges
from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import JointSample
from btests.kernels.kernel import Radial, groups_of, terms_of, unit, weighted
from btests.kernels.pair import KernelPair
from btests.plan import Array, Plan, Run
from btests.statistics.numpy_backend import kernel_scales
from btests.statistics.paired_gram import PairedGram, permutation_moments, permuted_blocks
from btests.statistics.statistic import Accuracy
from btests.statistics.walsh_tiles import STRIP, Layout, Side
from btests.symmetries import Redraw, SwapTuples

# Elementary steps for a pair of rows and of kernels, to decide on threads.
_STEPS = 10

_SWAPS = SwapTuples()

#: Fewest rows of a block: the unbiased estimate divides by B (B - 3).
MIN_ROWS = 4


@dataclass(frozen=True, slots=True)
class HSIC:
    r"""Unbiased estimate of HSIC on each block (Song et al. 2012), for one or several pairs of kernels.

    With K and L the Gram matrices of x and of y, zero on the diagonal, it is ``[sum_ij K_ij L_ij + S_x S_y / ((B - 1)
    (B - 2)) - 2 r't / (B - 2)] / (B (B - 3))``, r and t the row sums and S_x and S_y the sums of all entries. With the
    kernel ``Energy()`` for x and y it is the unbiased squared distance covariance of Szekely and Rizzo.

    Attributes
    ----------
    kernels : tuple of KernelPair
        Kernels of x and of y. What pairs share is computed once.
    order : {0, 2, 3}
        Largest moment over all permutations of y that is computed, for null distributions in closed form. The second
        takes the time of the statistic again, the third time that grows with the cube of the block size.
    symmetry : SwapTuples or Redraw
        Swaps of y within tuples, or all permutations of y in a block.
    plain : bool
        Whether to compute in plain numpy even where loops are compiled.

    References
    ----------
    L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt, "Feature Selection via Dependence Maximization", JMLR 13,
    2012.
    G. J. Szekely, M. L. Rizzo, "The Distance Correlation t-Test of Independence in High Dimension", Journal of
    Multivariate Analysis 117, 2013.
    """

    kernels: tuple[KernelPair, ...]
    order: int = 0
    symmetry: SwapTuples | Redraw = _SWAPS
    plain: bool = False

    design: ClassVar[JointSample] = JointSample()

    def engine(self, x: AnySample) -> str:
        """Return the name of the backend: ``compiled`` if it computes all pairs of kernels, else ``numpy``."""
        compiled = all(self._is_compiled(pair, x.is_numeric) for pair in self.kernels)
        return "compiled" if compiled else "numpy"

    def gram(self, x: Sample, y: Sample) -> PairedGram:
        """Return the Gram matrices of all rows, for null distributions that need them."""
        return PairedGram(self.kernels[0], x, y)

    def prepare(self, x: AnySample, y: AnySample) -> HSIC:
        """Return this statistic: it is computed in one form."""
        return self

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return the product of the typical values of both kernels, for each pair."""
        scales = []
        for side, rows in (("x", x), ("y", y)):
            kernels = tuple(dict.fromkeys(getattr(pair, side) for pair in self.kernels))
            scales.append(dict(zip(kernels, kernel_scales(kernels, rows, rows), strict=True)))
        return tuple(Accuracy(scales[0][pair.x] * scales[1][pair.y]) for pair in self.kernels)

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        """Return values (m,) of blocks and moments (q, k, k) of nodes, per pair."""
        rows = _Rows(x, y, chunk)
        compiled = [pair for pair in self.kernels if self._is_compiled(pair, x.is_numeric and y.is_numeric)]
        others = [pair for pair in self.kernels if pair not in compiled]
        found = dict(zip(compiled, self._compiled(compiled, rows), strict=True)) if compiled else {}

        def plain(part: Run) -> list[tuple[Array, Array]]:
            if isinstance(self.symmetry, Redraw):
                return permuted_blocks(others, *rows.of(part), self.symmetry, part.first_block)
            return hsic_blocks(others, *rows.of(part), self.symmetry, chunk.plan)

        def closed(part: Run) -> list[tuple[Array, Array]]:
            return [permutation_moments(pair, *rows.of(part), self.order) for pair in self.kernels]

        if others:
            of_others = rows.by_parts(plain, len(others))
            found.update((p, (v, chunk.sum_nodes(c))) for p, (v, c) in zip(others, of_others, strict=True))
        if self.order == 0 or isinstance(self.symmetry, Redraw):
            return [found[pair] for pair in self.kernels]
        of_pairs = []
        for pair, own in zip(self.kernels, rows.by_parts(closed, len(self.kernels)), strict=True):
            values, moments = found[pair]
            of_pairs.append((values, self.symmetry.with_permutation_moments(moments, *map(chunk.sum_nodes, own))))
        return of_pairs

    def _compiled(self, pairs: Sequence[KernelPair], rows: _Rows) -> list[tuple[Array, Array]]:
        """Return values (m,) and moments (q, k, k) of pairs of kernels that have radial terms."""
        assert isinstance(self.symmetry, SwapTuples)
        b = rows.chunk.plan.block_size
        tuples = self.symmetry.tuple_size(b), self.symmetry.n_groups(b)

        def compute(of_x: tuple[Radial, ...], of_y: tuple[Radial, ...]) -> tuple[Array, Array]:
            sides = _core.Side(_columns(rows.x, of_x[0]), of_x), _core.Side(_columns(rows.y, of_y[0]), of_y)
            return _core.hsic(*sides, rows.chunk, tuples=tuples)

        return hsic_of_terms(pairs, compute)

    def _is_compiled(self, pair: KernelPair, is_numeric: bool) -> bool:
        if self.plain or not is_numeric or isinstance(self.symmetry, Redraw) or not _core.is_available():
            return False
        return terms_of(pair.x) is not None and terms_of(pair.y) is not None


def _columns(rows: Sample | RowSlice, term: Radial) -> Sample | RowSlice:
    return rows if term.columns is None else rows.columns(term.columns)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of x and y in a range of blocks."""

    x: Sample | RowSlice
    y: Sample | RowSlice
    chunk: BlockRange

    def of(self, part: Run) -> tuple[Array, Array]:
        """Return the rows of some blocks of one size: (m, b, d) and (m, b, e)."""
        x, y = (side.stack(part.start_x, part.n_blocks, part.b_x).astype(np.float64) for side in (self.x, self.y))
        return x, y

    def by_parts(self, compute: Callable[[Run], list[tuple[Array, Array]]], n_pairs: int) -> list[tuple[Array, Array]]:
        """Return two arrays of all blocks for each pair of kernels, computed a few blocks at a time."""
        parts = [part for run in self.chunk.runs() for part in _parts(run)]

        def some(first: int, last: int) -> list[list[tuple[Array, Array]]]:
            return [compute(part) for part in parts[first:last]]

        pairs_of_rows = self.chunk.n_blocks * self.chunk.plan.block_size**2 * n_pairs
        ranges = map_ranges(some, len(parts), _STEPS * pairs_of_rows, self.chunk.n_threads)
        of_pairs = zip(*(part for found in ranges for part in found), strict=True)
        return [tuple(np.concatenate(one) for one in zip(*of_pair, strict=True)) for of_pair in of_pairs]  # type: ignore[misc]


def _parts(run: Run) -> list[Run]:
    """Return consecutive blocks a few at a time: those whose kernel values fit into a strip, at least one."""
    step = max(1, STRIP // run.b_x**2)
    return [
        Run(run.first_block + i, min(step, run.n_blocks - i), start, start, run.b_x, run.b_x)
        for i in range(0, run.n_blocks, step)
        for start in (run.start_x + i * run.b_x,)
    ]


def hsic_blocks(
    kernels: Sequence[KernelPair], x: Array, y: Array, symmetry: SwapTuples, plan: Plan
) -> list[tuple[Array, Array]]:
    """Return HSIC of blocks x (m, b, d) and y (m, b, e), (m,), and moments (m, k, k), for each pair of kernels.

    Gram matrices are evaluated in strips of rows, from the diagonal on: a strip stands for its mirror image, too.
    """
    m, b = x.shape[:2]
    layout = Layout(symmetry.tuple_size(plan.block_size), symmetry.n_groups(plan.block_size), b)
    of_x, of_y = (list(dict.fromkeys(getattr(pair, side) for pair in kernels)) for side in "xy")
    sides = Side(x, of_x, layout, doubled=True), Side(y, of_y, layout)
    products = [layout.zeros(m) for _ in kernels]
    for start in range(0, layout.n_tuples, layout.strip):
        strips = [dict(zip(side.kernels, side.strips(start), strict=True)) for side in sides]
        for i, pair in enumerate(kernels):
            products[i] += layout.group_sums(strips[0][pair.x], strips[1][pair.y])
    margins, rests = zip(*(side.finish() for side in sides), strict=True)
    found = []
    for pair, sums in zip(kernels, products, strict=True):
        i, j = of_x.index(pair.x), of_y.index(pair.y)
        found.append(layout.moments(sums, (margins[0][i], margins[1][j]), (rests[0][i], rests[1][j])))
    return found


def hsic_of_terms(
    pairs: Sequence[KernelPair], compute: Callable[[tuple[Radial, ...], tuple[Radial, ...]], tuple[Array, Array]]
) -> list[tuple[Array, Array]]:
    """Return values and moments of pairs of kernels, which are linear in the kernel of x and in that of y.

    Parameters
    ----------
    pairs : sequence of KernelPair
        Kernels that have radial terms.
    compute : callable
        From i terms of x and j of y that are computed together, all of weight 1, to values (i, j, m) and moments
        (i, j, q, k, k).
    """
    own = [(terms_of(pair.x) or (), terms_of(pair.y) or ()) for pair in pairs]
    groups_x, groups_y = (groups_of(tuple(unit(t) for terms in own for t in terms[side])) for side in (0, 1))
    wanted = {(unit(s), unit(t)) for terms in own for s, t in product(*terms)}
    found: dict[tuple[Radial, Radial], tuple[Array, Array]] = {}
    for group_x, group_y in product(groups_x, groups_y):
        if wanted.isdisjoint(product(group_x, group_y)):
            continue
        values, moments = compute(group_x, group_y)
        for (i, s), (j, t) in product(enumerate(group_x), enumerate(group_y)):
            found[s, t] = values[i, j], moments[i, j]

    def total(terms: tuple[tuple[Radial, ...], tuple[Radial, ...]]) -> tuple[Array, Array]:
        parts = [[weighted(s, weighted(t, one)) for one in found[unit(s), unit(t)]] for s, t in product(*terms)]
        values, moments = (reduce(add, of) for of in zip(*parts, strict=True))
        return values, moments

    return [total(terms) for terms in own]
