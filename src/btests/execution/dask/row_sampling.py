"""A few rows of a sample on a cluster, from where they are stored."""

from __future__ import annotations

import numpy as np

from btests.data.arrays import ArraySource
from btests.data.permuted import PermutedRows
from btests.data.source import Rows
from btests.execution.dask.cluster import ClusterError
from btests.execution.dask.futures import is_lost_worker, outcome, release, submitting
from btests.execution.dask.range_tasks import RangeReader, RangeTasks
from btests.plan import Index


def take_rows(rows: RangeReader, numbers: Index) -> Rows:
    """Return rows of increasing numbers of a range: (m,) to (m, width)."""
    return rows.take(numbers)


def rows_of_source(tasks: RangeTasks, permuted: PermutedRows, positions: Index) -> Rows:
    """Return the rows at a few positions, read by the workers: (m,) to (m, width). Only these are sent."""
    source, cluster = permuted.source, tasks.cluster
    if isinstance(source, ArraySource):
        return permuted.at(positions)
    numbers, back = np.unique(permuted.order.at(positions), return_inverse=True)
    ranges, wanted = [], []
    for rows in tasks.ranges():
        a, b = np.searchsorted(numbers, [rows.first, rows.last]).tolist()
        if a < b:
            ranges.append(rows)
            wanted.append((numbers[a:b],))
    if not ranges:
        return np.empty((0, source.width), dtype=source.dtype)
    with submitting(cluster):
        futures = tasks.submit("btests_rows", take_rows, ranges, wanted)
        try:
            found, error = outcome(cluster, futures)
        finally:
            release(futures)
    if is_lost_worker(error):
        raise ClusterError(
            f"workers were lost while reading a few rows of {tasks.label}, and a worker may take {cluster.limit}; make "
            "smaller partitions, or give workers more"
        )
    if error is not None:
        raise error
    return np.asarray(np.concatenate(found)[back])
