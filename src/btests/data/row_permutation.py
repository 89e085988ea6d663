"""Permutations of rows: bijections between positions and rows, evaluated lazily."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from btests.data.keyed_permutation import Keyed
from btests.data.source import Rows
from btests.plan import Index

#: Up to this many rows a permutation is an array in memory (32 MB); beyond it a Feistel network.
MAX_HELD = 2**22

#: Rows that a buffered order shuffles at a time; at least one unit.
BUFFER_ROWS = 2**22


class Order(Protocol):
    """Permutation of ``n`` rows, given by a few numbers: pickled orders are the same in every process."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def how(self) -> str:
        """Kind of shuffle: ``"exact"``, ``"buffered"`` or ``"as stored"``."""
        ...

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``: (last - first,)."""
        ...

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        ...

    def positions(self, rows: Index) -> Index:
        """Return the positions of these rows, the inverse of ``at``: (m,) to (m,)."""
        ...


@dataclass(frozen=True, slots=True)
class AsStored:
    """Identity: row ``i`` at position ``i``."""

    n: int

    @property
    def how(self) -> str:
        """Kind of shuffle."""
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
    """Random permutation of ``n`` rows by numpy for a key such as (seed, stream), drawn on first use."""

    n: int
    key: tuple[int, ...]

    @property
    def how(self) -> str:
        """Kind of shuffle."""
        return "exact"

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``, as a read-only view: (last - first,)."""
        return _permutation(self.n, self.key)[first:last]

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        return _permutation(self.n, self.key)[positions]

    def positions(self, rows: Index) -> Index:
        """Return the positions of these rows: (m,) to (m,)."""
        return _inverse(self.n, self.key)[rows]


@lru_cache(maxsize=4)  # two samples, and two more for comparison
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
    """Units in random order, with consecutive units shuffled together in a buffer of limited size.

    Attributes
    ----------
    edges : ndarray of shape (n_units + 1,)
        First row of each unit, such as a row group of a file, and the end.
    key : tuple of int
        Key such as (seed, stream).
    buffer_rows : int
        Maximum rows of a buffer; a single unit may be larger.
    """

    edges: Index
    key: tuple[int, ...]
    buffer_rows: int = BUFFER_ROWS
    _units: Index = field(init=False, repr=False)  # units in permuted order
    _starts: Index = field(init=False, repr=False)  # first position of each of them, and the end
    _buffers: Index = field(init=False, repr=False)  # first position of each buffer, and the end

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.int64)
        edges = edges[np.append(True, np.diff(edges) > 0)]  # without empty units
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
        """Kind of shuffle."""
        return "buffered"

    def buffer_at(self, position: int) -> tuple[int, int]:
        """Return the first position and the end of the buffer that contains ``position``."""
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
        """Map positions by the permutation within each buffer, or by its inverse: (m,) to (m,)."""
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
    """Return the permutation of ``n`` rows for a seed and a stream.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int
        Seed of the test.
    stream : int
        1 for x, 2 for y.
    shuffle : bool or "buffered"
        True for an exact shuffle, False for rows as stored, ``"buffered"`` for `Buffered`.
    edges : ndarray of shape (n_units + 1,), optional
        Edges of units, for a buffered order.
    buffer_rows : int
        Rows of a buffer, for a buffered order.

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


def gather(rows: Rows, index: npt.NDArray[Any]) -> Rows:
    """Return ``rows[index]``: (n, d) and (m,) to (m, d)."""
    return np.take(rows, index, axis=0)


def scatter(rows: Rows, index: npt.NDArray[Any]) -> Rows:
    """Return the rows with row ``i`` moved to ``index[i]``, a permutation: (m, d) to (m, d)."""
    found = np.empty_like(rows)
    _whole(found)[index] = _whole(rows)
    return found


def put(rows: Rows, index: npt.NDArray[Any], found: Rows) -> None:
    """Write row ``i`` to ``found[index[i]]``: (m, d) and (m,) into (n, d)."""
    _whole(found)[index] = _whole(rows)


def _whole(rows: Rows) -> npt.NDArray[Any]:
    """Return a view with each row as one void item: (m, d) to (m,)."""
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]


def octets(part: npt.NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array as a view."""
    view: Any = part
    return memoryview(view).cast("B")
