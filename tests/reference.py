"""The paper's formulas as double loops, for tests to compare with. Nothing here comes from the library."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Scalar = Callable[[Any, Any], float]


def h(k: Scalar, x: Sequence[Any], y: Sequence[Any], a: int, b: int) -> float:
    """Return h(z_a, z_b) of eq. 3."""
    return k(x[a], x[b]) + k(y[a], y[b]) - k(x[a], y[b]) - k(x[b], y[a])


def mmd_paired(k: Scalar, x: Sequence[Any], y: Sequence[Any]) -> float:
    """Return the unbiased MMD^2 of two samples of one size: the average of h over a != b (eq. 3)."""
    b = len(x)
    terms = [h(k, x, y, i, j) for i in range(b) for j in range(b) if i != j]
    return math.fsum(terms) / (b * (b - 1))


def mmd_unpaired(k: Scalar, x: Sequence[Any], y: Sequence[Any]) -> float:
    """Return the unbiased MMD^2 of two samples of any sizes, with all cross terms."""
    b, c = len(x), len(y)
    within_x = math.fsum(k(x[i], x[j]) for i in range(b) for j in range(b) if i != j)
    within_y = math.fsum(k(y[i], y[j]) for i in range(c) for j in range(c) if i != j)
    across = math.fsum(k(p, q) for p in x for q in y)
    return within_x / (b * (b - 1)) + within_y / (c * (c - 1)) - 2.0 * across / (b * c)


def permutation_of(n: int, n_blocks: int) -> list[range]:
    """Return the rows of each block: sizes differ by one at most, larger blocks first."""
    sizes = [n // n_blocks + (i < n % n_blocks) for i in range(n_blocks)]
    ends = list(itertools.accumulate(sizes))
    return [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def block_values(k: Scalar, x: Sequence[Any], y: Sequence[Any], n_blocks: int) -> Array:
    """Return the MMD^2 of every block."""
    mmd = mmd_paired if len(x) == len(y) else mmd_unpaired
    permuted = zip(permutation_of(len(x), n_blocks), permutation_of(len(y), n_blocks), strict=True)
    return np.array([mmd(k, [x[i] for i in rows], [y[i] for i in others]) for rows, others in permuted])


def core(k: Scalar, x: Sequence[Any], y: Sequence[Any], n_groups: int) -> Array:
    """Return, for one block of b pairs, the sum of h over the pairs between groups u and v, over b (b - 1): (g, g)."""
    b = len(x)
    out = np.zeros((n_groups, n_groups))
    rows = [list(range(u, b, n_groups)) for u in range(n_groups)]
    for u, v in itertools.permutations(range(n_groups), 2):
        out[u, v] = math.fsum(h(k, x, y, i, j) for i in rows[u] for j in rows[v]) / (b * (b - 1))
    return out


def core_unpaired(k: Scalar, x: Sequence[Any], y: Sequence[Any], n_groups: int) -> Array:
    """Return C with MMD^2 = constant + s'Cs, s the signs of the groups and a 1, by swapping rows: (g + 1, g + 1).

    Mixed differences over the signs of u and v single out C_uv, and odd differences the terms that are linear in s_u.
    """
    b, c = len(x), len(y)
    pooled = [*x, *y]
    gram = np.array([[k(p, q) for q in pooled] for p in pooled])
    np.fill_diagonal(gram, 0.0)

    def swapped(groups: set[int]) -> float:
        p, q = np.arange(b), b + np.arange(c)
        swap = [a for a in range(min(b, c)) if a % n_groups in groups]
        p[swap], q[swap] = q[swap], p[swap]
        within = gram[np.ix_(p, p)].sum() / (b * (b - 1)) + gram[np.ix_(q, q)].sum() / (c * (c - 1))
        return float(within - 2.0 * gram[np.ix_(p, q)].sum() / (b * c))

    everything = set(range(n_groups))
    out = np.zeros((n_groups + 1, n_groups + 1))
    for u, v in itertools.permutations(range(n_groups), 2):
        out[u, v] = (swapped(set()) - swapped({u}) - swapped({v}) + swapped({u, v})) / 8.0
    for u in range(n_groups):
        odd = swapped(set()) - swapped(everything) - swapped({u}) + swapped(everything - {u})
        out[u, -1] = out[-1, u] = odd / 8.0
    return out


def moments(k: Scalar, x: Sequence[Any], y: Sequence[Any], n_blocks: int, n_groups: int) -> Array:
    """Return the core of every block: (n_blocks, g, g), or one more row and column for samples of different lengths."""
    of_block = core if len(x) == len(y) else core_unpaired
    permuted = zip(permutation_of(len(x), n_blocks), permutation_of(len(y), n_blocks), strict=True)
    return np.array([of_block(k, [x[i] for i in rows], [y[i] for i in others], n_groups) for rows, others in permuted])


def flipped_values(k: Scalar, x: Sequence[Any], y: Sequence[Any], n_blocks: int) -> Array:
    """Return the statistic for every way to swap x_a and y_a, by really swapping the rows: (2^n,), as they come."""
    values = []
    for swaps in itertools.product([False, True], repeat=len(x)):
        p = [b if s else a for a, b, s in zip(x, y, swaps, strict=True)]
        q = [a if s else b for a, b, s in zip(x, y, swaps, strict=True)]
        values.append(float(block_values(k, p, q, n_blocks).mean()))
    return np.array(values)


def sign_sums(matrices: Array) -> Array:
    """Return sum_f s_f' C_f s_f for every pattern of signs: (f, g, g) to (2^(f g),)."""
    n_strata, n_groups, _ = matrices.shape
    sums = []
    for pattern in itertools.product([1.0, -1.0], repeat=n_strata * n_groups):
        signs = np.array(pattern).reshape(n_strata, n_groups)
        sums.append(sum(float(s @ matrix @ s) for s, matrix in zip(signs, matrices, strict=True)))
    return np.array(sums)


def relabelled_values(gram: Array, b_x: int) -> Array:
    """Return the unbiased MMD^2 of every way to call ``b_x`` of the pooled rows x: Gram matrix (N, N) to (choices,)."""
    n = len(gram)
    values = []
    for chosen in itertools.combinations(range(n), b_x):
        rest = [i for i in range(n) if i not in chosen]
        xx = sum(gram[i, j] for i, j in itertools.permutations(chosen, 2)) / (b_x * (b_x - 1))
        yy = sum(gram[i, j] for i, j in itertools.permutations(rest, 2)) / (len(rest) * (len(rest) - 1))
        xy = sum(gram[i, j] for i in chosen for j in rest) / (b_x * len(rest))
        values.append(xx + yy - 2.0 * xy)
    return np.array(values)


def relabelling_variance(gram: Array, b_x: int) -> float:
    """Return the variance of the unbiased MMD^2 over all relabellings of the pooled rows, in closed form.

    c V with V = [A - 2 r'r / (N - 2) + S^2 / ((N - 1)(N - 2))] / (N (N - 3)) for the Gram matrix with zero diagonal,
    r its row sums, S its sum, A the sum of its squares, and c = 2/(b(b-1)) + 2/(c(c-1)) + 4/(b c).
    """
    n = len(gram)
    k = gram - np.diag(np.diag(gram))
    r, total, squares = k.sum(axis=1), k.sum(), (k**2).sum()
    v = (squares - 2.0 * (r @ r) / (n - 2) + total**2 / ((n - 1) * (n - 2))) / (n * (n - 3))
    return float(relabelling_factor(b_x, n - b_x) * v)


def relabelling_factor(b: int, c: int) -> float:
    """Return 2/(b(b-1)) + 2/(c(c-1)) + 4/(b c): the variance of MMD^2 under H0 over that of a centred kernel value."""
    return 2.0 / (b * (b - 1)) + 2.0 / (c * (c - 1)) + 4.0 / (b * c)
