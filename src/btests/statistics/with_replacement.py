"""MMD on blocks that are drawn from all rows with replacement, after Ho and Shieh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import TwoSample
from btests.kernels.kernel import Kernel
from btests.plan import Array, Index, Plan
from btests.statistics.numpy_backend import block_values, gram_stacks, grouped_paired_moments, kernel_scales
from btests.statistics.statistic import Accuracy
from btests.symmetries import SharedSwaps


@dataclass(frozen=True, slots=True)
class WithReplacement:
    r"""Average of the unbiased MMD^2 of blocks, each a uniform subset of all rows, drawn independently of the others.

    A test of n rows a side in blocks of B rows has ``m = [n / B]`` blocks, as many as without replacement and at the
    same cost; a row may be in several blocks, and some rows are in none. Row a of x is drawn together with row a of y.
    The variance of the average is ``Var(U_n) + (Var(U_B) - Var(U_n)) / m``, U_b the estimate from b rows: never less
    than that of disjoint blocks, and up to twice as much where the distributions differ. It is here for comparison.

    The variance may be obtained by Monte Carlo, which is ``null=SignFlip()`` and exact: a row is swapped in all its
    blocks at once. The jackknife and the bootstrap of the block values (``null="jackknife"``, ``Bootstrap()``) ignore
    that blocks share rows. For samples of one length, in memory.

    This is our interpretation of two sentences on Ho and Shieh (2006) in section 1 of Zaremba et al. (2013).

    Attributes
    ----------
    kernels : tuple of Kernel
        One or several kernels.
    seed : int
        Seed of the subsets of the rows, which are in random order already unless ``shuffle=False``.

    See Also
    --------
    btests.MMD : Disjoint blocks.
    btests.TU : The other statistic of Ho and Shieh.

    References
    ----------
    H.-C. Ho, G. S. Shieh, "Two-stage U-statistics for hypothesis testing", Scandinavian Journal of Statistics 33, 2006.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(500, 2)), rng.normal(0.4, 1.0, size=(500, 2))
    >>> btests.btest(x, y, kernel="energy", statistic=btests.WithReplacement, block_size=25, seed=1).pvalue
    0.0005
    """

    kernels: tuple[Kernel, ...]
    seed: int = 0

    design: ClassVar[TwoSample] = TwoSample()
    symmetry: ClassVar[SharedSwaps] = SharedSwaps()
    wants_all_rows: ClassVar[bool] = True

    def engine(self, x: AnySample) -> str:
        """Return the name of the backend."""
        return "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        """Raise: a null distribution of all rows at once has no blocks."""
        raise ValueError("WithReplacement draws blocks, and this null tests all rows at once; take null=SignFlip()")

    def prepare(self, x: AnySample, y: AnySample) -> WithReplacement:
        """Return the statistic; raise ``ValueError`` for samples of different lengths."""
        if len(x) != len(y):
            raise ValueError(
                f"WithReplacement needs samples of one length, got {len(x)} and {len(y)} rows; take statistic=None"
            )
        return self

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return the scale of each kernel; values are accurate to rounding."""
        return tuple(Accuracy(scale) for scale in kernel_scales(self.kernels, x, y))

    def rows(self, chunk: BlockRange) -> Index:
        """Return the rows of blocks, keyed by seed and block: (m, B)."""
        plan = chunk.plan
        drawn = np.empty((chunk.n_blocks, plan.block_size), dtype=np.int64)
        for own, block in zip(drawn, chunk.numbers, strict=True):
            rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([self.seed, 0x5E7, block])))
            own[:] = rng.choice(plan.n_x, plan.block_size, replace=False)
        return drawn

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        """Return values (m,) of drawn blocks and moments (q, k, k) of nodes, for each kernel."""
        assert isinstance(x, Sample)
        assert isinstance(y, Sample)
        plan, rows = chunk.plan, self.rows(chunk)
        samples = x.take(rows.ravel()), y.take(rows.ravel())
        k, _ = self.symmetry.moment_shape(plan.n_x, plan.n_y, plan.n_blocks)
        return [_summarized(kernel, samples, rows % k, chunk.edges - chunk.first, k) for kernel in self.kernels]


def _summarized(
    kernel: Kernel, samples: tuple[Sample, Sample], groups: Index, edges: Index, n_groups: int
) -> tuple[Array, Array]:
    """Return values (m,) and moments (q, k, k) of blocks of rows in some groups (m, b); edges of nodes are (q + 1,)."""
    m, b = groups.shape
    n_nodes, shape = len(edges) - 1, (-1, n_groups, n_groups)
    node = np.searchsorted(edges, np.arange(m), side="right") - 1
    values, within, cross = np.empty(m), np.zeros(n_nodes * n_groups**2), np.zeros(n_nodes * n_groups**2)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused in the end
        for i, xx, yy, xy in gram_stacks(kernel, *samples, BlockRange.of(Plan(m * b, m * b, m))):
            here = slice(i, i + len(xx))
            values[here] = block_values(xx, yy, xy, paired=True)
            rows = node[here, None] * n_groups + groups[here]
            pairs = (rows[:, :, None] * n_groups + groups[here, None, :]).ravel()
            within += np.bincount(pairs, (xx + yy).ravel(), within.size)
            cross += np.bincount(pairs, xy.ravel(), cross.size)
        return values, grouped_paired_moments(within.reshape(shape), cross.reshape(shape), b)
