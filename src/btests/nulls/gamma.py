"""Quadratic-time test with a gamma approximation of the null distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from btests.nulls.distributions import PearsonIIIDistribution
from btests.nulls.permutation_moments import relabelled_mean, relabelled_sd
from btests.statistics.tiled_gram import Gram, tile_bytes


@dataclass(frozen=True, slots=True)
class Gamma:
    r"""Gamma distribution with the exact mean and variance of all relabellings; no random numbers, quadratic time.

    The statistic is the biased MMD^2 of all rows. Its null distribution is that of a weighted sum of chi-squares, not
    a gamma distribution: two moments are exact, the tail is wrong for any number of rows. **The test is not consistent
    in its level.** It is the cheapest of the quadratic-time tests: one pass over the Gram matrix, memory for one tile.

    See Also
    --------
    Spectrum : consistent, at the cost of quadratic memory.
    Permutation : exact.

    References
    ----------
    A. Gretton, K. Fukumizu, Z. Harchaoui, B. Sriperumbudur, "A Fast, Consistent Kernel Two-Sample Test", NIPS 2009.
    """

    wants_gram: ClassVar[bool] = True

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of one tile in bytes."""
        return tile_bytes(n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the biased MMD^2."""
        return gram.margins().biased()

    def distribution(self, gram: Gram, seed: int, n_threads: int | None = None) -> PearsonIIIDistribution:
        """Return the null distribution of the statistic; ``seed`` is ignored."""
        margins = gram.margins()
        mean, sd = relabelled_mean(margins), relabelled_sd(margins)
        if sd <= margins.tolerance():  # every relabelling gives the observed value
            return PearsonIIIDistribution(0.0, 0.0, margins.biased())
        # The support of a gamma distribution starts at 0. The mean is not positive only if the kernel is not positive
        # definite; then the normal distribution is used.
        return PearsonIIIDistribution(sd, 2.0 * sd / mean if mean > 0.0 else 0.0, mean)
