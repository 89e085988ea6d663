"""Block values and cores by plain numpy: for any kernel at all, and the twin of the compiled loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._memory import require_bytes
from btests.data.sample import AnySample, RowSlice, Sample
from btests.kernels import properties_of
from btests.kernels.distances import squared_distances
from btests.kernels.kernel import Kernel
from btests.pairwise_sum import add_up, starts
from btests.plan import Array, Index, Plan
from btests.statistics.block_formulas import block_cores, block_values, without_diagonal
from btests.statistics.checks import kernel_matrix

# A few Gram matrices of about this many numbers together are held at once.
_BUDGET = 2**21

# Rows of each sample that the size of a kernel is taken from; fewer of objects, whose kernels may be slow.
_SOME, _FEW = 16, 4


def summarize_plain(
    kernel: Kernel, x: Sample | RowSlice, y: Sample | RowSlice, plan: Plan, *, numbers: tuple[int, int], nodes: Index
) -> tuple[Array, Array]:
    """Return values (m,) of blocks ``numbers[0] .. numbers[1] - 1`` and the cores of their nodes (q, k, k)."""
    first, last = numbers
    values = np.empty(last - first)
    moments = np.empty((len(nodes), plan.moment_size, plan.moment_size))
    edges = np.append(starts(nodes), last)
    waiting: list[Array] = []  # cores of the blocks of a node that has not ended yet
    done = 0
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused in the end
        for i, xx, yy, xy in _gram_stacks(kernel, x, y, plan, numbers):
            values[i - first : i - first + len(xx)] = block_values(xx, yy, xy, paired=plan.paired)
            waiting.extend(block_cores(xx, yy, xy, plan.n_groups, paired=plan.paired))
            while done < len(nodes) and len(waiting) >= edges[done + 1] - edges[done]:
                n = int(edges[done + 1] - edges[done])
                moments[done] = add_up(np.stack(waiting[:n]))
                del waiting[:n]
                done += 1
    return values, moments


def _gram_stacks(
    kernel: Kernel, x: Sample | RowSlice, y: Sample | RowSlice, plan: Plan, numbers: tuple[int, int]
) -> Iterator[tuple[int, Array, Array, Array]]:
    """Yield the number of a block and the Gram matrices of it and some that follow."""
    origin = x.location.origin if x.is_numeric and properties_of(kernel).centers_rows else None
    for run in plan.runs(*numbers):
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
            yield run.first_block + i, xx, yy, without_diagonal(xy) if plan.paired else xy


def kernel_scales(kernels: tuple[Kernel, ...], x: AnySample, y: AnySample) -> list[float]:
    """Return for each kernel the root of its mean square between some rows of both samples."""
    n = min(_SOME if x.is_numeric else _FEW, len(x), len(y))
    rows = np.concatenate([x.first(n), y.first(n)])[None]
    centred = rows - np.median(rows, axis=1, keepdims=True) if x.is_numeric else rows
    sizes = []
    with np.errstate(all="ignore"):  # far apart, tiny or huge: then the size is 0, and means that nobody knows
        # Families of Gaussian kernels are large: one distance for all.
        by_distance = [getattr(kernel, "from_squared_distances", None) for kernel in kernels]
        squares = squared_distances(rows[0], rows[0]) if any(by_distance) else rows
        for kernel, from_squared_distances in zip(kernels, by_distance, strict=True):
            if from_squared_distances is not None:
                values = from_squared_distances(squares)
            else:
                seen = centred if properties_of(kernel).centers_rows else rows
                values = evaluate(kernel, seen, seen)[0]
            sizes.append(math.sqrt(float(np.mean(without_diagonal(values) ** 2))))
    return [size if math.isfinite(size) else 0.0 for size in sizes]


def evaluate(kernel: Kernel, p: npt.NDArray[Any], q: npt.NDArray[Any]) -> Array:
    """Return Gram matrices from any kernel: two stacks (m, b, ...) and (m, c, ...) to (m, b, c).

    A user's function gets one block at a time, as an array (b, d) or a list of objects.
    """
    if p.dtype != object and properties_of(kernel).takes_stacks:
        return np.asarray(kernel(p, q), dtype=np.float64)
    stack = np.empty((len(p), p.shape[1], q.shape[1]))
    for i in range(len(p)):
        a: Any = p[i] if p.dtype != object else p[i].tolist()
        c: Any = a if q is p else (q[i] if q.dtype != object else q[i].tolist())
        stack[i] = kernel_matrix(kernel, a, c)
    return stack
