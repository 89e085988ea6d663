"""What a chunk of blocks leaves behind: a small value that adds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from btests.blocks import Array, Blocks, Index


@dataclass(frozen=True, slots=True)
class Summary:
    """Block values and folded cores of some folds; ``a + b`` joins the summaries of different folds.

    Adding only puts things side by side, in the order of their numbers, and never sums floats. So the result does not
    depend, to the last bit, on how the folds were chunked, ordered or spread over workers.

    Attributes
    ----------
    blocks
        How all rows are dealt, the blocks that are still missing included.
    folds
        Numbers of the folds in this summary, increasing: (f,).
    values
        The unbiased MMD^2 of each block in those folds, in the order of the blocks: (m,).
    cores
        For each fold the sum over its blocks of the part of the block values that lies between groups u and v, zero for
        u = v: (f, k, k). Swapping x and y in group u flips the sign of row and column u, which is all that a sign flip
        needs. k is the number of groups; one more, for what never swaps, where the samples differ in length.
    rounding
        By how much rounding may have moved the average of all block values, 0 where nobody has asked.
    """

    blocks: Blocks
    folds: Index
    values: Array
    cores: Array
    rounding: float = 0.0

    def __add__(self, other: Summary) -> Summary:
        """Return the summary of both sets of folds."""
        if not isinstance(other, Summary):
            return NotImplemented
        return Summary.join([self, other])

    @classmethod
    def join(cls, parts: Iterable[Summary]) -> Summary:
        """Return the summary of all folds of ``parts``, which may come in any order."""
        parts = sorted(parts, key=lambda part: int(part.folds[0]) if part.folds.size else -1)
        blocks = parts[0].blocks
        if any(part.blocks != blocks for part in parts):
            raise ValueError("summaries of different blocks do not add")
        folds = np.concatenate([part.folds for part in parts])
        values = np.concatenate([part.values for part in parts])
        cores = np.concatenate([part.cores for part in parts])
        if np.any(np.diff(folds) <= 0):  # interleaved, not one stretch of folds after another
            order = np.argsort(folds)
            if np.unique(folds).size != folds.size:
                raise ValueError("summaries that share a fold do not add: it would count twice")
            pieces = [piece for part in parts for piece in part._pieces()]
            folds, cores, values = folds[order], cores[order], np.concatenate([pieces[i] for i in order])
        return cls(blocks, folds, values, cores, max(part.rounding for part in parts))

    def _pieces(self) -> list[Array]:
        edges = self.blocks.fold_edges()
        sizes = (edges[1:] - edges[:-1])[self.folds]
        return np.split(self.values, np.cumsum(sizes)[:-1]) if sizes.size else []

    @property
    def is_complete(self) -> bool:
        """Whether every fold is here."""
        return self.folds.size == self.blocks.n_folds

    def mean(self) -> float:
        """Return the average of the block values (Zaremba et al. 2013, eq. 4)."""
        return float(self.values.mean())

    def standard_deviation(self) -> float:
        """Return the sample standard deviation of the block values, of one block against the others."""
        return sample_sd(self.values)


def sample_sd(values: Array) -> float:
    """Return the sample standard deviation: (m,) to a number, NaN for one value alone."""
    if values.size < 2:
        return float("nan")
    # From the first value: the mean of equal numbers may be rounded apart from them.
    deviations = values - values[0]
    deviations -= deviations.mean()
    # Squares of numbers beyond 1e154 overflow, and below 1e-154 vanish: measure in units of the largest.
    unit = float(np.abs(deviations).max())
    return 0.0 if unit == 0.0 else unit * float(np.sqrt(np.sum((deviations / unit) ** 2) / (values.size - 1)))
