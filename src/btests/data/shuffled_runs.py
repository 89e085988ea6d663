"""Random order within runs of rows whose number is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from btests.plan import Index

# Increment and multipliers of splitmix64 (Steele, Lea, Flood 2014).
_STEP, _FIRST, _SECOND = (np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


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
        runs, inside = np.divmod(np.asarray(places, dtype=np.int64), self.size)
        found, which = np.unique(runs, return_inverse=True)
        order = np.argsort(self._hashes(found), axis=1, kind="stable")
        order = order if forward else np.argsort(order, axis=1, kind="stable")
        return np.asarray(runs * self.size + order[which, inside])

    def _hashes(self, runs: Index) -> npt.NDArray[np.uint64]:
        """Return a hash of each row of some runs: (m,) to (m, size)."""
        numbers = (runs[:, None] * self.size + np.arange(self.size)).astype(np.uint64)
        mixed = (numbers ^ self._words[0]) * _STEP + self._words[1]
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
        return mixed ^ (mixed >> np.uint64(31))
