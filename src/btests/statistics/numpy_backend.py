"""Block values and moments in plain numpy, for any kernel; compiled loops are compared with them in tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._memory import require_bytes
from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.kernels import properties_of
from btests.kernels.distances import squared_distances
from btests.kernels.kernel import FeatureMap, Kernel, features_of
from btests.pairwise_sum import add_up
from btests.plan import Array
from btests.statistics.checks import kernel_matrix

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


def block_moments(xx: Array, yy: Array, xy: Array, n_groups: int, *, paired: bool) -> Array:
    """Return the part of the block values that swaps move: stacks (m, b, b), (m, c, c), (m, b, c) to (m, k, k).

    Row a of x swaps with row a of y, together with all rows of its group. With s the signs of the groups, -1 where they
    are swapped, the block value becomes a constant plus s'Cs. For paired samples k is the number of groups.
    Otherwise the rows that have no partner stay, terms linear in s appear, and s has one more entry that is always 1.
    """
    return _paired_moments(xx, yy, xy, n_groups) if paired else _unpaired_moments(xx, yy, xy, n_groups)


def _paired_moments(xx: Array, yy: Array, xy: Array, n_groups: int) -> Array:
    member = group_indicators(xy.shape[-1], n_groups)
    return grouped_paired_moments(member.T @ (xx + yy) @ member, member.T @ xy @ member, xy.shape[-1])


def grouped_paired_moments(within: Array, cross: Array, b: int) -> Array:
    """Return the moments of blocks of b pairs from sums over groups: xx + yy (m, g, g), and xy (m, g, g)."""
    inner = difference(within, cross + np.swapaxes(cross, -1, -2))
    return without_diagonal(inner / (b * (b - 1)))


def _unpaired_moments(xx: Array, yy: Array, xy: Array, n_groups: int) -> Array:
    b, c = xy.shape[-2:]
    n = min(b, c)
    member = group_indicators(n, n_groups)
    kxx, kyy, kxy = (member.T @ k[..., :n, :n] @ member for k in (xx, yy, xy))
    # Rows of the longer sample without a partner are compared with the x rows and with the y rows of each group.
    if b > c:
        from_x, from_y = xx[..., :n, n:].sum(axis=-1), xy[..., n:, :].sum(axis=-2)
    else:
        from_x, from_y = xy[..., :, n:].sum(axis=-1), yy[..., :n, n:].sum(axis=-1)
    return grouped_unpaired_moments(kxx, kyy, kxy, difference(from_x @ member, from_y @ member), (b, c))


def grouped_unpaired_moments(kxx: Array, kyy: Array, kxy: Array, rest_contrast: Array, sizes: tuple[int, int]) -> Array:
    """Return the moments of blocks of unequal sizes from sums over groups: three (m, g, g), and one (m, g).

    The groups hold the rows that have a partner. ``rest_contrast`` is, for each group, the sum of the kernel between
    the rest of the longer sample and the group's x rows, less that between the rest and its y rows.
    """
    b, c = sizes
    alpha, beta, gamma = 1.0 / (b * (b - 1)), 1.0 / (c * (c - 1)), 1.0 / (b * c)
    kyx = np.swapaxes(kxy, -1, -2)
    linear = (alpha - beta) / 2.0 * difference((kxx + kxy).sum(axis=-1), (kyy + kyx).sum(axis=-1))
    linear += (alpha + gamma if b > c else -(beta + gamma)) * rest_contrast
    n_groups = kxx.shape[-1]
    moments = np.zeros((len(kxx), n_groups + 1, n_groups + 1))
    moments[:, :-1, :-1] = without_diagonal((alpha + beta + 2.0 * gamma) / 4.0 * difference(kxx + kyy, kxy + kyx))
    moments[:, :-1, -1] = moments[:, -1, :-1] = linear / 2.0
    return moments


def group_indicators(n_rows: int, n_groups: int) -> Array:
    """Return 1 where a row belongs to a group: (n_rows, n_groups)."""
    return np.asarray(np.arange(n_rows)[:, None] % n_groups == np.arange(n_groups), dtype=np.float64)


# A few Gram matrices of about this many numbers together are held at once.
_BUDGET = 2**21

# Rows of each sample that the size of a kernel is taken from; fewer of objects, whose kernels may be slow.
_SOME, _FEW = 16, 4


def summarize_plain(
    kernel: Kernel, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange
) -> tuple[Array, Array]:
    """Return values (m,) of blocks and moments (q, k, k) of nodes."""
    plan, edges = chunk.plan, chunk.edges
    values = np.empty(chunk.n_blocks)
    moments = np.empty((chunk.n_nodes, plan.moment_size, plan.moment_size))
    waiting: list[Array] = []  # moments of the blocks of a node that has not ended yet
    done = 0
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused in the end
        for i, xx, yy, xy in gram_stacks(kernel, x, y, chunk):
            values[i - chunk.first : i - chunk.first + len(xx)] = block_values(xx, yy, xy, paired=plan.paired)
            waiting.extend(block_moments(xx, yy, xy, plan.n_groups, paired=plan.paired))
            while done < chunk.n_nodes and len(waiting) >= edges[done + 1] - edges[done]:
                n = int(edges[done + 1] - edges[done])
                moments[done] = add_up(np.stack(waiting[:n]))
                del waiting[:n]
                done += 1
    return values, moments


def gram_stacks(
    kernel: Kernel, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange
) -> Iterator[tuple[int, Array, Array, Array]]:
    """Yield the number of a block and the Gram matrices of it and some that follow."""
    origin = x.location.origin if x.is_numeric and properties_of(kernel).centers_rows else None
    for run in chunk.runs():
        # Three matrices, and as much again to compute them.
        require_bytes("a block of the plain numpy path", 2 * 8 * (run.b_x + run.b_y) ** 2, run.b_x, run.b_y)
        step = max(1, _BUDGET // (run.b_x + run.b_y) ** 2) if x.is_numeric else 1
        for i in range(0, run.n_blocks, step):
            m = min(step, run.n_blocks - i)
            p = x.stack(run.start_x + i * run.b_x, m, run.b_x)
            q = y.stack(run.start_y + i * run.b_y, m, run.b_y)
            if origin is not None:
                p, q = p - origin, q - origin
            xy = evaluate(kernel, p, q)
            xx, yy = (without_diagonal(evaluate(kernel, s, s)) for s in (p, q))
            yield run.first_block + i, xx, yy, without_diagonal(xy) if chunk.plan.paired else xy


def kernel_scales(kernels: tuple[Kernel, ...], x: AnySample, y: AnySample) -> list[float]:
    """Return for each kernel the root of its mean square between some rows of both samples."""
    n = min(_SOME if x.is_numeric else _FEW, len(x), len(y))
    rows = np.concatenate([x.first(n), y.first(n)])[None]
    centred = rows - np.median(rows, axis=1, keepdims=True) if x.is_numeric else rows
    sizes = []
    with np.errstate(all="ignore"):  # far apart, tiny or huge: the size is 0.0 then: not estimated
        # Families of Gaussian kernels are large: one distance for all.
        by_distance = [getattr(kernel, "from_squared_distances", None) for kernel in kernels]
        squares = squared_distances(rows[0], rows[0]) if any(by_distance) else rows
        maps: dict[FeatureMap, Array] = {}
        for kernel, from_squared_distances in zip(kernels, by_distance, strict=True):
            features = features_of(kernel) if x.is_numeric else None
            if from_squared_distances is not None:
                values = from_squared_distances(squares)
            elif features is not None:
                if features.map not in maps:
                    maps[features.map] = features.map.combine(features.map.values(rows[0]))
                values = (maps[features.map] * features.weights) @ maps[features.map].T
            else:
                seen = centred if properties_of(kernel).centers_rows else rows
                values = evaluate(kernel, seen, seen)[0]
            sizes.append(math.sqrt(float(np.mean(without_diagonal(values) ** 2))))
    return [size if math.isfinite(size) else 0.0 for size in sizes]


def evaluate(kernel: Kernel, p: npt.NDArray[Any], q: npt.NDArray[Any]) -> Array:
    """Return Gram matrices from any kernel: two stacks (m, b, ...) and (m, c, ...) to (m, b, c).

    A user's function gets one block at a time, as an array (b, d) or a list of objects. Distances may be infinite,
    where most kernels are 0; values that are not finite are for the caller to refuse.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _evaluate(kernel, p, q)


def _evaluate(kernel: Kernel, p: npt.NDArray[Any], q: npt.NDArray[Any]) -> Array:
    if p.dtype != object and properties_of(kernel).takes_stacks:
        return np.asarray(kernel(p, q), dtype=np.float64)
    stack = np.empty((len(p), p.shape[1], q.shape[1]))
    for i in range(len(p)):
        a: Any = p[i] if p.dtype != object else p[i].tolist()
        c: Any = a if q is p else (q[i] if q.dtype != object else q[i].tolist())
        stack[i] = kernel_matrix(kernel, a, c)
    return stack
