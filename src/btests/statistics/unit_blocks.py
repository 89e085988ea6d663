"""Block MMD of units: the kernel of two units is the weighted sum of the kernel over their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from btests._memory import require_bytes
from btests.block_range import BlockRange
from btests.data.unit_sample import UnitRows, UnitSample
from btests.kernels.distances import squared_distances
from btests.kernels.kernel import FeatureMap, Kernel, features_of, properties_of
from btests.pairwise_sum import add_up
from btests.plan import Array, Index, Plan
from btests.statistics.numpy_backend import block_moments, block_values, evaluate, without_diagonal

# Rows of a tile of the Gram matrix of rows; larger units are tiles of their own.
_TILE = 256


def summarize_units(
    kernels: Sequence[Kernel], x: UnitSample, y: UnitSample, chunk: BlockRange
) -> list[tuple[Array, Array]]:
    """Return values (m,) of blocks and moments (q, k, k) of nodes, per kernel."""
    plan, edges = chunk.plan, chunk.edges
    b, c = (-(-n // plan.n_blocks) for n in (plan.n_x, plan.n_y))
    require_bytes("a block of units", 8 * (len(kernels) + 2) * (b + c) ** 2, b, c)
    values = np.empty((len(kernels), chunk.n_blocks))
    moments = np.empty((len(kernels), chunk.n_nodes, plan.moment_size, plan.moment_size))
    for node in range(chunk.n_nodes):
        found: list[list[Array]] = []
        for block in range(edges[node], edges[node + 1]):
            grams = block_grams(kernels, x, y, plan, block)
            for j, (xx, yy, xy) in enumerate(grams):
                values[j, block - chunk.first] = block_values(xx, yy, xy, paired=plan.paired)[0]
            found.append([block_moments(*own, plan.n_groups, paired=plan.paired)[0] for own in grams])
        for j in range(len(kernels)):
            moments[j, node] = add_up(np.stack([own[j] for own in found]))
    return list(zip(values, moments, strict=True))


def block_grams(
    kernels: Sequence[Kernel], x: UnitSample, y: UnitSample, plan: Plan, block: int
) -> list[tuple[Array, Array, Array]]:
    """Return the Gram matrices (1, b, b), (1, c, c), (1, b, c) of the units of a block, per kernel.

    Diagonals are as the block MMD needs them: 0 within samples, and across for samples of one length.
    """
    (start_x, start_y), (stop_x, stop_y) = plan.start(block), plan.start(block + 1)
    b = stop_x - start_x
    units = _joined(x.units(start_x, stop_x), y.units(start_y, stop_y))
    grams = unit_grams(kernels, units, x.location.origin)
    if x.is_weighted or y.is_weighted:
        weights = np.add.reduceat(units.weights, units.starts)
        grams = [centred(gram, weights) for gram in grams]
    found = []
    for gram in grams:
        xx, yy, xy = gram[None, :b, :b], gram[None, b:, b:], gram[None, :b, b:]
        found.append((without_diagonal(xx), without_diagonal(yy), without_diagonal(xy) if plan.paired else xy))
    return found


def unit_grams(kernels: Sequence[Kernel], units: UnitRows, origin: Array) -> list[Array]:
    """Return the matrix of ``sum_ij w_i w_j k(p_i, q_j)`` over the rows of two units, per kernel: (u, u) each."""
    explicit = [features_of(kernel) for kernel in kernels]
    pairwise = [kernel for kernel, features in zip(kernels, explicit, strict=True) if features is None]
    by_rows = iter(_sums_over_rows(pairwise, units, origin))
    sums: dict[FeatureMap, Array] = {}
    found = []
    for features in explicit:
        if features is None:
            found.append(next(by_rows))
            continue
        if features.map not in sums:
            phi = features.map.combine(features.map.values(units.rows))
            sums[features.map] = _sums(units.weights[:, None] * phi, units.starts, axis=0)
        found.append((sums[features.map] * features.weights) @ sums[features.map].T)
    return found


def _sums_over_rows(kernels: Sequence[Kernel], units: UnitRows, origin: Array) -> list[Array]:
    """Return the matrices of :func:`unit_grams` from all pairs of rows, tile by tile."""
    n = len(units.starts)
    out = [np.empty((n, n)) for _ in kernels]
    tiles = list(_tiles(units))
    for i, (one, rows_one) in enumerate(tiles):
        starts_one = units.starts[one] - rows_one.start
        for other, rows_other in tiles[i:]:
            starts_other = units.starts[other] - rows_other.start
            weights = units.weights[rows_one, None] * units.weights[rows_other]
            found = _values(kernels, units.rows[rows_one], units.rows[rows_other], origin)
            for gram, values in zip(out, found, strict=True):
                sums = _sums(_sums(values * weights, starts_other, axis=1), starts_one, axis=0)
                gram[one, other] = sums
                gram[other, one] = sums.T
    return out


def _sums(values: Array, starts: Index, axis: int) -> Array:
    """Return sums over units along an axis, rows of single-row units as they are: (..., n, ...) to (..., u, ...)."""
    return values if len(starts) == values.shape[axis] else np.asarray(np.add.reduceat(values, starts, axis=axis))


def centred(gram: Array, weights: Array) -> Array:
    """Return the Gram matrix of units less their weighted mean, which no swap of units changes: (u, u) to (u, u).

    With features f_U of weight w_U and their mean ``m = sum f_U / sum w_U``, it is that of ``f_U - w_U m``.
    Differences of weights are then no differences between samples.
    """
    total = weights.sum()
    means = gram.sum(axis=1) / total
    cross = np.outer(means, weights)
    return np.asarray(gram - cross - cross.T + np.outer(weights, weights) * (means.sum() / total))


def _values(kernels: Sequence[Kernel], p: Array, q: Array, origin: Array) -> Iterator[Array]:
    """Yield the Gram matrix of rows (b, d) and (c, d) for each kernel; kernels of squared distances share them."""
    shifted: tuple[Array, Array] | None = None
    squares: Array | None = None
    for kernel in kernels:
        if shifted is None and properties_of(kernel).centers_rows:
            shifted = p - origin, q - origin
        one, other = shifted if shifted is not None and properties_of(kernel).centers_rows else (p, q)
        from_squared_distances = getattr(kernel, "from_squared_distances", None)
        if from_squared_distances is None or len(kernels) == 1:
            yield evaluate(kernel, one[None], other[None])[0]
        else:
            with np.errstate(over="ignore"):  # infinitely far apart, where kernels of distances are 0
                squares = squared_distances(one, other) if squares is None else squares
                values = from_squared_distances(squares)
            yield values


def _tiles(units: UnitRows) -> Iterator[tuple[slice, slice]]:
    """Yield slices of units of about ``_TILE`` rows together, and the slices of their rows."""
    edges = np.append(units.starts, len(units.rows))
    first = 0
    while first < len(units.starts):
        last = max(first + 1, int(np.searchsorted(edges, edges[first] + _TILE, side="right")) - 1)
        yield slice(first, last), slice(int(edges[first]), int(edges[last]))
        first = last


def _joined(x: UnitRows, y: UnitRows) -> UnitRows:
    rows, weights = np.concatenate([x.rows, y.rows]), np.concatenate([x.weights, y.weights])
    return UnitRows(rows.astype(np.float64), weights, np.concatenate([x.starts, len(x.rows) + y.starts]))
