"""Closed-form null distributions: exact variance and skewness over all sign flips, or all permutations of y."""

from __future__ import annotations

import math
from dataclasses import dataclass

from btests._option_checks import check_flag
from btests.nulls.distributions import NormalDistribution, NullDistribution, PearsonIIIDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.summary import Summary
from btests.symmetries import SwapTuples

# Powers of smaller variances, and of their inverses, are no floats.
_SMALLEST = 1e-190


@dataclass(frozen=True, slots=True)
class ThirdCumulant:
    r"""Pearson III distribution with the variance and the third cumulant of all sign flips, both in closed form.

    For a sign-flip matrix C with zero diagonal and random signs s, ``s' C s`` has mean 0, variance ``2 sum C_uv^2`` and
    third cumulant ``8 tr C^3``; strata are independent, so both are summed over them. Flips of groups do not change
    the pairs inside a group: the variance is divided by the share of pairs that they change. The result is
    deterministic, and p-values may be far below ``1 / n_resamples``; the level is approximate.

    See Also
    --------
    SignFlip : exact.
    """

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> PearsonIIIDistribution:
        """Return the null distribution of the statistic; ``seed`` is ignored."""
        n_groups = summary.plan.n_groups * len(summary.moments)
        warn_if_few_blocks("ThirdCumulant()", n_groups // 2, 16)
        sd, skewness = summary.deviation(), summary.draw_skewness()
        if summary.plan.paired:
            return PearsonIIIDistribution(sd / math.sqrt(summary.plan.flipped_share()) if sd else 0.0, skewness)
        # Rows without a partner make a large part of the statistic swap-invariant; the distribution is centred at it.
        return PearsonIIIDistribution(sd, skewness, summary.mean() - summary.moving())


@dataclass(frozen=True, slots=True)
class ExactMoments:
    r"""Normal or Pearson III distribution with the exact moments over all permutations of y in each block.

    No random numbers. Variances of blocks, ``2 V_x V_y / (B (B - 3))``, add, as do their third moments. With few blocks
    the distribution of HSIC is far from normal, and the normal one rejects too often; Pearson III has the right
    skewness and is close at the usual levels.

    Attributes
    ----------
    skewed : bool
        Whether the distribution is Pearson III, with the third moment, and not normal. The third moment of a block
        takes time that grows with the cube of its rows.

    References
    ----------
    Q. Zhang, S. Filippi, A. Gretton, D. Sejdinovic, "Large-Scale Kernel Methods for Independence Testing", Statistics
    and Computing 28, 2018.
    """

    skewed: bool = True

    def __post_init__(self) -> None:
        check_flag("skewed", self.skewed)

    @property
    def many_blocks(self) -> bool:
        """Whether many blocks are the default."""
        return not self.skewed

    @property
    def order(self) -> int:
        """Largest moment over all permutations that a statistic must compute."""
        return 3 if self.skewed else 2

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> NullDistribution:
        """Return the distribution of the statistic under the null hypothesis."""
        if not isinstance(summary.symmetry, SwapTuples):
            raise ValueError(f"{self!r} is for tests of independence; two samples have null=ThirdCumulant()")
        m = summary.plan.n_blocks
        variance, third = summary.symmetry.permutation_moments(summary.moments)
        if not (_SMALLEST < variance < 1.0 / _SMALLEST) and summary.values.any():
            raise ValueError(
                f"the variance over permutations, {variance:.2g}, is out of the range of closed forms; scale the data, "
                "or take null='swap'"
            )
        if not self.skewed:
            warn_if_few_blocks(repr(self), m, 30)
            return NormalDistribution(math.sqrt(variance) / m)
        skewness = third / variance**1.5 if variance > 0.0 else 0.0
        return PearsonIIIDistribution(math.sqrt(variance) / m, skewness)
