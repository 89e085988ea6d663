"""A sample on a cluster: its parts lie on the disks of the workers, in the order in which rows are dealt."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from btests.data.arrays import ArraySource
from btests.data.dask_source import DaskSource
from btests.data.permutation import Permuted
from btests.data.permuted import Dealt, paths_of
from btests.data.protocol import Rows
from btests.execution.dask.asking import ask_workers, holders_of
from btests.execution.dask.chunking import Span, spans
from btests.execution.dask.errors import ClusterError, amount
from btests.execution.dask.machines import from_root, sees
from btests.execution.dask.tasks import Place, extents, keep_array, keep_partitions, keep_range, rows_at
from btests.execution.dask.value import Cluster
from btests.execution.dask.waiting import failure, is_death, let_go, outcome, settle, talking
from btests.plan import Index

# Rows that are fetched at a time where a few are asked for: who asks for the first asks for some more.
_AHEAD = 512

# Rows whose places are sent along with one graph, at 4 bytes each.
_PLACES = 2**20

# How often a few rows are asked for, where workers die beside it.
_TRIES = 3


@dataclass(slots=True)
class Part:
    """Rows of a sample that are kept on a worker, and the task that keeps them there, again if need be."""

    span: Span
    future: Any = None
    reach: tuple[int, int] | None = None  # the positions that its rows lie between, where they are close together


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The rows of a sample as they are dealt, on the workers of a cluster; a few of them at a time come here.

    Attributes
    ----------
    cluster
        Where the rows are.
    dealt
        The source, and the order of its rows.
    label
        x or y.
    parts
        What workers keep.
    """

    cluster: Cluster
    dealt: Dealt
    label: str
    parts: list[Part] = field(init=False, repr=False, default_factory=list)
    _few: dict[int, Rows] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        row = self.width * self.dtype.itemsize
        with talking(self.cluster):
            self._check_files()
            found = spans(self.dealt.source, row, self.cluster.n_threads, self.cluster.memory)
            self.parts.extend(map(Part, found))
            try:
                self._submit(self.parts)
            except BaseException:  # nobody has got this yet who could close it
                self.close()
                raise

    @property
    def how(self) -> str:
        """What was done to the order of the rows."""
        return self.dealt.how

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return self.dealt.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.dealt.dtype

    @property
    def identity(self) -> str:
        """What tells these rows in this order from others; not the cluster."""
        return self.dealt.identity

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``: (last - first, width). For a few."""
        return self.at(np.arange(first, last, dtype=np.int64))

    def at(self, positions: Index) -> Rows:
        """Return the rows at a few positions, in the order given: (m,) to (m, width)."""
        positions = np.asarray(positions, dtype=np.int64)
        first = int(positions[0]) if len(positions) else 0
        if np.any(positions != np.arange(first, first + len(positions))):
            return self._fetched(positions)
        if len(self._few.get(first, ())) < len(positions):
            end = min(len(self.dealt), first + max(_AHEAD, len(positions)))
            self._few[first] = self._fetched(np.arange(first, end, dtype=np.int64))
        return self._few[first][: len(positions)]

    def close(self) -> None:
        """Let workers drop their files."""
        let_go(part.future for part in self.parts)
        self.parts.clear()
        self._few.clear()
        self.dealt.close()

    def _fetched(self, positions: Index) -> Rows:
        wanted, back = np.unique(positions, return_inverse=True)
        with talking(self.cluster):
            return np.asarray(self._fetched_in_order(wanted)[back])

    def _fetched_in_order(self, wanted: Index) -> Rows:
        self.settle()
        rows = np.empty((len(wanted), self.width), dtype=self.dtype)
        for _, (places, own) in self._asked("rows", lambda part: _overlap(part.reach, wanted), rows_at, wanted):
            rows[np.searchsorted(wanted, places)] = own
        return rows

    def settle(self) -> None:
        """Have all parts kept; those whose workers died are read again, alone or in smaller pieces."""
        self._keep()
        if self.how != "exact":
            for own, found in self._asked("extents", lambda part: part.reach is None, extents):
                for part, reach in zip(own, found, strict=True):
                    part.reach = reach

    def _keep(self) -> None:
        settle(self.cluster, [part.future for part in self.parts])
        for part in list(self.parts):
            error = failure(self.cluster, part.future)
            if error is None:
                continue
            if not is_death(error):
                raise error
            self._again(part)

    def _asked(
        self, verb: str, which: Callable[[Part], bool], function: Any, *told: Any
    ) -> list[tuple[list[Part], Any]]:
        """Return for each worker some of its parts, and what a function that is told something finds in them."""
        for _ in range(_TRIES):
            homes = homes_of(self.cluster, list(filter(which, self.parts)))
            tasks = [
                self.cluster.submit(verb, function, *told, [part.future for part in own], home=home)
                for home, own in homes.items()
            ]
            try:
                found, error = outcome(self.cluster, tasks)
            finally:
                let_go(tasks)
            if error is None:
                return list(zip(homes.values(), found, strict=True))
            if not is_death(error):
                raise error
            self._keep()  # perhaps it was a part that was lost with its worker, too often
        raise ClusterError(
            f"workers died, {_TRIES} times, while they looked into rows of {self.label} that they keep, and a worker "
            f"may take {self.cluster.limit}; give workers more"
        )

    def _again(self, part: Part) -> None:
        """Read a part again whose workers have died, perhaps of another task: alone, then in halves."""
        if part.future is not None:
            let_go([part.future])
        part.reach = None
        self._submit([part])
        settle(self.cluster, [part.future])
        error = failure(self.cluster, part.future)
        if error is None:
            return
        if not is_death(error):
            raise error
        halves = part.span.halves()
        if halves is None:
            self._refuse(part.span)
        i = self.parts.index(part)
        self.parts[i : i + 1] = fresh = [Part(half) for half in halves]
        for half in fresh:
            self._again(half)

    def _refuse(self, span: Span) -> NoReturn:
        n, row = span.last - span.first, self.width * self.dtype.itemsize
        most = max(1, self.cluster.memory // (8 * row)) if self.cluster.memory else n // 2
        what = f"partition {span.numbers[0]} of {self.label}" if span.numbers else f"{n} rows of {self.label}"
        raise ClusterError(
            f"workers died while they read {what} ({n} rows, {amount(n * row)} as numbers), and a worker may take "
            f"{self.cluster.limit}; make partitions of {min(most, max(1, n // 2))} rows at most, or give workers more"
        )

    def _submit(self, parts: list[Part]) -> None:
        source, client = self.dealt.source, self.cluster.client
        if not isinstance(source, DaskSource):
            for part in parts:
                part.future = self._submitted(part.span)
            return
        import dask

        partitions, waiting, rows = source.partitions(), [], 0
        for i, part in enumerate(parts):
            a, b = part.span.numbers or (0, 0)
            key = self.cluster.key("keep", f"{self.label}-{a}")
            task = dask.delayed(keep_partitions, pure=False)(
                partitions[a:b], source.outline, (a, b), self._place(part.span), dask_key_name=key
            )
            waiting.append((part, task))
            rows += part.span.last - part.span.first
            if rows >= _PLACES or i + 1 == len(parts):
                for (one, _), future in zip(waiting, client.compute([task for _, task in waiting]), strict=True):
                    one.future = future
                waiting, rows = [], 0

    def _submitted(self, span: Span) -> Any:
        source, submit = self.dealt.source, self.cluster.client.submit
        key, place = self.cluster.key("keep", f"{self.label}-{span.first}"), self._place(span)
        if isinstance(source, ArraySource):  # rows in this process go along: a graph that holds them can be run again
            rows = np.ascontiguousarray(source.array[span.first : span.last], dtype=source.dtype)
            return submit(keep_array, rows, source.name, place, key=key)
        return submit(keep_range, from_root(source), place, key=key)

    def _place(self, span: Span) -> Place:
        order = self.dealt.order
        if not isinstance(order, Permuted):
            return Place(span.first, span.last, order, None)
        positions = order.positions(np.arange(span.first, span.last, dtype=np.int64))
        return Place(span.first, span.last, None, positions.astype(np.uint32))

    def _check_files(self) -> None:
        for path in map(os.path.abspath, paths_of(self.dealt.source)[:1]):
            for address, there in ask_workers(self.cluster.client, self.cluster.address, sees, path).items():
                if not there:
                    raise ClusterError(
                        f"the worker {address} does not see {path!r}; files must be where workers find them by the "
                        "same path, as on a shared file system"
                    )


def homes_of(cluster: Cluster, parts: list[Part]) -> dict[str, list[Part]]:
    """Return the parts by the worker that has them; under "" those that are on their way."""
    there = holders_of(cluster.client, cluster.address, [part.future for part in parts]) if parts else {}
    homes: dict[str, list[Part]] = {}
    for part in parts:
        at = there.get(part.future.key) or ("",)
        homes.setdefault(min(at), []).append(part)
    return homes


def _overlap(reach: tuple[int, int] | None, positions: Index) -> bool:
    if reach is None:
        return True
    a, b = np.searchsorted(positions, reach)
    return bool(a < b)
