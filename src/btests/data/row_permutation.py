"""In which order rows are dealt: a bijection between positions and rows, computed where it is needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from btests.data.feistel import Keyed
from btests.plan import Index

#: Up to here an order is numpy's permutation, held once (32 MB); beyond it nothing is held.
MAX_HELD = 2**22

#: Rows that a buffered order shuffles at a time, at least a unit.
BUFFER_ROWS = 2**22


class Order(Protocol):
    """The row at each position of the order in which ``n`` rows are dealt, and the position of each row.

    A value: it is told by a few numbers, so it travels to another process, and means the same order there.
    """

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def how(self) -> str:
        """``"exact"`` (any row anywhere), ``"buffered"`` or ``"as stored"``."""
        ...

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``: (last - first,)."""
        ...

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        ...

    def positions(self, rows: Index) -> Index:
        """Return where these rows are dealt, the inverse of ``at``: (m,) to (m,)."""
        ...


@dataclass(frozen=True, slots=True)
class AsStored:
    """Row ``i`` at position ``i``."""

    n: int

    @property
    def how(self) -> str:
        """What was done to the rows."""
        return "as stored"

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``: (last - first,)."""
        return np.arange(first, last, dtype=np.int64)

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        return np.asarray(positions, dtype=np.int64)

    def positions(self, rows: Index) -> Index:
        """Return the positions of these rows: (m,) to (m,)."""
        return np.asarray(rows, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Permuted:
    """Numpy's permutation of ``n`` rows for a key such as (seed, stream), drawn where it is first asked for."""

    n: int
    key: tuple[int, ...]

    @property
    def how(self) -> str:
        """What was done to the rows."""
        return "exact"

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``, as a view that cannot be written: (last - first,)."""
        return _permutation(self.n, self.key)[first:last]

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        return _permutation(self.n, self.key)[positions]

    def positions(self, rows: Index) -> Index:
        """Return the positions of these rows: (m,) to (m,)."""
        return _inverse(self.n, self.key)[rows]


@lru_cache(maxsize=4)  # two samples, and what their orders are compared with
def _permutation(n: int, key: tuple[int, ...]) -> Index:
    drawn = np.random.Generator(np.random.PCG64(np.random.SeedSequence(list(key)))).permutation(n)
    drawn.setflags(write=False)
    return drawn


@lru_cache(maxsize=2)
def _inverse(n: int, key: tuple[int, ...]) -> Index:
    inverse = np.empty(n, dtype=np.int64)
    inverse[_permutation(n, key)] = np.arange(n, dtype=np.int64)
    inverse.setflags(write=False)
    return inverse


@dataclass(frozen=True, slots=True, eq=False)
class Buffered:
    """Units in random order, and several units at a time shuffled together: no more than a buffer is held.

    Attributes
    ----------
    edges
        First row of each unit, such as a row group of a file, and the end: (n_units + 1,).
    key
        Such as (seed, stream).
    buffer_rows
        Units follow one another into a buffer until it holds so many rows; one unit may be larger.
    """

    edges: Index
    key: tuple[int, ...]
    buffer_rows: int = BUFFER_ROWS
    _units: Index = field(init=False, repr=False)  # the units in the order in which they are dealt
    _starts: Index = field(init=False, repr=False)  # the position of each of them, and the end
    _buffers: Index = field(init=False, repr=False)  # the position at which each buffer begins, and the end

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.int64)
        edges = edges[np.append(True, np.diff(edges) > 0)]  # a unit without rows has no place
        units = Permuted(len(edges) - 1, self.key).rows(0, len(edges) - 1)
        starts = np.append(0, np.cumsum(np.diff(edges)[units])).astype(np.int64)
        buffers = [0]
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if end - buffers[-1] > self.buffer_rows and start > buffers[-1]:
                buffers.append(start)
        for name, value in (
            ("edges", edges),
            ("_units", units),
            ("_starts", starts),
            ("_buffers", np.asarray([*buffers, *([self.n] if self.n else [])], dtype=np.int64)),
        ):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.edges[-1])

    @property
    def how(self) -> str:
        """What was done to the rows."""
        return "buffered"

    def buffer_at(self, position: int) -> tuple[int, int]:
        """Return the first position of the buffer that holds a position, and its end."""
        i = int(np.searchsorted(self._buffers, position, side="right")) - 1
        return int(self._buffers[i]), int(self._buffers[i + 1])

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``: (last - first,)."""
        return self.at(np.arange(first, last, dtype=np.int64))

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        positions = np.asarray(positions, dtype=np.int64)
        unshuffled = self._inside(positions, forward=True)
        turn = np.searchsorted(self._starts, unshuffled, side="right") - 1
        return np.asarray(unshuffled - self._starts[turn] + self.edges[self._units[turn]])

    def positions(self, rows: Index) -> Index:
        """Return the positions of these rows: (m,) to (m,)."""
        rows = np.asarray(rows, dtype=np.int64)
        turns = np.empty(len(self._units), dtype=np.int64)
        turns[self._units] = np.arange(len(self._units))
        unit = np.searchsorted(self.edges, rows, side="right") - 1
        return self._inside(rows - self.edges[unit] + self._starts[turns[unit]], forward=False)

    def _inside(self, positions: Index, *, forward: bool) -> Index:
        """Return where each position goes when every buffer is shuffled by itself: (m,) to (m,)."""
        buffer = np.searchsorted(self._buffers, positions, side="right") - 1
        found = np.empty_like(positions)
        for i in np.unique(buffer):
            here, start = buffer == i, self._buffers[i]
            order = _shuffled(int(self._buffers[i + 1] - start), (*self.key, 1 + int(i)))
            places = positions[here] - start
            found[here] = start + (order.at(places) if forward else order.positions(places))
        return found


def permutation_of(
    n: int,
    seed: int,
    stream: int,
    shuffle: bool | str = True,
    *,
    edges: Index | None = None,
    buffer_rows: int = BUFFER_ROWS,
) -> Order:
    """Return the order in which ``n`` rows are dealt for a seed and a stream (1 for x, 2 for y).

    ``shuffle`` is True (any row anywhere), False (as stored), or ``"buffered"``, which needs the ``edges`` of units.

    Examples
    --------
    >>> order = permutation_of(10**12, seed=7, stream=1)
    >>> rows = order.rows(5 * 10**11, 5 * 10**11 + 3)
    >>> order.positions(rows) - 5 * 10**11
    array([0, 1, 2])
    """
    if shuffle == "buffered":
        if edges is None:
            raise ValueError("a buffered order needs the edges of the units that are read as a whole")
        return Buffered(edges, (seed, stream), buffer_rows)
    return _shuffled(n, (seed, stream)) if shuffle else AsStored(n)


def _shuffled(n: int, key: tuple[int, ...]) -> Permuted | Keyed:
    return Permuted(n, key) if n <= MAX_HELD else Keyed(n, key)
