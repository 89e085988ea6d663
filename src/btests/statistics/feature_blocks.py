"""Block values and moments of kernels with explicit features, in linear time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests.block_range import BlockRange
from btests.data.sample import RowSlice, Sample
from btests.kernels.kernel import FeatureMap
from btests.plan import Array, Plan, Run
from btests.statistics.numpy_backend import difference, group_indicators, grouped_unpaired_moments, without_diagonal

# Rows whose features are held at once.
_ROWS = 4096


class Sums(NamedTuple):
    """Sums of the features of m blocks over groups of rows that have a partner, and over the rows that have none.

    For paired samples ``x`` has the differences of partners, ``squares_x`` their squares summed over all groups, and
    the others are 0.

    Attributes
    ----------
    x, y : ndarray of shape (m, g, f)
        Sums over the rows of a group.
    squares_x, squares_y : ndarray of shape (m, g, f)
        Sums of squares over the rows of a group.
    rest : ndarray of shape (m, f)
        Sum over the rows of the longer sample that have no partner.
    rest_squares : ndarray of shape (m, f)
        Sum of their squares.
    """

    x: Array
    y: Array
    squares_x: Array
    squares_y: Array
    rest: Array
    rest_squares: Array


def summarize_features(
    feature_map: FeatureMap,
    weights: Array,
    x: Sample | RowSlice,
    y: Sample | RowSlice,
    chunk: BlockRange,
    *,
    most_rows: int = _ROWS,
) -> list[tuple[Array, Array]]:
    """Return values (m,) of blocks and moments (q, k, k) of nodes for each row of weights (j, f).

    Features of at most about ``most_rows`` rows of each sample are held at once.
    """
    plan = chunk.plan
    found: list[tuple[list[Array], list[Array]]] = [([], []) for _ in weights]
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused in the end
        for run in chunk.runs():
            for sums in _sums_of_blocks(feature_map, x, y, run, plan=plan, most_rows=most_rows):
                for own, (values, moments) in zip(weights, found, strict=True):
                    value, moment = _paired(sums, own, run.b_x) if plan.paired else _unpaired(sums, own, run)
                    values.append(value)
                    moments.append(moment)
    return [(np.concatenate(values), chunk.sum_nodes(np.concatenate(moments))) for values, moments in found]


def _paired(sums: Sums, weights: Array, b: int) -> tuple[Array, Array]:
    d = sums.x
    n_pairs = b * (b - 1.0)
    values = _weighted(d.sum(axis=1) ** 2 - sums.squares_x.sum(axis=1), weights) / n_pairs
    return values, without_diagonal((d * weights) @ np.swapaxes(d, -1, -2) / n_pairs)


def _unpaired(sums: Sums, weights: Array, run: Run) -> tuple[Array, Array]:
    b, c = run.b_x, run.b_y
    total_x, total_y = sums.x.sum(axis=1), sums.y.sum(axis=1)
    squares_x, squares_y = sums.squares_x.sum(axis=1), sums.squares_y.sum(axis=1)
    if b > c:
        total_x, squares_x = total_x + sums.rest, squares_x + sums.rest_squares
    else:
        total_y, squares_y = total_y + sums.rest, squares_y + sums.rest_squares
    within_x, within_y = _weighted(total_x**2 - squares_x, weights), _weighted(total_y**2 - squares_y, weights)
    within = within_x / (b * (b - 1)) + within_y / (c * (c - 1))
    values = difference(within, 2.0 * _weighted(total_x * total_y, weights) / (b * c))
    kxx, kyy, kxy = (
        (p * weights) @ np.swapaxes(q, -1, -2) for p, q in ((sums.x, sums.x), (sums.y, sums.y), (sums.x, sums.y))
    )
    for gram, squares in ((kxx, sums.squares_x), (kyy, sums.squares_y)):  # no row with itself
        np.einsum("...gg->...g", gram)[...] -= squares @ weights
    rest_contrast = np.einsum("mgf,mf->mg", (sums.x - sums.y) * weights, sums.rest)
    return values, grouped_unpaired_moments(kxx, kyy, kxy, rest_contrast, (b, c))


def _weighted(products: Array, weights: Array) -> Array:
    """Return the weighted sums over features of each block, (m, f) and (f,) to (m,).

    A product for each block: the last bit of one product of all would depend on how many blocks there are.
    """
    return np.asarray((products[:, None, :] @ weights)[:, 0])


def _sums_of_blocks(
    feature_map: FeatureMap,
    x: Sample | RowSlice,
    y: Sample | RowSlice,
    run: Run,
    *,
    plan: Plan,
    most_rows: int,
) -> Iterator[Sums]:
    """Yield the sums of some blocks of a run after another; a large block is read in pieces."""
    n_groups, b = plan.n_groups, max(run.b_x, run.b_y)
    step = max(1, most_rows // b) if x.is_numeric else 1
    height = max(1, most_rows // n_groups) * n_groups  # whole rounds: row r of a piece is in group r mod n_groups
    for i in range(0, run.n_blocks, step):
        m = min(step, run.n_blocks - i)
        total: Sums | None = None
        for top in range(0, b, height):
            span = top, top + height
            p = _rows(x, run.start_x + i * run.b_x, m, run.b_x, span)
            q = _rows(y, run.start_y + i * run.b_y, m, run.b_y, span)
            values_x, values_y = _values(feature_map, p, q)
            if plan.paired:
                piece = _sums_of_differences(feature_map.combine(values_x - values_y), n_groups)
            else:
                piece = _sums(feature_map.combine(values_x), feature_map.combine(values_y), n_groups)
            total = piece if total is None else Sums(*map(np.add, total, piece))
        assert total is not None
        yield total


def _rows(sample: Sample | RowSlice, start: int, m: int, size: int, span: tuple[int, int]) -> npt.NDArray[Any]:
    """Return rows ``span[0] .. span[1] - 1``, as far as there are such, of m blocks: (m, b, ...).

    Of several blocks at once they are all rows.
    """
    first, last = min(span[0], size), min(span[1], size)
    if last - first == size:
        return sample.stack(start, m, size)
    return sample.stack(start + first, 1, last - first) if last > first else sample.stack(start, 1, 1)[:, :0]


def _sums_of_differences(d: Array, n_groups: int) -> Sums:
    """Return the sums for paired samples, from differences of features: (m, b, f)."""
    group = group_indicators(d.shape[1], n_groups).T
    sums, squares, none = group @ d, np.sum(d**2, axis=1, keepdims=True), np.zeros((1, 1))
    return Sums(sums, none[None], squares, none[None], none, none)


def _sums(phi_x: Array, phi_y: Array, n_groups: int) -> Sums:
    """Return the sums over rows, of which the first of both samples are partners: two of (m, b, f)."""
    n = min(phi_x.shape[1], phi_y.shape[1])
    group = group_indicators(n, n_groups).T
    p, q = phi_x[:, :n], phi_y[:, :n]
    rest = (phi_x if phi_x.shape[1] > n else phi_y)[:, n:]
    return Sums(group @ p, group @ q, group @ p**2, group @ q**2, rest.sum(axis=1), np.sum(rest**2, axis=1))


def _values(feature_map: FeatureMap, p: npt.NDArray[Any], q: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Return the values of two stacks, one of which may have no rows."""
    if p.shape[1] == 0 or q.shape[1] == 0:
        longer = evaluate_values(feature_map, p if p.shape[1] else q)
        none = longer[:, :0]
        return (longer, none) if p.shape[1] else (none, longer)
    return evaluate_values(feature_map, p), evaluate_values(feature_map, q)


def evaluate_values(feature_map: FeatureMap, rows: npt.NDArray[Any]) -> Array:
    """Return values from any map: a stack (m, b, ...) to (m, b, r), one block at a time where the map needs it."""
    if rows.dtype != object and feature_map.properties.takes_stacks:
        return feature_map.values(rows)
    return np.stack([feature_map.values(block if rows.dtype != object else block.tolist()) for block in rows])
