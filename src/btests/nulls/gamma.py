"""The quadratic-time test by a gamma distribution with the right mean and variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from btests.nulls.distributions import PearsonIIIDistribution
from btests.nulls.permutation_moments import relabelled_mean, relabelled_sd
from btests.statistics.tiled_gram import Gram, tile_bytes


@dataclass(frozen=True, slots=True)
class Gamma:
    r"""Gamma distribution with the exact mean and variance of all relabellings; no random numbers, quadratic time.

    The statistic is the biased MMD^2 of all rows. Its distribution under the null hypothesis is a sum of weighted
    chi-squares, and no gamma distribution: two moments are right and the tail is not, whatever the number of rows.
    **The test is not consistent in its level.** It is the cheapest of the quadratic-time tests: one pass over the Gram
    matrix, and memory for one tile of it.

    References
    ----------
    A. Gretton, K. Fukumizu, Z. Harchaoui, B. Sriperumbudur, "A Fast, Consistent Kernel Two-Sample Test", NIPS 2009.
    """

    wants_gram: ClassVar[bool] = True

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of one tile."""
        return tile_bytes(n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the biased MMD^2, on the scale of MMD^2."""
        return gram.margins().biased()

    def distribution(self, gram: Gram, seed: int) -> PearsonIIIDistribution:
        """Return the distribution of the statistic under the null hypothesis; the seed plays no part."""
        margins = gram.margins()
        mean, sd = relabelled_mean(margins), relabelled_sd(margins)
        if sd <= margins.tolerance():  # every relabelling gives what was observed
            return PearsonIIIDistribution(0.0, 0.0, margins.biased())
        # A gamma distribution begins at 0. Only a kernel that is not positive definite has no positive mean; then it is
        # normal.
        return PearsonIIIDistribution(sd, 2.0 * sd / mean if mean > 0.0 else 0.0, mean)
