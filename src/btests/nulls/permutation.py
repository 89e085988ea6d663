"""Quadratic-time permutation test, the paper's bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from btests._memory import require_bytes
from btests._option_checks import whole_number
from btests.nulls.distributions import ResampledDistribution
from btests.statistics.paired_gram import PairedGram
from btests.statistics.tiled_gram import TILE, Gram, tile_bytes, unbiased

Labels = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Permutation:
    r"""Permutation of the sample labels of all rows: exact for any sample sizes, quadratic time.

    The statistic is the unbiased MMD^2 of all rows, with all cross terms. Under the null hypothesis its distribution is
    invariant under relabelling. With ``a`` the indicator of the rows labelled x and K0 the Gram matrix with zero
    diagonal, it is linear in ``a'K0a`` and ``a'K0 1``, so all relabellings together are one matrix product with each
    tile of the matrix. The p-value is ``(1 + #{draws >= statistic}) / (n_resamples + 1)``: never 0, and exact if
    ``alpha (n_resamples + 1)`` is an integer. All relabellings are used if there are at most ``n_resamples + 1``.

    Memory is ``N n_resamples`` bytes for N rows in total; the Gram matrix is never held as a whole.

    Attributes
    ----------
    n_resamples : int
        Number of random relabellings.

    See Also
    --------
    SignFlip : exact, linear in the number of blocks.
    """

    n_resamples: int = 1000

    wants_gram: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_resamples", whole_number("n_resamples", self.n_resamples, 1))

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of the labels of all resamples and of their products with one tile, in bytes."""
        return (n_x + n_y + 4 * 8 * TILE) * int(self.n_resamples) + tile_bytes(n_x, n_y)

    def check_sizes(self, n_x: int, n_y: int) -> None:
        """Raise if ``bytes_needed`` exceeds the available memory."""
        require_bytes(repr(self), self.bytes_needed(n_x, n_y), n_x, n_y)

    def statistic(self, gram: Gram | PairedGram) -> float:
        """Return the unbiased MMD^2, or HSIC of pairs."""
        return gram.hsic() if isinstance(gram, PairedGram) else gram.margins().unbiased()

    def distribution(self, gram: Gram | PairedGram, seed: int, n_threads: int | None = None) -> ResampledDistribution:
        """Return the null distribution of the statistic."""
        if isinstance(gram, PairedGram):  # of 8 pairs or more there are too many permutations for all of them
            return ResampledDistribution(np.sort(gram.permuted(int(self.n_resamples), seed)), gram.tolerance())
        n_x, n_y = len(gram.x), len(gram.y)
        self.check_sizes(n_x, n_y)
        exhaustive = math.comb(n_x + n_y, n_x) <= self.n_resamples + 1
        labels = _all_labels(n_x, n_y) if exhaustive else _random_labels(n_x, n_y, int(self.n_resamples), seed)
        within = np.zeros(len(labels))
        for rows, columns, values in gram.tiles():
            product = labels[:, rows].astype(np.float64) @ values
            # Off-diagonal tiles count twice: the matrix is symmetric.
            weight = 1.0 if rows == columns else 2.0
            within += weight * np.einsum("rj,rj->r", product, labels[:, columns].astype(np.float64))
        margins = gram.margins()
        linear, sums = np.zeros(len(labels)), margins.row_sums.sum(axis=1)
        for start in range(0, len(sums), TILE):  # in pieces: numpy would convert all labels to floats at once
            linear += labels[:, start : start + TILE] @ sums[start : start + TILE]
        draws = np.sort(unbiased(within, linear, margins))
        return ResampledDistribution(draws, margins.tolerance(), exhaustive)


def _random_labels(n_x: int, n_y: int, n_draws: int, seed: int) -> Labels:
    """Return random indicators of ``n_x`` of all N rows: (n_draws, N)."""
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, 0x9E12])))
    observed = np.arange(n_x + n_y) < n_x
    return rng.permuted(np.broadcast_to(observed, (n_draws, n_x + n_y)), axis=1)


def _all_labels(n_x: int, n_y: int) -> Labels:
    """Return all indicators of ``n_x`` of all N rows: (comb(N, n_x), N)."""
    chosen = np.array(list(combinations(range(n_x + n_y), n_x)))
    labels = np.zeros((len(chosen), n_x + n_y), dtype=bool)
    np.put_along_axis(labels, chosen, True, axis=1)
    return labels
