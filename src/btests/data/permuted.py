"""Rows of a source in permuted order, read in windows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from btests._text import brief
from btests.data.external_shuffle import NoSpaceError, Spilled, spill
from btests.data.row_permutation import AsStored, Buffered, Order, gather, permutation_of, scatter
from btests.data.source import Rows, Source
from btests.plan import Index

#: Bytes that a sample may hold in memory in addition to the requested window.
MEMORY = 2**27

# Maximum number of passes over a source before a temporary file is used: _SWEEPS with random access, where a pass runs
# at the speed of the disk, _PASSES otherwise, where every pass decodes the file again.
_PASSES = 4
_SWEEPS = 16

# First rows in permuted order that are kept once some of them were asked for.
_HEAD = 2**12

# Units per buffer for sources with random access, which have no units of their own.
_PIECES = 16


@dataclass(slots=True)
class _Held:
    """Rows read ahead, from position ``first`` on, the iterator that continues them, and the temporary file."""

    first: int = 0
    rows: Rows | None = None
    end_of_last: int = 0
    coming: Iterator[Rows] | None = None
    spilled: Spilled | None = None
    way: str = ""
    stored: PermutedRows | None = None
    head: Rows | None = None
    lock: Any = field(default_factory=Lock)


@dataclass(frozen=True, slots=True, eq=False)
class PermutedRows:
    """Rows of ``source`` in ``order``, one window at a time; the rows do not depend on the access method.

    Attributes
    ----------
    source : Source
        The rows.
    order : Order
        Their permutation.
    memory : int
        Bytes that may be read ahead.
    folder : str or None
        Folder of the temporary file, if one is needed; None is that of the system.
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
        """Return the rows of a source in the order of a seed and a stream (1 for x, 2 for y).

        ``shuffle`` is True (exact), False (as stored) or ``"buffered"``: units in random order, as many shuffled
        together as fit into memory.
        """
        if shuffle not in (True, False, "buffered"):
            raise ValueError(f"shuffle must be True, False or 'buffered', got {brief(shuffle)}")
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
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.source.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows: float32 or float64."""
        return self.source.dtype

    @property
    def identity(self) -> str:
        """Identifier of these rows in this order: files, their sizes and times, and the order."""
        return f"{self.source!r} {_stamps(self.source)} {self.order!r}"

    @property
    def how(self) -> str:
        """``"exact"``, ``"buffered"`` or ``"as stored"``."""
        return self.order.how

    @property
    def by(self) -> str:
        """Access method: ``"ranges"``, ``"takes"`` or ``"a temporary file"``."""
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
        """Write the temporary file, if one is needed, before the first window is read."""
        with self._held.lock:
            self._prepared(report)

    def close(self) -> None:
        """Free memory and the temporary file."""
        with self._held.lock:
            if self._held.spilled is not None:
                self._held.spilled.close()
            self._held.spilled = self._held.rows = self._held.coming = self._held.stored = self._held.head = None

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``, read-only: (last - first, width)."""
        with self._held.lock:
            if isinstance(self.order, AsStored):
                return self.source.read(first, last) if self.source.units() is None else self._from_scan(first, last)
            spilled = self._prepared(None)
            if spilled is not None:
                return spilled.window(first, last)
            return self._from_takes(first, last)

    def stored(self, first: int, last: int) -> tuple[Rows, Index]:
        """Return rows ``first .. last - 1`` as they are stored, read-only, and their positions in permuted order."""
        with self._held.lock:
            if self._held.stored is None:
                self._held.stored = PermutedRows(self.source, AsStored(self.n_rows), self.memory, self.folder)
        rows = self._held.stored.window(first, last)
        return rows, self.order.positions(np.arange(first, last, dtype=np.int64))

    def at(self, positions: Index) -> Rows:
        """Return the rows at a few positions, in the order given: (m,) to (m, width)."""
        if self._held.spilled is not None:
            return self._held.spilled.at(positions)
        positions = np.asarray(positions, dtype=np.int64)
        if not isinstance(self.order, AsStored) and positions.max(initial=0) < _HEAD:
            with self._held.lock:
                if self._held.head is None:  # one look at the file serves location, scales and bandwidths
                    self._held.head = self._at(np.arange(min(_HEAD, len(self)), dtype=np.int64))
            return self._held.head[positions]
        return self._at(positions)

    def _at(self, positions: Index) -> Rows:
        rows, back = np.unique(self.order.at(np.asarray(positions, dtype=np.int64)), return_inverse=True)
        return gather(self.source.take(rows), back)

    def head(self, n_rows: int) -> Rows:
        """Return the first ``n_rows`` rows, or evenly spaced ones if rows are as stored: (n_rows, width)."""
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
                self._held.way = "takes"  # slower, but possible with random access
        return self._held.spilled

    def _from_scan(self, first: int, last: int) -> Rows:
        """Return rows as stored; consecutive windows share one scan, so that each unit is decoded once."""
        held = self._held
        if first == 0:
            held.first, held.rows = 0, np.empty((0, self.source.width), dtype=self.source.dtype)
            held.coming, held.end_of_last = self.source.scan(self._ahead), 0
        if first != held.end_of_last or held.coming is None or held.rows is None:
            return self.source.read(first, last)
        pieces = [held.rows[first - held.first :]]
        while sum(map(len, pieces)) < last - first:
            piece = next(held.coming, None)
            if piece is None:  # the scan has failed before
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
            # A window at the beginning, or right after the last one, is part of a sequential scan: read ahead, since
            # a source with units costs the same for one window as for a full buffer.
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
    """Return how many rows fit into ``memory``: two copies of each, and 24 bytes of indices."""
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
