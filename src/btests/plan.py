"""Plan of a test: rows in blocks, rows of a block in groups, blocks in strata."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

#: Largest number of groups of rows of a block. 32 lanes of accumulators fit the registers of the compiled
#: loops, and leave out only the 1/32 of the pairs that lie inside a group from what a sign flip can move.
MAX_GROUPS = 32

#: Most numbers of all moments of a summary together; at least half as many where there are blocks for them. Under
#: H_A, flips shared within a stratum widen the null variance by 2 z^2 / 2^15 at most (z the observed z-score), so this
#: costs no power and keeps a summary near half a megabyte.
MOMENT_BUDGET = 2**16

#: The moments of a family of kernels are that much smaller at most: 2^12 numbers for each kernel widen the null
#: variance by 1 % only at z = 5, and what 26 kernels cost is not the reading and writing of their moments.
MOST_SHARES = 8

#: Most strata. Blocks of two rows have one pair each: 2048 of them widen the variance by z^2 / 2048, 1 % at z = 5.
MAX_STRATA = 2**12


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive blocks of one shape: ``n_blocks`` blocks of ``b_x`` and ``b_y`` rows."""

    first_block: int
    n_blocks: int
    start_x: int
    start_y: int
    b_x: int
    b_y: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Put ``n_x`` and ``n_y`` rows into ``n_blocks`` blocks, so that every row is used.

    Blocks of one sample differ in size by one row at most, larger blocks first. Row ``r`` of a block belongs to group
    ``r mod n_groups``; consecutive blocks, a power of two of them, form a stratum. Groups and strata are the
    resolution of a summary: the rows of one group, in all blocks of one stratum, share their sign in a sign
    flip. A plan for several kernels has coarser strata. Where a statistic ``adds_rows``, moments are sums over rows,
    and blocks of different sizes add.
    """

    n_x: int
    n_y: int
    n_blocks: int
    n_kernels: int = 1
    moment_shape: tuple[int, ...] | None = field(default=None, repr=False, compare=False)
    adds_rows: bool = field(default=False, repr=False)

    @classmethod
    def of_size(cls, n_x: int, n_y: int, block_size: int, n_kernels: int = 1) -> Plan:
        """Return as many blocks of at least ``block_size`` rows a side as the smaller sample fills."""
        return cls(n_x, n_y, min(n_x, n_y) // block_size, n_kernels)

    @property
    def moments_shape(self) -> tuple[int, ...]:
        """Shape of the moments of all strata: (n_strata, *shape)."""
        return self.n_strata, *self._shape

    @property
    def moment_numbers(self) -> int:
        """Numbers in the moments of a block."""
        return math.prod(self._shape)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.moment_size, self.moment_size) if self.moment_shape is None else self.moment_shape

    @property
    def paired(self) -> bool:
        """Whether x and y have as many rows, so that row a of x pairs with row a of y (the paper's setting)."""
        return self.n_x == self.n_y

    @property
    def block_size(self) -> int:
        """Rows a side in the smallest block, the paper's B; some blocks may hold one more."""
        return min(self.n_x, self.n_y) // self.n_blocks

    @property
    def n_groups(self) -> int:
        """Groups in each block."""
        return min(MAX_GROUPS, self.block_size)

    @property
    def moment_size(self) -> int:
        """Rows of the moments of a block: the groups, and with different lengths one more for all that never swaps."""
        return self.n_groups + (not self.paired)

    @property
    def stratum_level(self) -> int:
        """Blocks in a stratum, as a power of two: the least that keeps the strata within their budget."""
        most = max(1, min(MAX_STRATA, MOMENT_BUDGET // min(self.n_kernels, MOST_SHARES) // self.moment_numbers))
        return max(0, (-(-self.n_blocks // most) - 1).bit_length())

    @property
    def n_strata(self) -> int:
        """Folds over all blocks; fewer where many kernels are summarized at once."""
        return -(-self.n_blocks >> self.stratum_level)

    def stratum_edges(self) -> Index:
        """Return the first block of each stratum and the end: (n_strata + 1,). The last stratum may be smaller."""
        edges = np.arange(self.n_strata + 1, dtype=np.int64) << self.stratum_level
        edges[-1] = self.n_blocks
        return edges

    def start(self, block: int) -> tuple[int, int]:
        """Return the first row of x and of y in a block; for the number of blocks the ends."""
        return tuple(block * (n // self.n_blocks) + min(block, n % self.n_blocks) for n in (self.n_x, self.n_y))  # type: ignore[return-value]

    def runs(self, first_block: int, last_block: int) -> Iterator[Run]:
        """Yield blocks ``first_block .. last_block - 1`` as runs of one shape."""
        q_x, r_x = divmod(self.n_x, self.n_blocks)
        q_y, r_y = divmod(self.n_y, self.n_blocks)
        edges = sorted({first_block, last_block} | {r for r in (r_x, r_y) if first_block < r < last_block})
        for i, j in pairwise(edges):
            start_x, start_y = i * q_x + min(i, r_x), i * q_y + min(i, r_y)
            yield Run(i, j - i, start_x, start_y, q_x + (i < r_x), q_y + (i < r_y))

    @property
    def n_partners(self) -> int:
        """Rows of x that swap places with one of y."""
        return sum(run.n_blocks * min(run.b_x, run.b_y) for run in self.runs(0, self.n_blocks))

    def partners(self, numbers: Index | None = None) -> tuple[Index, Index]:
        """Return the rows of x and of y that swap places, block by block: of these pairs, or of all: two of (m,)."""
        numbers = np.arange(self.n_partners) if numbers is None else numbers
        of_x, of_y, begin = np.empty_like(numbers), np.empty_like(numbers), 0
        for run in self.runs(0, self.n_blocks):
            b = min(run.b_x, run.b_y)
            here = (numbers >= begin) & (numbers < begin + run.n_blocks * b)
            block, row = np.divmod(numbers[here] - begin, b)
            of_x[here], of_y[here] = run.start_x + block * run.b_x + row, run.start_y + block * run.b_y + row
            begin += run.n_blocks * b
        return of_x, of_y

    def pair_weights(self) -> Array:
        """Return the expected moments of paired samples per unit of MMD^2, averaged over blocks: (g, g)."""
        total = np.zeros((self.n_groups, self.n_groups))
        for run in self.runs(0, self.n_blocks):
            w = group_weights(run.b_x, self.n_groups)
            total += run.n_blocks * np.outer(w, w)
        np.fill_diagonal(total, 0.0)
        return total / self.n_blocks

    def flipped_share(self) -> float:
        """Return the variance of the sum of all moments over that of the sum of all block values, paired, under H0.

        It is the share of pairs between different groups: pairs inside a group do not move.
        """
        moments = values = 0.0
        for run in self.runs(0, self.n_blocks):
            pairs = run.b_x * (run.b_x - 1)
            sizes = group_sizes(run.b_x, self.n_groups)
            moments += run.n_blocks * float(run.b_x**2 - (sizes**2).sum()) / pairs**2
            values += run.n_blocks / pairs
        return moments / values


def group_sizes(n_rows: int, n_groups: int) -> Index:
    """Return how many of ``n_rows`` rows each group holds, row r in group r mod n_groups: (n_groups,)."""
    return n_rows // n_groups + (np.arange(n_groups) < n_rows % n_groups).astype(np.int64)


def group_weights(b: int, n_groups: int) -> Array:
    r"""Return the weight of each group's mean difference in the moments of a block of ``b`` pairs: (n_groups,).

    With D_u the mean feature of group u in x minus that in y, the moments are w_u w_v <D_u, D_v>, and the weights give
    back the paper's average: w_u w_v = g_u g_v / (b (b - 1)).
    """
    return np.asarray(group_sizes(b, n_groups) / np.sqrt(b * (b - 1.0)))
