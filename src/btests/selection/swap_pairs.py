"""Rows for kernel selection that no swap or relabelling changes, so that the test of all rows stays exact."""

from __future__ import annotations

import math

import numpy as np

from btests.data.sample import AnySample, Sample
from btests.plan import Plan
from btests.symmetries import pooled_rows

# Golden ratio: multiples modulo 1 form a low-discrepancy sequence.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

# Rows of each of two samples of different lengths together, about.
_POOLED = 1024

# Seed of their order, which the data have no part in.
_SHUFFLE = 0x5AFFE

# More rows than any selector uses; bounds the memory of the positions.
_ENOUGH = 2**20


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
