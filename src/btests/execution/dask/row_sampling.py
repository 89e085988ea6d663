"""A few rows of a sample on a cluster, from where they are stored."""

from __future__ import annotations

import numpy as np

from btests.data.arrays import ArraySource
from btests.data.permuted import PermutedRows
from btests.data.source import Rows
from btests.execution.dask.futures import failure, is_lost_worker, outcome, release, submitting, wait
from btests.execution.dask.range_tasks import RangeTasks
from btests.execution.dask.row_ranges import RangeReader, RowRange
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

    def wanted(rows: RowRange) -> tuple[Index]:
        return (numbers[slice(*np.searchsorted(numbers, [rows.first, rows.last]))],)

    ranges = [rows for rows in tasks.ranges() if wanted(rows)[0].size]
    if not ranges:
        return np.empty((0, source.width), dtype=source.dtype)
    with submitting(cluster):
        futures = tasks.submit("btests_rows", take_rows, ranges, list(map(wanted, ranges)))
        try:
            wait(cluster, futures)
            for rows, future in zip(ranges, list(futures), strict=True):
                if is_lost_worker(failure(cluster, future)):
                    release([future])
                    i = futures.index(future)
                    futures[i : i + 1] = [one for _, one in tasks.retry("btests_rows", take_rows, rows, wanted)]
            found, error = outcome(cluster, futures)
        finally:
            release(futures)
    if error is not None:
        raise error
    return np.asarray(np.concatenate(found)[back])
