"""From Gram matrices to what a block leaves behind: the plain twin of the compiled loops."""

from __future__ import annotations

import numpy as np

from btests.blocks import Array

_ROUNDING = 4.0 * np.finfo(np.float64).eps


def without_diagonal(gram: Array) -> Array:
    """Return the stack with zeros on the diagonals: (m, b, b) to (m, b, b). A mask: k(x, x) need not be 1."""
    b = gram.shape[-1]
    return np.where(np.eye(b, dtype=bool), 0.0, gram)


def difference(a: Array, b: Array) -> Array:
    """Return a - b, and 0 where that is no more than the rounding of a and b: (...) to (...).

    Rows that are all equal give equal sums on paper. Their rounding must not pass for a difference between samples.
    """
    return np.where(np.abs(a - b) <= _ROUNDING * (np.abs(a) + np.abs(b)), 0.0, a - b)


def block_values(xx: Array, yy: Array, xy: Array, *, paired: bool) -> Array:
    """Return the unbiased MMD^2 of each block: stacks (m, b, b), (m, c, c), (m, b, c) to (m,).

    ``xx`` and ``yy`` come with zero diagonals, and so does ``xy`` if the samples are paired (then b = c, and this is
    eq. 3 of the paper); unpaired samples use all b c cross terms.
    """
    b, c = xy.shape[-2:]
    n_cross = b * (b - 1) if paired else b * c
    within = xx.sum(axis=(-2, -1)) / (b * (b - 1)) + yy.sum(axis=(-2, -1)) / (c * (c - 1))
    return difference(within, 2.0 * xy.sum(axis=(-2, -1)) / n_cross)


def block_cores(xx: Array, yy: Array, xy: Array, n_groups: int, *, paired: bool) -> Array:
    """Return the part of the block values that swaps move: stacks (m, b, b), (m, c, c), (m, b, c) to (m, k, k).

    Row a of x swaps with row a of y, together with all rows of its group. With s the signs of the groups, -1 where they
    are swapped, the block value becomes a constant plus s'Cs, C the core. For paired samples k is the number of groups.
    Otherwise the rows that have no partner stay, terms linear in s appear, and s has one more entry that is always 1.
    """
    return _paired_cores(xx, yy, xy, n_groups) if paired else _unpaired_cores(xx, yy, xy, n_groups)


def _paired_cores(xx: Array, yy: Array, xy: Array, n_groups: int) -> Array:
    b = xy.shape[-1]
    member = _members(b, n_groups)
    cross = member.T @ xy @ member
    inner = difference(member.T @ (xx + yy) @ member, cross + np.swapaxes(cross, -1, -2))
    return without_diagonal(inner / (b * (b - 1)))


def _unpaired_cores(xx: Array, yy: Array, xy: Array, n_groups: int) -> Array:
    b, c = xy.shape[-2:]
    n = min(b, c)
    alpha, beta, gamma = 1.0 / (b * (b - 1)), 1.0 / (c * (c - 1)), 1.0 / (b * c)
    member = _members(n, n_groups)
    kxx, kyy, kxy = (member.T @ k[..., :n, :n] @ member for k in (xx, yy, xy))
    kyx = np.swapaxes(kxy, -1, -2)
    # The rest of the longer sample pulls on a group by how much nearer to it the group's x rows are than its y rows.
    if b > c:
        from_x, from_y, pull = xx[..., :n, n:].sum(axis=-1), xy[..., n:, :].sum(axis=-2), alpha + gamma
    else:
        from_x, from_y, pull = xy[..., :, n:].sum(axis=-1), yy[..., :n, n:].sum(axis=-1), -(beta + gamma)
    linear = (alpha - beta) / 2.0 * difference((kxx + kxy).sum(axis=-1), (kyy + kyx).sum(axis=-1))
    linear += pull * difference(from_x @ member, from_y @ member)
    cores = np.zeros((len(xx), n_groups + 1, n_groups + 1))
    cores[:, :-1, :-1] = without_diagonal((alpha + beta + 2.0 * gamma) / 4.0 * difference(kxx + kyy, kxy + kyx))
    cores[:, :-1, -1] = cores[:, -1, :-1] = linear / 2.0
    return cores


def _members(n_rows: int, n_groups: int) -> Array:
    """Return 1 where a row belongs to a group: (n_rows, n_groups)."""
    return np.asarray(np.arange(n_rows)[:, None] % n_groups == np.arange(n_groups), dtype=np.float64)
