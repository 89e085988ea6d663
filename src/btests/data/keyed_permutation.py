"""Pseudorandom permutations of any number of rows in constant memory, by keyed functions of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

from btests.plan import Index

# Rounds of the Feistel network: four suffice for a pseudorandom round function (Luby and Rackoff 1988). This one is
# only a good mixer; four more rounds cost 20 ns per row.
_ROUNDS = 8

# Positions per batch: the arrays of a round fit into the cache.
_STEP = 2**14

# Multipliers of the splitmix64 finaliser (Steele, Lea, Flood 2014): every bit of a word affects its upper half.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)

# Increment of splitmix64.
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)

_Words = npt.NDArray[np.uint64]


class _Bijection(Protocol):
    """Rows at positions, and positions of rows."""

    def mapped(self, places: Index, *, forward: bool) -> Index: ...


def _rows(self: _Bijection, first: int, last: int) -> Index:
    """Return the rows at positions ``first .. last - 1``: (last - first,)."""
    return self.mapped(np.arange(first, last, dtype=np.int64), forward=True)


def _at(self: _Bijection, positions: Index) -> Index:
    """Return the rows at these positions: (m,) to (m,)."""
    return self.mapped(positions, forward=True)


def _positions(self: _Bijection, rows: Index) -> Index:
    """Return the positions of these rows: (m,) to (m,)."""
    return self.mapped(rows, forward=False)


@dataclass(frozen=True, slots=True)
class Keyed:
    """Permutation of ``n`` rows in constant memory, for more rows than an array of indices should hold.

    A Feistel network with addition modulo ``s`` on the digits of a position in base ``s``, the smallest integer whose
    square is at least ``n``. At most 2 sqrt(n) of the s^2 values are ``n`` or more; the network is applied to those
    again (cycle walking). With a power of two up to three in four values would need that.

    Attributes
    ----------
    n : int
        Number of rows.
    key : tuple of int
        Key such as (seed, stream).

    References
    ----------
    J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002.
    """

    n: int
    key: tuple[int, ...]
    _side: int = field(init=False, repr=False, compare=False)
    _keys: tuple[np.uint64, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_side", isqrt(self.n - 1) + 1 if self.n else 1)
        state = np.random.SeedSequence(list(self.key)).generate_state(_ROUNDS, np.uint64)
        object.__setattr__(self, "_keys", tuple(state))

    @property
    def how(self) -> str:
        """Kind of shuffle."""
        return "exact"

    rows, at, positions = _rows, _at, _positions

    def mapped(self, places: Index, *, forward: bool) -> Index:
        """Return the rows at these positions, or the positions of these rows if not ``forward``: (m,) to (m,)."""
        places = np.asarray(places, dtype=np.int64)
        found = np.empty(places.shape, dtype=np.int64)
        for start in range(0, len(places), _STEP):
            part = self._once(places[start : start + _STEP].astype(np.uint64), forward)
            beyond = np.flatnonzero(part >= np.uint64(self.n))
            while beyond.size:
                part[beyond] = self._once(part[beyond], forward)
                beyond = beyond[part[beyond] >= np.uint64(self.n)]
            found[start : start + _STEP] = part
        return found

    def _once(self, places: _Words, forward: bool) -> _Words:
        side = np.uint64(self._side)
        high, low = np.divmod(places, side)
        if forward:
            for key in self._keys:
                high += _round(low, key, side)
                np.minimum(high, high - side, out=high)  # modulo: negative differences wrap to huge unsigned values
                high, low = low, high
        else:
            for key in reversed(self._keys):
                high, low = low, high
                high -= _round(low, key, side)
                np.minimum(high, high + side, out=high)  # modulo: negative values are huge until side is added
        return high * side + low


def _round(words: _Words, key: np.uint64, side: np.uint64) -> _Words:
    """Return pseudorandom integers below ``side`` < 2^32, one per word: (m,) to (m,)."""
    mixed = words ^ key
    mixed *= _FIRST
    mixed ^= mixed >> _HALF
    mixed *= _SECOND
    mixed >>= _HALF
    mixed *= side
    mixed >>= _HALF
    return mixed


@dataclass(frozen=True, slots=True)
class ShuffledRuns:
    """Permutation of the rows of each run of ``size`` rows, for any number of rows.

    The position of a row depends on its number and the key alone: not on how many rows there are, nor on the batches
    in which they come. A run is sorted by keyed hashes of its rows.

    Attributes
    ----------
    size : int
        Rows of a run.
    key : tuple of int
        Key such as (seed, part).
    """

    size: int
    key: tuple[int, ...]
    _words: tuple[np.uint64, np.uint64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        state = np.random.SeedSequence(list(self.key)).generate_state(2, np.uint64)
        object.__setattr__(self, "_words", tuple(state))

    @property
    def n(self) -> int:
        """Number of rows: as many as can be counted."""
        return 2**62

    @property
    def how(self) -> str:
        """Kind of shuffle."""
        return "buffered"

    rows, at, positions = _rows, _at, _positions

    def mapped(self, places: Index, *, forward: bool) -> Index:
        """Return the rows at these positions, or the positions of these rows if not ``forward``: (m,) to (m,)."""
        runs, inside = np.divmod(np.asarray(places, dtype=np.int64), self.size)
        found, which = np.unique(runs, return_inverse=True)
        order = np.argsort(self._hashes(found), axis=1, kind="stable")
        order = order if forward else np.argsort(order, axis=1, kind="stable")
        return np.asarray(runs * self.size + order[which, inside])

    def _hashes(self, runs: Index) -> npt.NDArray[np.uint64]:
        """Return a hash of each row of some runs: (m,) to (m, size)."""
        numbers = (runs[:, None] * self.size + np.arange(self.size)).astype(np.uint64)
        mixed = (numbers ^ self._words[0]) * _INCREMENT + self._words[1]
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
        return mixed ^ (mixed >> np.uint64(31))
