"""Uniform sample of the rows of a table that is read in pieces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._imports import arrow
from btests.plan import Index

Keys = npt.NDArray[np.uint64]

# Growth beyond the limits before rows are dropped, which amortises the cost.
_SPARE = 1.25

# Keys are drawn for so many rows at a time, so that the key of row i does not depend on the batches.
_STRETCH = 2**16


@dataclass(frozen=True, slots=True)
class Draw:
    """Limits of the rows drawn from each side, in rows and bytes, and the seed of the draw."""

    most_rows: int
    most_bytes: int
    seed: int


@dataclass(slots=True)
class Reservoir:
    """Uniform sample of all rows: those with the smallest random keys.

    The key of a row depends only on the seed and on its number, not on the side: swapping the tables does not change
    the sample.

    Attributes
    ----------
    draw : Draw
        Limits of the sample, and the seed of the keys.
    n_rows : int
        Number of rows added.
    """

    draw: Draw
    n_rows: int = 0
    _pieces: list[tuple[Keys, Index, Any]] = field(default_factory=list)
    _below: int = 2**64
    _stretch: tuple[int, Keys] = (-1, np.empty(0, dtype=np.uint64))

    def add(self, batch: Any, numbers: Index | None = None) -> None:
        """Add the rows of a batch, whose numbers in their table are those after the rows added before by default."""
        numbers = np.arange(self.n_rows, self.n_rows + batch.num_rows) if numbers is None else numbers
        keys = self._keys(batch.num_rows)
        chosen = np.flatnonzero(keys < np.uint64(self._below)) if self._below < 2**64 else np.arange(len(keys))
        if not len(chosen):
            return
        table = arrow().Table.from_batches([batch.take(arrow().array(chosen))])
        self._pieces.append((keys[chosen], numbers[chosen], table))
        rows, size = self._size()
        if rows > _SPARE * self.draw.most_rows or size > _SPARE * self.draw.most_bytes:
            self._shrink(rows, size)

    def state(self) -> tuple[Any, ...]:
        """Return the state for ``restore``."""
        return self.n_rows, list(self._pieces), self._below

    def restore(self, state: tuple[Any, ...]) -> None:
        """Restore a saved state."""
        self.n_rows, self._pieces, self._below = state[0], list(state[1]), state[2]

    def tables(self) -> list[Any]:
        """Return the rows that were drawn, in the order in which they were added, as tables of one schema each."""
        self._limit()
        return [table for *_, table in self._pieces]

    def numbers(self) -> Index:
        """Return the numbers of the rows that were drawn, in the order in which they were added: (n,)."""
        self._limit()
        return np.concatenate([np.empty(0, dtype=np.int64), *(numbers for _, numbers, _ in self._pieces)])

    def _limit(self) -> None:
        rows, size = self._size()
        if rows > self.draw.most_rows or size > self.draw.most_bytes:
            self._shrink(rows, size)

    def _size(self) -> tuple[int, int]:
        return sum(len(keys) for keys, *_ in self._pieces), sum(table.nbytes for *_, table in self._pieces)

    def _shrink(self, rows: int, size: int) -> None:
        """Drop the rows with the largest keys, down to the limits."""
        kept = max(2, min(self.draw.most_rows, int(rows * min(1.0, self.draw.most_bytes / max(size, 1)))))
        keys = np.concatenate([keys for keys, *_ in self._pieces])
        if kept >= len(keys):  # two rows that are beyond the limit
            return
        self._below = int(np.partition(keys, kept)[kept])
        pa = arrow()
        joined: list[tuple[list[Keys], list[Index], list[Any]]] = []
        for own, numbers, table in self._pieces:
            mask = own < np.uint64(self._below)
            if not joined or joined[-1][2][0].schema != table.schema:
                joined.append(([], [], []))
            joined[-1][0].append(own[mask])
            joined[-1][1].append(numbers[mask])
            joined[-1][2].append(table.filter(pa.array(mask)))
        self._pieces = [
            (np.concatenate(keys), np.concatenate(numbers), pa.concat_tables(tables).combine_chunks())
            for keys, numbers, tables in joined
            if keys
        ]

    def _keys(self, count: int) -> Keys:
        """Return the keys of the next ``count`` rows: (count,)."""
        found = np.empty(count, dtype=np.uint64)
        first = self.n_rows
        self.n_rows += count
        for start in range(first - first % _STRETCH, first + count, _STRETCH):
            if self._stretch[0] != start:
                rng = np.random.Generator(
                    np.random.PCG64(np.random.SeedSequence([self.draw.seed, 21, start // _STRETCH]))
                )
                self._stretch = start, rng.integers(0, 2**64, _STRETCH, dtype=np.uint64)
            low, high = max(first, start), min(first + count, start + _STRETCH)
            found[low - first : high - first] = self._stretch[1][low - start : high - start]
        return found
