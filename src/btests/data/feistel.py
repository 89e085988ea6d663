"""A random-looking order of any number of rows that is computed where it is needed, and never held."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt

import numpy as np
import numpy.typing as npt

from btests.plan import Index

# Rounds of the Feistel network: four look like chance where the round function does (Luby and Rackoff 1988), and
# this one is no more than a good mixer; four more cost 20 ns a row.
_ROUNDS = 8

# Positions at a time: the few arrays of a round stay in the cache.
_STEP = 2**14

# Multipliers of the splitmix64 finaliser (Steele, Lea, Flood 2014): every bit of a word reaches its upper half.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)

_Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Keyed:
    """A bijection of ``n`` rows that is computed and never held: for so many rows that a permutation is too large.

    A Feistel network with addition modulo ``s`` on the digits of a position in base ``s``, the smallest number whose
    square is at least ``n`` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). Of the s^2 places at
    most 2 sqrt(n) lie beyond ``n``; who lands there walks on along its cycle. Powers of two would have up to three
    places in four beyond, and as many walks.
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
        """What was done to the rows."""
        return "exact"

    def rows(self, first: int, last: int) -> Index:
        """Return the rows at positions ``first .. last - 1``: (last - first,)."""
        return self.at(np.arange(first, last, dtype=np.int64))

    def at(self, positions: Index) -> Index:
        """Return the rows at these positions: (m,) to (m,)."""
        return self._mapped(positions, forward=True)

    def positions(self, rows: Index) -> Index:
        """Return the positions of these rows: (m,) to (m,)."""
        return self._mapped(rows, forward=False)

    def _mapped(self, places: Index, *, forward: bool) -> Index:
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
                np.minimum(high, high - side, out=high)  # modulo: the difference wraps around where it is negative
                high, low = low, high
        else:
            for key in reversed(self._keys):
                high, low = low, high
                high -= _round(low, key, side)
                np.minimum(high, high + side, out=high)  # a negative number is a huge one here, and one turn too low
        return high * side + low


def _round(words: _Words, key: np.uint64, side: np.uint64) -> _Words:
    """Return numbers below ``side`` < 2^32 that look drawn at random for each word: (m,) to (m,)."""
    mixed = words ^ key
    mixed *= _FIRST
    mixed ^= mixed >> _HALF
    mixed *= _SECOND
    mixed >>= _HALF
    mixed *= side
    mixed >>= _HALF
    return mixed
