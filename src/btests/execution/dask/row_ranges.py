"""Ranges of rows of a source, one for each task, and the readers of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from btests.data.dask_source import DaskSource
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster
from btests.plan import Index

#: Minimum ratio of the memory of a worker to the rows of one task: it holds them twice, and intermediate arrays.
MEMORY_RATIO = 16

# Ranges of fewer rows are not divided when their worker is lost.
_MIN_ROWS = 256


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows ``first .. last - 1`` of a sample; of a dask collection, also the numbers of its first and last partition.

    The end of ``partitions`` is excluded.
    """

    first: int
    last: int
    partitions: tuple[int, int] | None = None

    def halves(self) -> tuple[RowRange, RowRange] | None:
        """Return both halves, None for a range that is not divided: partitions are as dask makes them."""
        if self.partitions is not None or self.last - self.first < 2 * _MIN_ROWS:
            return None
        middle = (self.first + self.last) // 2
        return RowRange(self.first, middle), RowRange(middle, self.last)

    def within(self, first: int, last: int) -> RowRange | None:
        """Return the part of the range in ``first .. last - 1``, whole partitions if it has some; None if empty."""
        a, b = max(first, self.first), min(last, self.last)
        if a >= b:
            return None
        return self if self.partitions is not None else RowRange(a, b)


def row_ranges(source: Source, row_bytes: int, cluster: Cluster, *, in_steps: bool = False) -> list[RowRange]:
    """Return all rows of a source as ranges that are the rows of one task each.

    Tasks that read their rows ``in_steps`` hold few of them, so that ranges of files may be larger.
    """
    edges, n, sizes = source.units(), source.n_rows, cluster.sizes
    if isinstance(source, DaskSource):
        assert edges is not None, "partitions are units"
        cuts = merged(edges, sizes.merged // row_bytes)
        return [RowRange(int(edges[a]), int(edges[b]), (a, b)) for a, b in pairwise(cuts)]
    share = min(sizes.shard, cluster.memory // MEMORY_RATIO or sizes.shard)
    parts, largest, least = (4, sizes.summed, 16 * sizes.least) if in_steps else (2, share, sizes.least)
    most = max(1, min(largest, max(least, n * row_bytes // (parts * cluster.n_threads))) // row_bytes)
    if edges is None:
        edges = np.append(np.arange(0, n, most), n).astype(np.int64)
        cuts = list(range(len(edges)))
    else:
        cuts = merged(edges, most)
    return [RowRange(int(edges[a]), int(edges[b])) for a, b in pairwise(cuts) if edges[a] < edges[b]]


def merged(edges: Index, most: int) -> list[int]:
    """Return cuts between units so that those between two cuts have ``most`` rows at most, or are one unit."""
    cuts = [0]
    for i in range(1, len(edges)):
        if edges[i] - edges[cuts[-1]] > most and i - 1 > cuts[-1]:
            cuts.append(i - 1)
    return [*cuts, len(edges) - 1]


class RangeReader(Protocol):
    """Rows ``first .. last - 1`` of a sample for a task."""

    def read(self) -> Rows:
        """Return all of them: (last - first, width)."""
        ...

    def take(self, numbers: Index) -> Rows:
        """Return those of increasing numbers, counted in the sample: (m,) to (m, width)."""
        ...

    def steps(self, most: int) -> Iterator[tuple[int, Rows]]:
        """Yield the number of the first row and the rows, about ``most`` of them at a time; once if there are none."""
        ...


@dataclass(frozen=True, slots=True)
class StoredRange:
    """Rows ``first .. last - 1`` of a source, whose files the worker must find by the same path."""

    source: Source
    first: int
    last: int

    def read(self) -> Rows:
        """Return all rows of the range."""
        return self.source.read(self.first, self.last)

    def take(self, numbers: Index) -> Rows:
        """Return rows of increasing numbers."""
        return self.source.take(numbers)

    def steps(self, most: int) -> Iterator[tuple[int, Rows]]:
        """Yield the rows in steps that do not cut units, such as row groups, where they are no larger than that."""
        units = self.source.units()
        if units is None:
            edges = np.append(np.arange(self.first, self.last, most), self.last)
        else:
            inside = units[(units > self.first) & (units < self.last)]
            edges = np.concatenate([[self.first], inside, [self.last]])
            edges = edges[merged(edges, most)]
        for first, last in pairwise(edges.tolist()):
            yield first, self.source.read(first, last)


@dataclass(frozen=True, slots=True)
class HeldRange:
    """Rows of a sample that are in memory, from number ``first`` on: (m, width)."""

    rows: Rows
    first: int

    def read(self) -> Rows:
        """Return all rows of the range."""
        return self.rows

    def take(self, numbers: Index) -> Rows:
        """Return rows of some numbers."""
        return np.asarray(self.rows[numbers - self.first])

    def steps(self, most: int) -> Iterator[tuple[int, Rows]]:
        """Yield the rows in steps."""
        for first in range(0, max(1, len(self.rows)), most):
            yield self.first + first, self.rows[first : first + most]
