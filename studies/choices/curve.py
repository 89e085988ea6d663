"""The Type II error on the blobs over n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from studies.harness.counts import Row

#: The error whose sample size is interpolated, as in the paper's tables.
TARGET = 0.05


def curves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the counts of each choice of the curve, n increasing."""
    found: dict[str, list[Row]] = {}
    for row in sorted((row for row in rows if row["study"] == "curve"), key=lambda row: int(row["n"])):
        found.setdefault(row["choice"], []).append(row)
    return found


def size_needed(curve: Sequence[Row]) -> float | None:
    """Return the n of 5 % Type II error, None if the curve does not fall below it.

    Between two sizes the probit of the error is taken to be linear in the logarithm of n.
    """
    from scipy.special import ndtri

    goal = float(ndtri(TARGET))
    points = [
        (math.log(row["n"]), float(ndtri((row["trials"] - row["rejections"] + 0.5) / (row["trials"] + 1.0))))
        for row in curve
    ]
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 >= goal > y1:
            return math.exp(x0 + (x1 - x0) * (y0 - goal) / (y0 - y1))
    return None
