"""From Gram matrices to what a block leaves behind: the plain twin of the compiled loops."""

from __future__ import annotations

import numpy as np

from btests.plan import Array

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
    member = members(xy.shape[-1], n_groups)
    return grouped_paired_cores(member.T @ (xx + yy) @ member, member.T @ xy @ member, xy.shape[-1])


def grouped_paired_cores(within: Array, cross: Array, b: int) -> Array:
    """Return the cores of blocks of b pairs from sums over groups: xx + yy (m, g, g), and xy (m, g, g)."""
    inner = difference(within, cross + np.swapaxes(cross, -1, -2))
    return without_diagonal(inner / (b * (b - 1)))


def _unpaired_cores(xx: Array, yy: Array, xy: Array, n_groups: int) -> Array:
    b, c = xy.shape[-2:]
    n = min(b, c)
    member = members(n, n_groups)
    kxx, kyy, kxy = (member.T @ k[..., :n, :n] @ member for k in (xx, yy, xy))
    # The rest of the longer sample pulls on a group by how much nearer to it the group's x rows are than its y rows.
    if b > c:
        from_x, from_y = xx[..., :n, n:].sum(axis=-1), xy[..., n:, :].sum(axis=-2)
    else:
        from_x, from_y = xy[..., :, n:].sum(axis=-1), yy[..., :n, n:].sum(axis=-1)
    return grouped_unpaired_cores(kxx, kyy, kxy, difference(from_x @ member, from_y @ member), (b, c))


def grouped_unpaired_cores(kxx: Array, kyy: Array, kxy: Array, pull: Array, sizes: tuple[int, int]) -> Array:
    """Return the cores of blocks of unequal sizes from sums over groups: three (m, g, g), and the rest's pull (m, g).

    The groups hold the rows that have a partner. The pull on a group is the sum of the kernel between the rest of the
    longer sample and the group's x rows, less that between the rest and its y rows.
    """
    b, c = sizes
    alpha, beta, gamma = 1.0 / (b * (b - 1)), 1.0 / (c * (c - 1)), 1.0 / (b * c)
    kyx = np.swapaxes(kxy, -1, -2)
    linear = (alpha - beta) / 2.0 * difference((kxx + kxy).sum(axis=-1), (kyy + kyx).sum(axis=-1))
    linear += (alpha + gamma if b > c else -(beta + gamma)) * pull
    n_groups = kxx.shape[-1]
    moments = np.zeros((len(kxx), n_groups + 1, n_groups + 1))
    moments[:, :-1, :-1] = without_diagonal((alpha + beta + 2.0 * gamma) / 4.0 * difference(kxx + kyy, kxy + kyx))
    moments[:, :-1, -1] = moments[:, -1, :-1] = linear / 2.0
    return moments


def members(n_rows: int, n_groups: int) -> Array:
    """Return 1 where a row belongs to a group: (n_rows, n_groups)."""
    return np.asarray(np.arange(n_rows)[:, None] % n_groups == np.arange(n_groups), dtype=np.float64)
