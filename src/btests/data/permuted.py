"""Rows of a source in the order in which they are dealt: what a test reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from btests.data.external_shuffle import NoSpaceError, Spilled, spill
from btests.data.row_permutation import AsStored, Buffered, Order, permutation_of
from btests.data.source import Rows, Source
from btests.data.take import gather, scatter
from btests.plan import Index

#: What a sample may hold in memory beside the window that was asked for, in bytes.
MEMORY = 2**27

# How often a source is read, at most, before it is worth a temporary file. Where rows can be read singly a pass is
# a sweep over the file at the speed of the disk; elsewhere it is unpacked each time.
_PASSES = 4
_SWEEPS = 16

# Units of a buffer, where any row can be read by itself and units are ours to choose.
_PIECES = 16


@dataclass(slots=True)
class _Held:
    """What was read ahead, positions ``first`` and on, where it goes on, and the temporary file if there is one."""

    first: int = 0
    rows: Rows | None = None
    end_of_last: int = 0
    coming: Iterator[Rows] | None = None
    spilled: Spilled | None = None
    way: str = ""
    lock: Any = field(default_factory=Lock)


@dataclass(frozen=True, slots=True, eq=False)
class PermutedRows:
    """The rows of ``source`` in ``order``, a window at a time, the same rows however they are fetched.

    Attributes
    ----------
    source, order
        Where rows are, and in which order they are dealt.
    memory
        Bytes that may be read ahead.
    folder
        For the temporary file, where one is needed; None is the system's folder.
    """

    source: Source
    order: Order
    memory: int = MEMORY
    folder: str | None = None
    _held: _Held = field(init=False, repr=False, default_factory=_Held)

    def __post_init__(self) -> None:
        if self.order.n != self.source.n_rows:
            raise ValueError(f"an order of {self.order.n} rows does not fit {self.source.n_rows} rows")

    @classmethod
    def of(
        cls,
        source: Source,
        seed: int,
        stream: int,
        shuffle: bool | str = True,
        *,
        memory: int = MEMORY,
        folder: str | None = None,
    ) -> PermutedRows:
        """Return the rows of a source as they are dealt for a seed and a stream (1 for x, 2 for y).

        ``shuffle`` is True (any row anywhere), False (as stored) or ``"buffered"``: units in random order, as many
        shuffled together as memory holds.
        """
        if shuffle not in (True, False, "buffered"):
            raise ValueError(f"shuffle must be True, False or 'buffered', got {shuffle!r}")
        n, rows = source.n_rows, _rows_in(memory, source)
        edges = source.units() if shuffle == "buffered" else None
        if shuffle == "buffered" and edges is None:
            edges = np.append(np.arange(0, n, max(1, rows // _PIECES)), n)
        largest = 0 if edges is None or not n else int(np.diff(edges).max())
        if largest > _PASSES * rows:
            raise ValueError(
                f"{source.name!r} can only be read {largest} rows at a time, and the buffer holds {rows}; "
                "shuffle exactly, or store it in smaller row groups"
            )
        return cls(source, permutation_of(n, seed, stream, shuffle, edges=edges, buffer_rows=rows), memory, folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return PermutedRows, (self.source, self.order, self.memory, self.folder)

    def __len__(self) -> int:
        return self.source.n_rows

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.source.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """What rows come out as."""
        return self.source.dtype

    @property
    def identity(self) -> str:
        """What tells these rows in this order from others: files, their sizes and times, and the order."""
        return f"{self.source!r} {_stamps(self.source)} {self.order!r}"

    @property
    def how(self) -> str:
        """``"exact"``, ``"buffered"`` or ``"as stored"``."""
        return self.order.how

    @property
    def by(self) -> str:
        """How rows are fetched: ``"ranges"``, ``"takes"`` or ``"a temporary file"``."""
        if not self._held.way:
            passes = _SWEEPS if self.source.units() is None else _PASSES
            is_few = isinstance(self.order, Buffered) or self.source.n_rows <= passes * self._ahead
            stored = isinstance(self.order, AsStored)
            self._held.way = "ranges" if stored else "takes" if is_few else "a temporary file"
        return self._held.way

    @property
    def _ahead(self) -> int:
        return _rows_in(self.memory, self.source)

    def prepare(self, report: Callable[[int], None] | None = None) -> None:
        """Do now what must be done before the first window: write the temporary file, where one is needed."""
        with self._held.lock:
            self._prepared(report)

    def close(self) -> None:
        """Let go of memory and of the temporary file."""
        with self._held.lock:
            if self._held.spilled is not None:
                self._held.spilled.close()
            self._held.spilled = self._held.rows = self._held.coming = None

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``, not to be written to: (last - first, width)."""
        with self._held.lock:
            if isinstance(self.order, AsStored):
                return self.source.read(first, last) if self.source.units() is None else self._from_scan(first, last)
            spilled = self._prepared(None)
            if spilled is not None:
                return spilled.window(first, last)
            return self._from_takes(first, last)

    def at(self, positions: Index) -> Rows:
        """Return the rows at a few positions, in the order given: (m,) to (m, width)."""
        if self._held.spilled is not None:
            return self._held.spilled.at(positions)
        rows, back = np.unique(self.order.at(np.asarray(positions, dtype=np.int64)), return_inverse=True)
        return gather(self.source.take(rows), back)

    def head(self, n_rows: int) -> Rows:
        """Return the first ``n_rows`` rows, or some spread evenly where rows are as stored: (n_rows, width)."""
        if isinstance(self.order, AsStored):
            return self.at(np.arange(n_rows) * len(self) // n_rows)
        return self.at(np.arange(n_rows))

    def _prepared(self, report: Callable[[int], None] | None) -> Spilled | None:
        if self._held.spilled is None and self.by == "a temporary file":
            try:
                self._held.spilled = spill(self.source, self.order, folder=self.folder, report=report)
            except NoSpaceError:
                if self.source.units() is not None:
                    raise
                self._held.way = "takes"  # every row can be read by itself: it only takes longer
        return self._held.spilled

    def _from_scan(self, first: int, last: int) -> Rows:
        """Return rows as they are stored, where a unit is unpacked once for all windows that follow one another."""
        held = self._held
        if first == 0:
            held.first, held.rows = 0, np.empty((0, self.source.width), dtype=self.source.dtype)
            held.coming, held.end_of_last = self.source.scan(self._ahead), 0
        if first != held.end_of_last or held.coming is None or held.rows is None:
            return self.source.read(first, last)
        pieces = [held.rows[first - held.first :]]
        while sum(map(len, pieces)) < last - first:
            piece = next(held.coming, None)
            if piece is None:  # it has failed before
                held.coming = None
                return self.source.read(first, last)
            pieces.append(piece)
        held.first, held.rows = first, pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        held.end_of_last = last
        return held.rows[: last - first]

    def _from_takes(self, first: int, last: int) -> Rows:
        held = self._held
        end = held.first + (0 if held.rows is None else len(held.rows))
        if held.rows is None or not held.first <= first <= last <= end:
            # Who reads on from where the last window ended, or from the beginning, will read on: a source that is
            # read in units costs the same for a window as for all that memory holds.
            start, stop = first, last
            if first in (0, held.end_of_last):
                stop = min(len(self), max(last, first + self._ahead))
            if isinstance(self.order, Buffered) and last > first:
                start, stop = self.order.buffer_at(first)[0], self.order.buffer_at(last - 1)[1]
            held.rows = None
            rows = self.order.rows(start, stop)
            turn = np.argsort(rows)
            permuted = scatter(self.source.take(rows[turn]), turn)
            permuted.setflags(write=False)
            held.first, held.rows = start, permuted
        held.end_of_last = last
        return held.rows[first - held.first : last - held.first]


def _rows_in(memory: int, source: Source) -> int:
    """Return how many rows fit into the memory: themselves twice, and where they come from and go to."""
    return max(1, memory // (2 * source.width * source.dtype.itemsize + 24))


def paths_of(source: Any) -> list[str]:
    """Return the files that a source reads."""
    if hasattr(source, "paths"):
        return [os.fspath(path) for path in source.paths]
    if hasattr(source, "parts"):
        return [path for part in source.parts for path in paths_of(part)]
    return [os.fspath(source.path)] if hasattr(source, "path") else []


def _stamps(source: Any) -> list[tuple[int, int]]:
    """Return size and time of every file that a source reads."""
    return [(stat.st_size, stat.st_mtime_ns) for stat in map(os.stat, paths_of(source))]
