"""Samples of units: several rows of one customer, patient or machine, or single rows with weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests.data.sample import LOCATION_ROWS, Location
from btests.plan import Array, Index


class UnitRows(NamedTuple):
    """Rows (m, d) of some units, one unit after another, their weights (m,), and the first row of each unit (u,)."""

    rows: npt.NDArray[Any]
    weights: Array
    starts: Index


@dataclass(frozen=True, slots=True)
class UnitSample:
    """Units in memory with an optional permutation; a unit is what :class:`btests.data.sample.Sample` has as a row.

    Where callers need one row of a unit, as for bandwidths, they get its middle row: it depends on nothing but the
    unit, so that no swap of two units changes the pooled rows.

    Attributes
    ----------
    rows : ndarray of shape (N, d)
        Rows of all units, one unit after another.
    weights : ndarray of shape (N,)
        Weights of the rows. In a sample without weights those of a unit add up to 1.
    edges : ndarray of int, shape (u + 1,)
        First row of each unit, and N.
    is_weighted : bool
        Whether weights of units differ.
    order : ndarray of int, optional
        Units of the sample, in this order; None is all, as stored.
    """

    rows: npt.NDArray[Any]
    weights: Array
    edges: Index
    is_weighted: bool = False
    order: Index | None = None
    location: Location = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "location", Location.of(self.first(LOCATION_ROWS)))

    def __len__(self) -> int:
        return len(self.edges) - 1 if self.order is None else len(self.order)

    @property
    def is_numeric(self) -> bool:
        """True: rows of units are points."""
        return True

    @property
    def is_shuffled(self) -> bool:
        """Whether the units are in random order."""
        return self.order is not None

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return int(self.rows.shape[1])

    @property
    def n_rows(self) -> int:
        """Rows of the units of this sample together."""
        return int(np.diff(self.edges)[self._units(0, len(self))].sum())

    def units(self, first: int, last: int) -> UnitRows:
        """Return units ``first .. last - 1`` in permuted order."""
        chosen = self._units(first, last)
        sizes = self.edges[chosen + 1] - self.edges[chosen]
        ends = np.cumsum(sizes)
        places = np.arange(int(ends[-1])) + np.repeat(self.edges[chosen] - (ends - sizes), sizes)
        return UnitRows(self.rows[places], self.weights[places], ends - sizes)

    def first(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the middle rows of the first ``n_rows`` units in permuted order, or of all if there are fewer."""
        return self._middle(self._units(0, min(n_rows, len(self))))

    def head(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the middle row of ``n_rows`` units: the first in permuted order, or evenly spaced ones as stored."""
        if self.order is not None:
            return self.first(n_rows)
        return self._middle(np.arange(n_rows) * len(self) // n_rows)

    def take(self, positions: Index) -> UnitSample:
        """Return the units at these positions of the permuted order."""
        return replace(self, order=positions if self.order is None else self.order[positions])

    def split(self, n_rows: int) -> tuple[UnitSample, UnitSample]:
        """Return the first ``n_rows`` units in permuted order, and all others."""
        order = self._units(0, len(self))
        return replace(self, order=order[:n_rows]), replace(self, order=order[n_rows:])

    def scaled(self, scales: Array) -> UnitSample:
        """Return the same units with each column divided by its scale, as a copy: (d,)."""
        return replace(self, rows=self.rows / scales)

    def thinned(self, most: int) -> UnitSample:
        """Return the same units with at most ``most`` rows each, evenly spaced; the weight of a unit stays."""
        sizes = np.diff(self.edges)
        kept = np.minimum(sizes, most)
        edges = np.append(0, np.cumsum(kept))
        number = np.arange(edges[-1]) - np.repeat(edges[:-1], kept)
        places = np.repeat(self.edges[:-1], kept) + (2 * number + 1) * np.repeat(sizes, kept) // np.repeat(
            2 * kept, kept
        )
        weights = self.weights[places]
        before, after = (np.add.reduceat(w, e[:-1]) for w, e in ((self.weights, self.edges), (weights, edges)))
        share = np.repeat(before, kept) / np.repeat(kept, kept)  # equal where the remaining rows have no weight
        factor = np.repeat(before / np.where(after > 0.0, after, 1.0), kept)
        weights = np.where(np.repeat(after > 0.0, kept), weights * factor, share)
        return replace(self, rows=self.rows[places], weights=weights, edges=edges)

    def _units(self, first: int, last: int) -> Index:
        return np.arange(first, last) if self.order is None else self.order[first:last]

    def _middle(self, units: Index) -> npt.NDArray[Any]:
        return np.asarray(self.rows[(self.edges[units] + self.edges[units + 1]) // 2])
