"""Statistics of a pooled Gram matrix under permutations of the labels, and p-values from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from btests.plan import Array

#: Subsets of rows, one a line: (k, size).
Subsets = npt.NDArray[np.int64]

# Columns of indicators that are multiplied at once: their memory stays small beside the Gram matrix.
_AT_ONCE = 256

# Where the smaller sample has fewer than this share of the rows, its entries are gathered: cheaper than a product.
_FEW = 1.0 / 16.0

# Differences below this share of the largest statistic are ties: sums of the same numbers in another order.
_TIE = 1e-12


def random_subsets(n_rows: int, size: int, n_draws: int, rng: np.random.Generator) -> Subsets:
    """Return the last ``size`` rows (the observed labels), then ``n_draws`` uniform subsets: (n_draws + 1, size)."""
    subsets = np.empty((n_draws + 1, size), dtype=np.int64)
    subsets[0] = np.arange(n_rows - size, n_rows)
    for b in range(n_draws):
        subsets[b + 1] = rng.permutation(n_rows)[:size]
    return subsets


def sums_within(gram: Array, subsets: Subsets) -> Array:
    """Return the sum of the entries of a symmetric matrix inside each of the subsets (k, size): (k,)."""
    if subsets.shape[1] < _FEW * len(gram):
        return np.array([gram[np.ix_(subset, subset)].sum() for subset in subsets])
    sums = np.empty(len(subsets))
    for first in range(0, len(subsets), _AT_ONCE):
        some = subsets[first : first + _AT_ONCE]
        columns = np.zeros((len(gram), len(some)))
        columns[some.T, np.arange(len(some))] = 1.0
        sums[first : first + len(some)] = np.einsum("ij,ij->j", columns, gram @ columns)
    return sums


def mmd_values(gram: Array, subsets: Subsets, *, unbiased: bool = True) -> Array:
    """Return MMD^2 between each subset (k, m) and the rows outside of it: (k,).

    ``gram`` is symmetric; its diagonal must be zero where ``unbiased``.
    """
    n_y = subsets.shape[1]
    n_x = len(gram) - n_y
    rows = gram.sum(axis=0)
    within_y = sums_within(gram, subsets)
    across = rows[subsets].sum(axis=1) - within_y
    within_x = rows.sum() - within_y - 2.0 * across
    less = 1 if unbiased else 0
    return np.asarray(within_x / (n_x * (n_x - less)) + within_y / (n_y * (n_y - less)) - 2.0 * across / (n_x * n_y))


def permutation_pvalue(values: Array) -> float:
    """Return the p-value of the first value among all of them, which are exchangeable under the null hypothesis."""
    tolerance = _TIE * float(np.abs(values).max())
    return float(np.mean(values >= values[0] - tolerance))
