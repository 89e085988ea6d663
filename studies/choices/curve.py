"""The Type II error on the blobs over n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from studies.choices.tally import Tally

#: The error whose sample size is read off, as in the paper's tables.
TARGET = 0.05


def curves(tallies: Sequence[Tally]) -> dict[str, list[Tally]]:
    """Return the tallies of each choice of the curve, n increasing."""
    found: dict[str, list[Tally]] = {}
    for t in sorted((t for t in tallies if t.study == "curve"), key=lambda t: t.n):
        found.setdefault(t.choice, []).append(t)
    return found


def size_needed(curve: Sequence[Tally]) -> float | None:
    """Return the n of 5 % Type II error, None where the curve does not fall below it.

    Between two sizes the probit of the error is taken to be a straight line in the logarithm of n.
    """
    from scipy.special import ndtri

    goal = float(ndtri(TARGET))
    points = [(math.log(t.n), float(ndtri((t.trials - t.rejections + 0.5) / (t.trials + 1.0)))) for t in curve]
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 >= goal > y1:
            return math.exp(x0 + (x1 - x0) * (y0 - goal) / (y0 - y1))
    return None
