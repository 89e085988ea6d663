"""Tasks on ranges of rows of a source: a worker reads rows where they are and applies a function to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from btests._memory import amount
from btests.data.arrays import ArraySource
from btests.data.cell_checks import check_cells
from btests.data.dask_source import DaskSource, Outline
from btests.data.source import Rows, Source
from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.environment import with_absolute_paths
from btests.execution.dask.futures import failure, is_lost_worker, release, wait
from btests.execution.dask.row_ranges import HeldRange, RowRange, StoredRange, row_ranges


def itself(value: Any) -> Any:
    """Return a value: a task whose result is sent to every worker once, and can be computed again."""
    return value


@dataclass(slots=True)
class SharedValue:
    """A value that many tasks need, as the future of a task that returns it."""

    cluster: Cluster
    prefix: str
    value: Any
    future: Any = None

    def __post_init__(self) -> None:
        self.future = self.cluster.submit(self.prefix, itself, self.value)

    def renew(self) -> None:
        """Submit the task again if it has failed, since the worker that was to run it was lost because of another.

        Otherwise all tasks that need the value would fail with it.
        """
        wait(self.cluster, [self.future])
        if is_lost_worker(failure(self.cluster, self.future)):
            self.release()
            self.future = self.cluster.submit(self.prefix, itself, self.value)

    def release(self) -> None:
        """Release the future."""
        release([self.future])


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
class RangeTasks:
    """Submits functions of the rows of a source.

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

    def retry(
        self, prefix: str, function: Any, rows: RowRange, arguments: Callable[[RowRange], tuple[Any, ...]]
    ) -> list[tuple[RowRange, Any]]:
        """Submit a range again whose workers were lost, perhaps because of another task: alone, then in halves."""
        if "source" in self._held:
            self._held["source"].renew()
        (future,) = self.submit(prefix, function, [rows], [arguments(rows)])
        wait(self.cluster, [future])
        error = failure(self.cluster, future)
        if error is None:
            return [(rows, future)]
        release([future])
        if not is_lost_worker(error):
            raise error
        halves = rows.halves()
        if halves is None:
            self.refuse(rows)
        return [found for half in halves for found in self.retry(prefix, function, half, arguments)]

    def refuse(self, rows: RowRange) -> NoReturn:
        """Raise the error of rows whose workers were lost again and again."""
        n, row, cluster = rows.last - rows.first, self.row_bytes, self.cluster
        most = max(1, cluster.memory // (8 * row)) if cluster.memory else n // 2
        what = f"partition {rows.partitions[0]} of {self.label}" if rows.partitions else f"{n} rows of {self.label}"
        raise ClusterError(
            f"workers were lost while reading {what} ({n} rows, {amount(n * row)} as numbers), and a worker may take "
            f"{cluster.limit}; make partitions of {min(most, max(1, n // 2))} rows at most, or give workers more"
        )

    def close(self) -> None:
        """Release what the tasks share."""
        if "source" in self._held:
            self._held["source"].release()
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
        return list(self.cluster.client.compute(tasks))
