"""Number of different values of a column that is read in pieces, exact for a few thousand and an estimate beyond."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from btests._imports import arrow

Hashes = npt.NDArray[np.uint64]

# Smallest hashes that are kept: the relative standard error of the estimate is 1/sqrt of their number, 1.6 %.
_MOST = 4096


@dataclass(frozen=True, slots=True)
class DistinctCount:
    """Smallest hashes of the different values of some cells; counts of parts of a table add.

    The k-th smallest of n random hashes is about k/n of their range (Bar-Yossef et al., Counting distinct elements in a
    data stream, RANDOM 2002).

    Attributes
    ----------
    n_present : int
        Number of cells that are not missing.
    hashes : ndarray of shape (k,)
        Increasing.
    """

    n_present: int = 0
    hashes: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    @classmethod
    def of(cls, column: Any) -> DistinctCount:
        """Return the count of an arrow column of texts or of whole numbers of at most 64 bits."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        n_present = len(column) - column.null_count
        words = pc.drop_null(pc.unique(column))
        if pa.types.is_integer(words.type):
            found = words.to_numpy(zero_copy_only=False).astype(np.uint64)
        else:
            found = np.fromiter(map(crc32, words.cast(pa.large_binary()).to_pylist()), np.uint64, len(words))
        hashes = _mixed(found)
        if len(hashes) > 2 * _MOST:  # of different texts a few have equal ones
            hashes = np.partition(hashes, 2 * _MOST)[: 2 * _MOST]
        return cls(n_present, np.unique(hashes)[:_MOST])

    def __add__(self, other: DistinctCount) -> DistinctCount:
        return DistinctCount(self.n_present + other.n_present, np.union1d(self.hashes, other.hashes)[:_MOST])

    @property
    def n_distinct(self) -> int:
        """Number of different values."""
        if len(self.hashes) < _MOST:
            return len(self.hashes)
        return min(self.n_present, round((_MOST - 1) * 2.0**64 / float(self.hashes[-1])))


def _mixed(numbers: Hashes) -> Hashes:
    """Return hashes of numbers, (n,) to (n,), by the finalizer of splitmix64."""
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))
