"""Units of rows that swap sides together, and the signs that all looks at the data share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from btests.blocks import Array, Blocks, Index
from btests.nulls.signs import Flips, unpack


@dataclass(frozen=True, slots=True)
class Units:
    r"""The rows of two tables, dealt as ``Blocks`` deals them, by the sign that moves them.

    A sign flip swaps row r of a block of x with row r of the same block of y, the same way for all rows of a group and
    fold. With phi a vector of features centred at its pooled mean, the difference of the means of phi under signs s is
    ``c + sum_u s_u D_u``: D_u the sum of phi(x) - phi(y) over the pairs of unit u times (1 / n_x + 1 / n_y) / 2, and c
    the part of the rows without a partner.

    Attributes
    ----------
    x, y
        Rows of the pairs, unit after unit: two of the same length.
    starts
        Where the pairs of each unit begin in them: (u,).
    alone_x, alone_y
        Rows without a partner.
    signs
        For each draw, and last for the data as they are: (u, r + 1).
    exhaustive
        Whether the draws are all patterns of signs, the observed one, which is the first, among them.
    """

    x: Index
    y: Index
    starts: Index
    alone_x: Index
    alone_y: Index
    signs: Array
    exhaustive: bool

    @classmethod
    def of(cls, blocks: Blocks, flips: Flips) -> Units:
        """Return the units of blocks and the draws of flips."""
        rows_x, rows_y = blocks.partners()
        fold = np.searchsorted(blocks.fold_edges(), _block_of_pairs(blocks), side="right") - 1
        unit = fold * blocks.n_groups + _row_of_pairs(blocks) % blocks.n_groups
        order = np.argsort(unit, kind="stable")
        starts = np.searchsorted(unit[order], np.arange(blocks.n_folds * blocks.n_groups))
        signs = unpack(flips.words, flips.n_draws)[:, : blocks.n_groups].reshape(-1, flips.n_draws)
        signs = np.concatenate([signs, np.ones((len(signs), 1))], axis=1)
        alone_x = np.setdiff1d(np.arange(blocks.n_x), rows_x)
        alone_y = np.setdiff1d(np.arange(blocks.n_y), rows_y)
        return cls(rows_x[order], rows_y[order], starts, alone_x, alone_y, signs, flips.exhaustive)

    @property
    def weight(self) -> float:
        """Weight of a pair in the difference of means."""
        n_x, n_y = len(self.x) + len(self.alone_x), len(self.y) + len(self.alone_y)
        return 0.5 / n_x + 0.5 / n_y

    def differences(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Return D and c of features centred at their pooled mean: (n_x, k) and (n_y, k) to (u, k) and (k,)."""
        # Sums of the rows of a unit; a unit is never empty.
        moving = np.add.reduceat(x[self.x] - y[self.y], self.starts, axis=0)
        still = x[self.alone_x].sum(axis=0) - y[self.alone_y].sum(axis=0)
        return self.weight * moving, self.weight * still


def _block_of_pairs(blocks: Blocks) -> Index:
    parts = [
        np.repeat(np.arange(run.first_block, run.first_block + run.n_blocks), min(run.b_x, run.b_y))
        for run in blocks.runs(0, blocks.n_blocks)
    ]
    return np.concatenate(parts)


def _row_of_pairs(blocks: Blocks) -> Index:
    parts = [np.tile(np.arange(min(run.b_x, run.b_y)), run.n_blocks) for run in blocks.runs(0, blocks.n_blocks)]
    return np.concatenate(parts)
