"""Rows that no swap or relabelling changes: for kernel selection, landmarks and covariances of features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from btests.data.row_permutation import Order, permutation_of
from btests.data.sample import AnySample, Sample
from btests.plan import Plan
from btests.symmetries.relabel_bins import Bins

# Golden ratio: multiples modulo 1 form a low-discrepancy sequence.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

# Rows of each of two samples of different lengths together, about.
_POOLED = 1024

# Seed of their order, which the data have no part in.
_SHUFFLE = 0x5AFFE

# More rows than any selector uses; bounds the memory of the positions.
_ENOUGH = 2**20


def pooled_rows(x: AnySample, y: AnySample, n_rows: int) -> npt.NDArray[Any]:
    """Return about ``n_rows`` rows or more, whose set no swap or relabelling of the groups of one block changes.

    Of samples of one length the same positions of both. Of others as many rows of every bin. In float64, or objects.
    """
    if len(x) == len(y):
        n = min(len(x), -(-n_rows // 2))
        return _joined([x.head(n), y.head(n)])
    bins = Bins.of(len(x), len(y))
    each = min(bins.size, -(-n_rows // bins.n_bins))
    rows = []
    longer, shorter = (y, x) if bins.longer else (x, y)
    for stream, (sample, n) in enumerate(((longer, bins.many), (shorter, bins.few)), start=1):
        places, order = np.arange(each * n), places_of(sample, stream)
        rows.append(sample.first(len(places)) if order is None else sample.take(order.at(places)).first(len(places)))
    return _joined(rows)


def _joined(rows: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    found = np.concatenate(rows)
    return found if found.dtype == object else found.astype(np.float64)


def places_of(sample: AnySample, stream: int) -> Order | None:
    """Return the random order that groups and bins of rows are counted in; None for rows that are in random order.

    Samples of one stream have one order, so that partners stay partners.
    """
    return None if sample.is_shuffled else permutation_of(len(sample), 0, stream)


def landmark_rows(x: AnySample, y: AnySample, n_rows: int) -> npt.NDArray[Any]:
    """Return at most ``n_rows`` rows, in float64 or as objects, whose set no swap or relabelling of groups changes.

    Of samples of one length the same positions of both. Of others as many rows of every bin; where there are more bins
    than that, evenly spaced ones of these rows sorted by their values, which do not depend on labels. Objects have no
    order: all of them are landmarks, one of each bin.
    """
    rows = pooled_rows(x, y, max(2, n_rows - n_rows % 2))
    if len(rows) <= n_rows or rows.dtype == object:
        return rows
    ranked = rows[np.lexsort(rows.T[::-1])]
    return np.asarray(ranked[np.arange(n_rows) * len(rows) // n_rows])


def partners(x: AnySample, y: AnySample, block_size: int) -> tuple[AnySample, AnySample]:
    """Return the rows of x and of y that sign flips swap with each other, in matching order.

    A choice that depends on the first rows of both, symmetrically, is invariant under swaps, so the flips remain exact.
    Samples of one length are returned unchanged. For others, rows without a partner are excluded. If the rows were not
    shuffled, pairs are taken from positions spread over the whole sample, since the data may be sorted.
    """
    if len(x) == len(y):
        return x, y
    plan = Plan.of_size(len(x), len(y), block_size)
    n = plan.n_partners
    places = np.arange(min(n, _ENOUGH))
    if not x.is_shuffled:
        step = max(1, round(_GOLDEN * n))
        while math.gcd(step, n) > 1:
            step += 1
        places = places * step % n
    of_x, of_y = plan.partners(places)
    return x.take(of_x), y.take(of_y)


def exchangeable(x: AnySample, y: AnySample) -> tuple[AnySample, AnySample]:
    """Return rows that no swap or relabelling of the groups of one block changes, as two samples of one length.

    Samples of one length are returned unchanged: swaps exchange the same positions of both. For others, as many rows of
    each bin of pooled rows are sorted by their values, so that nothing tells which sample they are from, shuffled, and
    cut into halves.
    """
    if len(x) == len(y):
        return x, y
    rows = pooled_rows(x, y, _POOLED)
    rows = rows[np.lexsort(rows.T)][np.random.default_rng(_SHUFFLE).permutation(len(rows))]
    half = len(rows) // 2
    order = np.arange(half)
    return Sample(rows[:half], order), Sample(rows[half : 2 * half], order)
