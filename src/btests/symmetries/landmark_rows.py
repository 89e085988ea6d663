"""Landmarks of a kernel: pooled rows that no swap or relabelling changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from btests.data.sample import AnySample
from btests.symmetries.relabel_bins import pooled_rows


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
