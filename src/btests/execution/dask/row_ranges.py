"""Ranges of rows of a source, one for each task: a worker reads rows where they are and applies a function to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from btests._memory import amount
from btests.data.arrays import ArraySource
from btests.data.cell_checks import check_cells
from btests.data.dask_source import DaskSource, Outline
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.tasks import SharedValue, Work
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


def on_source(function: Any, source: Source, rows: RowRange, *arguments: Any) -> Any:
    """Apply a function to rows of a source."""
    return function(StoredRange(source, rows.first, rows.last), *arguments)


def on_array(function: Any, array: Rows, name: str, rows: RowRange, *arguments: Any) -> Any:
    """Apply a function to rows that were sent with the task."""
    return function(HeldRange(check_cells(array, name, None, lambda i: rows.first + i), rows.first), *arguments)


def on_partitions(function: Any, partitions: Sequence[Any], outline: Outline, rows: RowRange, *arguments: Any) -> Any:
    """Apply a function to the rows of partitions of a dask collection."""
    assert rows.partitions is not None
    first, pieces, numbers = rows.first, [], rows.partitions
    for number, partition in enumerate(partitions, numbers[0]):
        pieces.append(outline.rows(partition, number, first))
        first += len(pieces[-1])
    if first != rows.last:
        raise ValueError(
            f"{outline.name} has {first - rows.first} rows in partitions {numbers[0]} to {numbers[1] - 1}, and had "
            f"{rows.last - rows.first} before; a dask graph must give the same rows whenever it is computed"
        )
    return function(HeldRange(pieces[0] if len(pieces) == 1 else np.concatenate(pieces), rows.first), *arguments)


@dataclass(frozen=True, slots=True, eq=False)
class RemoteSource:
    """Source whose rows are read by tasks.

    Attributes
    ----------
    cluster : Cluster
        Where they run.
    source : Source
        Files that workers read by themselves, a dask collection, or an array, whose rows are sent.
    label : str
        x or y.
    """

    cluster: Cluster
    source: Source
    label: str
    _held: dict[str, Any] = field(default_factory=dict, repr=False)

    def work(self, prefix: str, function: Any, arguments: Callable[[RowRange], tuple[Any, ...]]) -> Work:
        """Return tasks that apply a function to ranges of rows: ``function(reader, *arguments(rows))``."""

        def submit(ranges: Sequence[RowRange]) -> list[Any]:
            return self.submit(prefix, function, ranges, list(map(arguments, ranges)))

        return Work(self.cluster, submit, self.renew, RowRange.halves, self.refusal)

    def submit(
        self, prefix: str, function: Any, ranges: Sequence[RowRange], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Return the futures of ``function(reader, *arguments[i])`` on the rows of each range."""
        if isinstance(self.source, DaskSource):
            return self._on_partitions(prefix, function, ranges, arguments)
        return [self._on_rows(prefix, function, rows, own) for rows, own in zip(ranges, arguments, strict=True)]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.source.width * self.source.dtype.itemsize

    def ranges(self, *, in_steps: bool = False) -> list[RowRange]:
        """Return all rows as ranges: see :func:`row_ranges`."""
        return row_ranges(self.source, self.row_bytes, self.cluster, in_steps=in_steps)

    def renew(self) -> None:
        """Send the source again if it was lost with a worker."""
        if "source" in self._held:
            self._held["source"].renew()

    def refusal(self, rows: RowRange) -> ClusterError:
        """Return the error of rows whose workers were lost again and again."""
        n, row, cluster = rows.last - rows.first, self.row_bytes, self.cluster
        most = max(1, cluster.memory // (8 * row)) if cluster.memory else n // 2
        what = f"partition {rows.partitions[0]} of {self.label}" if rows.partitions else f"{n} rows of {self.label}"
        return ClusterError(
            f"workers were lost while reading {what} ({n} rows, {amount(n * row)} as numbers), and a worker may take "
            f"{cluster.limit}; make partitions of {min(most, max(1, n // 2))} rows at most, or give workers more"
        )

    def close(self) -> None:
        """Release what the tasks share."""
        if "source" in self._held:
            self._held["source"].close()
        self._held.clear()

    def _on_rows(self, prefix: str, function: Any, rows: RowRange, arguments: tuple[Any, ...]) -> Any:
        source, of = self.source, f"{self.label}-{rows.first}"
        if isinstance(source, ArraySource):  # rows are part of the graph, which can then be computed again
            own = np.ascontiguousarray(source.array[rows.first : rows.last], dtype=source.dtype)
            return self.cluster.submit(prefix, on_array, function, own, source.name, rows, *arguments, of=of)
        if "source" not in self._held:  # of thousands of files, it is too large to be sent with each task
            self._held["source"] = SharedValue(self.cluster, "btests_source", with_absolute_paths(source))
        return self.cluster.submit(prefix, on_source, function, self._held["source"].future, rows, *arguments, of=of)

    def _on_partitions(
        self, prefix: str, function: Any, ranges: Sequence[RowRange], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        import dask

        source = self.source
        assert isinstance(source, DaskSource)
        if "partitions" not in self._held:
            self._held["partitions"] = source.partitions()
        tasks = []
        for rows, own in zip(ranges, arguments, strict=True):
            a, b = rows.partitions or (0, 0)
            key = self.cluster.key(prefix, f"{self.label}-{a}")
            task = dask.delayed(on_partitions, pure=False)
            partitions = self._held["partitions"][a:b]
            tasks.append(task(function, partitions, source.outline, rows, *own, dask_key_name=key))
        return list(self.cluster.client.compute(tasks)) if tasks else []


def with_absolute_paths(source: Any) -> Any:
    """Return a source whose paths are absolute: the current folder of a worker may be another."""
    if hasattr(source, "parts"):
        return replace(source, parts=tuple(map(with_absolute_paths, source.parts)))
    path = getattr(source, "path", None)
    if is_dataclass(source) and not isinstance(source, type) and isinstance(path, str):
        moved: dict[str, Any] = {"path": os.path.abspath(path)}
        if hasattr(source, "file"):  # which is read, unit by unit
            moved["file"] = with_absolute_paths(source.file)
        return replace(source, **moved)
    return source
