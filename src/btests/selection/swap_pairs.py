"""Rows that a choice may look at and all rows be tested after it."""

from __future__ import annotations

import math

import numpy as np

from btests.data.sample import AnySample
from btests.plan import Plan

# The golden section: steps of this share of a circle fall everywhere on it, however many there are.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

# No choice looks at more rows than this; the places of all of them would cost memory for each row.
_ENOUGH = 2**20


def partners(x: AnySample, y: AnySample, block_size: int) -> tuple[AnySample, AnySample]:
    """Return the rows of x and those of y that sign flips swap with them, place by place.

    What is chosen by the first so many of both does not change when partners swap, so the flips stay exact. Samples of
    one length are such as they are. Of others the rows without a partner are left out; in an order of the user's own
    the rows are taken from all over it, lest it be sorted.
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
