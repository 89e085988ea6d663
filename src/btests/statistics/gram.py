"""From Gram matrices to what a block leaves behind: the plain twin of the compiled loops."""

from __future__ import annotations

import numpy as np

from btests.blocks import Array, group_sizes, group_weights

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


def block_cores(xx: Array, yy: Array, xy: Array, n_groups: int) -> Array:
    """Return w_u w_v <D_u, D_v>, zero for u = v: stacks (m, b, b), (m, c, c), (m, b, c) to (m, g, g)."""
    b, c = xy.shape[-2:]
    mean_x, mean_y = _group_means(b, n_groups), _group_means(c, n_groups)
    cross = mean_x.T @ xy @ mean_y
    inner = difference(mean_x.T @ xx @ mean_x + mean_y.T @ yy @ mean_y, cross + np.swapaxes(cross, -1, -2))
    weights = group_weights(b, c, n_groups)
    return without_diagonal(inner * np.outer(weights, weights))


def _group_means(n_rows: int, n_groups: int) -> Array:
    """Return the matrix that averages rows over groups: (n_rows, n_groups)."""
    member = np.arange(n_rows)[:, None] % n_groups == np.arange(n_groups)
    return np.asarray(member / group_sizes(n_rows, n_groups))
