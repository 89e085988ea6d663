"""The rows of a side as coordinates: a source that a test can read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.comparison.encoding import Encoding
from btests.comparison.large.recipes import Recipe
from btests.comparison.large.side import Side
from btests.data.errors import DamagedError
from btests.data.protocol import Rows
from btests.plan import Index

#: Coordinates are around 1: the seven digits of float32 are more than the cells tell, and half the disk.
DTYPE = np.dtype(np.float32)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Encoded:
    """The rows of one side, encoded as the rows drawn were."""

    side: Side
    recipes: tuple[Recipe, ...]
    encoding: Encoding

    def __repr__(self) -> str:
        side = self.side
        files = dict.fromkeys(
            (part.delimiter, part.texts, *stamp) for part, stamp in zip(side.parts, side.stamps, strict=True)
        )
        # Not into how many pieces files are cut: whoever reads them, these are the rows.
        told = repr((list(files), side.read, side.where, side.types, side.n_rows, self.recipes, self.encoding))
        return f"Encoded({self.side.name!r}, {hashlib.sha256(told.encode()).hexdigest()})"

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.side.name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.side.n_rows

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.encoding.owners)

    @property
    def names(self) -> None:
        """Coordinates have no names."""
        return

    @property
    def dtype(self) -> np.dtype[Any]:
        """What rows come out as."""
        return DTYPE

    @property
    def skipped(self) -> tuple[str, ...]:
        """Nothing: damaged parts were left out before."""
        return ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files."""
        return tuple(dict.fromkeys(part.path for part in self.side.parts))

    def units(self) -> Index:
        """Return the edges of the parts, each of which is read from its first row on: (n_parts + 1,)."""
        return np.append(0, np.cumsum(self.side.counts)).astype(np.int64)

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        return self.take(np.arange(first, last, dtype=np.int64))

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=DTYPE)
        if not rows.size:
            return found
        edges = self.units()
        first, last = np.searchsorted(edges, [rows[0], rows[-1]], side="right").tolist()
        start = int(edges[first - 1])
        for part, before, batch in self.side.batches(first - 1, last):
            a, b = np.searchsorted(rows, [start, start + batch.num_rows]).tolist()
            if a < b:
                found[a:b] = self._rows(part.path, before, batch)[rows[a:b] - start]
            start += batch.num_rows
            if start > rows[-1]:
                return found
        raise DamagedError(f"{self.name!r} has changed while it was read")

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        done = 0
        for part, before, batch in self.side.batches():
            rows = self._rows(part.path, before, batch)
            done += len(rows)
            if done > self.n_rows:
                break
            yield from (rows[start : start + n_rows] for start in range(0, len(rows), n_rows))
        if done != self.n_rows:
            raise DamagedError(f"{self.name!r} has changed while it was read")

    def _rows(self, path: str, before: int, batch: Any) -> Rows:
        out = np.empty((batch.num_rows, self.width), dtype=DTYPE)
        start = 0
        for recipe, code in zip(self.recipes, self.encoding.codes, strict=True):
            cells = recipe.cells(batch[recipe.name], path, before, code.levels)
            out[:, start : start + code.width] = code.transform(cells)
            start += code.width
        return out
