"""Random orders of rows, and units of rows that are swapped together by a sign flip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from btests.comparison.cells import Cells
from btests.plan import Array, Index, Plan
from btests.symmetries.swap_groups import SignDraws, unpack


@dataclass(frozen=True, slots=True)
class Units:
    r"""Rows of two tables in the order of their blocks, grouped by the sign that swaps them.

    A sign flip swaps row r of a block of x with row r of the same block of y, the same way for all rows of a group and
    stratum. With phi a vector of features centred at its pooled mean, the difference of the means of phi under signs s
    is ``c + sum_u s_u D_u``: D_u the sum of phi(x) - phi(y) over the pairs of unit u times (1 / n_x + 1 / n_y) / 2, and
    c the part of the rows without a partner.

    Attributes
    ----------
    rows : ndarray of int, shape (n_x + n_y,)
        Rows of both tables, those of the second numbered from n_x: of each table first those with a partner, by unit,
        then the others.
    n_x, n_pairs : int
        Number of rows of the first table, and of those with a partner.
    starts : ndarray of int, shape (u,)
        First pair of each unit.
    signs : ndarray of shape (u, r + 1)
        Signs of each draw, and last of the observed data.
    exhaustive : bool
        Whether the draws are all sign patterns, including the observed one.
    """

    rows: Index
    n_x: int
    n_pairs: int
    starts: Index
    signs: Array
    exhaustive: bool

    @classmethod
    def of(cls, plan: Plan, flips: SignDraws, orders: tuple[Index, Index]) -> Units:
        """Return the units of a plan and of draws of sign flips; ``orders`` are the random orders of the rows."""
        of_x, of_y = plan.partners()
        stratum = np.searchsorted(plan.stratum_edges(), _block_of_pairs(plan), side="right") - 1
        unit = stratum * plan.n_groups + _row_of_pairs(plan) % plan.n_groups
        order = np.argsort(unit, kind="stable")
        starts = np.searchsorted(unit[order], np.arange(plan.n_strata * plan.n_groups))
        signs = unpack(flips.words, flips.n_draws)[:, : plan.n_groups].reshape(-1, flips.n_draws)
        signs = np.concatenate([signs, np.ones((len(signs), 1))], axis=1)
        x = orders[0][np.concatenate([of_x[order], np.setdiff1d(np.arange(plan.n_x), of_x)])]
        y = orders[1][np.concatenate([of_y[order], np.setdiff1d(np.arange(plan.n_y), of_y)])]
        rows = np.concatenate([x, plan.n_x + y])
        return cls(rows, plan.n_x, len(of_x), starts, signs, flips.exhaustive)

    @property
    def weight(self) -> float:
        """Weight of a pair in the difference of means."""
        return 0.5 / self.n_x + 0.5 / (len(self.rows) - self.n_x)

    def permute(self, cells: Cells) -> Cells:
        """Return the cells of a column in the order of the units."""
        return replace(cells, values=cells.values[self.rows], missing=cells.missing[self.rows])

    def difference(self, feature: Array) -> tuple[Array, float]:
        """Return D and c of a centred feature in the order of the units: (n,) to (u,) and a number."""
        x, y = feature[: self.n_x], feature[self.n_x :]
        m = self.n_pairs
        moving = np.add.reduceat(x[:m] - y[:m], self.starts)  # a unit is never empty
        return self.weight * moving, self.weight * float(x[m:].sum() - y[m:].sum())

    def difference_of_rows(self, features: npt.NDArray[np.float32]) -> tuple[Array, Array]:
        """Return D and c of centred features in the order of the units: (n, k) to (u, k) and (k,)."""
        x, y = features[: self.n_x], features[self.n_x :]
        m = self.n_pairs
        moving = np.add.reduceat(x[:m].astype(np.float64) - y[:m], self.starts, axis=0)
        still = x[m:].sum(axis=0, dtype=np.float64) - y[m:].sum(axis=0, dtype=np.float64)
        return self.weight * moving, self.weight * still

    def count_difference(self, levels: Index, n_levels: int) -> tuple[Array, Array]:
        """Return D and c of the indicators of levels, centred at their pooled means: (n,) to (u, l) and (l,).

        Rows with the level ``n_levels`` have no indicator.
        """
        m, width = self.n_pairs, n_levels + 1
        unit = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, m)))
        x, y = levels[: self.n_x], levels[self.n_x :]
        counts = [np.bincount(unit * width + side[:m], minlength=len(self.starts) * width) for side in (x, y)]
        moving = (counts[0] - counts[1]).reshape(-1, width)[:, :n_levels].astype(np.float64)
        still = [np.bincount(side[m:], minlength=width)[:n_levels].astype(np.float64) for side in (x, y)]
        shares = np.bincount(levels, minlength=width)[:n_levels] / len(levels)
        alone = (len(x) - m) - (len(y) - m)
        return self.weight * moving, self.weight * (still[0] - still[1] - alone * shares)


def _block_of_pairs(plan: Plan) -> Index:
    parts = [
        np.repeat(np.arange(run.first_block, run.first_block + run.n_blocks), min(run.b_x, run.b_y))
        for run in plan.runs(0, plan.n_blocks)
    ]
    return np.concatenate(parts)


def _row_of_pairs(plan: Plan) -> Index:
    parts = [np.tile(np.arange(min(run.b_x, run.b_y)), run.n_blocks) for run in plan.runs(0, plan.n_blocks)]
    return np.concatenate(parts)


def row_orders(columns: Sequence[Cells], seed: int) -> tuple[Index, Index]:
    """Return random orders of the rows of both tables, the same two if the tables change places.

    The random stream of a table depends on its length or, for tables of one length, on the sums of its columns. The
    p-values remain exact: for sides of one length, swapping all pairs at once changes the sign of every difference of
    sums, and no statistic, so that the two are independent under the null hypothesis.
    """
    n_a = columns[0].n_a
    streams = (0, 1) if comes_first(columns) else (1, 0)
    first, second = (
        np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 1 + stream]))).permutation(n)
        for stream, n in zip(streams, (n_a, len(columns[0]) - n_a), strict=True)
    )
    return first, second


def comes_first(columns: Sequence[Cells]) -> bool:
    """Return whether the first table has the first stream, by a rule that is symmetric in the tables."""
    n_a = columns[0].n_a
    if 2 * n_a != len(columns[0]):
        return 2 * n_a > len(columns[0])
    for cells in columns:
        for found in (cells.missing, cells.values, np.abs(cells.values)):
            a, b = float(found[:n_a].sum()), float(found[n_a:].sum())
            if a != b:
                return a > b
    return True
