"""Rows that a choice may look at and all rows be tested after it."""

from __future__ import annotations

import math

import numpy as np

from btests.blocks import Blocks
from btests.selection.protocol import Setting
from btests.statistics import Sample

# The golden section: steps of this share of a circle fall everywhere on it, however many there are.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def partners(x: Sample, y: Sample, setting: Setting) -> tuple[Sample, Sample]:
    """Return the rows of x and those of y that sign flips swap with them, place by place.

    What is chosen by the first so many of both does not change when partners swap, so the flips stay exact. Samples of
    one length are such as they are. Of others the rows without a partner are left out; in an order of the user's own
    the rows are taken from all over it, lest it be sorted.
    """
    if len(x) == len(y):
        return x, y
    of_x, of_y = Blocks.of_size(len(x), len(y), setting.size_for(x, y)).partners()
    if x.order is None:
        n, step = len(of_x), max(1, round(_GOLDEN * len(of_x)))
        while math.gcd(step, n) > 1:
            step += 1
        places = np.arange(n) * step % n
        of_x, of_y = of_x[places], of_y[places]
    return x.take(of_x), y.take(of_y)
