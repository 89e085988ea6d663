"""Where the rows of a sample are, and how far apart, as its first rows tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from btests.plan import Array

#: Rows that a location is made from.
LOCATION_ROWS = 64


@dataclass(frozen=True, slots=True)
class Location:
    """A point amid the rows, and the mean squares of their distances from it, coordinate by coordinate: (d,) each.

    Made from the first rows that are dealt: rows that a selector keeps for the test do not reach its choice, not by a
    bit, and who reads the rows one after another has the same location from the start.
    """

    origin: Array
    spread: Array

    @staticmethod
    def of(rows: npt.NDArray[Any]) -> Location:
        """Return the location of some rows (m, d)."""
        some = rows.astype(np.float64)
        origin = np.median(some, axis=0)
        with np.errstate(over="ignore"):
            return Location(origin, np.mean((some - origin) ** 2, axis=0))

    def columns(self, chosen: list[int]) -> Location:
        """Return the location of these coordinates alone."""
        return Location(self.origin[chosen], self.spread[chosen])

    def reach(self) -> float:
        """Return a squared distance that hardly any two rows exceed, were they normal."""
        total = float(self.spread.sum())
        if not 0.0 < total < math.inf:
            return total
        # Squared distances are 2 total on average, and vary the less the more coordinates have a share in it.
        shares = self.spread / total
        return 2.0 * total * (1.0 + 11.0 * math.sqrt(float((shares**2).sum())))
