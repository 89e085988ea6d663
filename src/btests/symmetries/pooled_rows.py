"""Rows of both samples together that no swap or relabelling changes: for landmarks and covariances of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from btests.data.row_permutation import Order, permutation_of
from btests.data.sample import AnySample
from btests.symmetries.relabel_bins import Bins


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
