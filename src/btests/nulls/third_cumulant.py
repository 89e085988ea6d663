"""A closed-form null with the right variance and skewness: no random numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from btests.nulls.distributions import PearsonIIIDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.summary import Summary


@dataclass(frozen=True, slots=True)
class ThirdCumulant:
    r"""Pearson III distribution with the variance and the third cumulant of all sign flips, both in closed form.

    For a core C with zero diagonal and random signs s, ``s' C s`` has mean 0, variance ``2 sum C_uv^2`` and third
    cumulant ``8 tr C^3``; folds are independent, so both add up over them. Flips of groups leave out the pairs inside
    a group: the variance is scaled up by the share that they move. Repeats without a seed, and gives p-values far
    below what a number of resamples can show; the level is close, not exact.
    """

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def distribution(self, summary: Summary, seed: int) -> PearsonIIIDistribution:
        """Return the distribution of the statistic under the null hypothesis; the seed plays no part."""
        n_groups = summary.plan.n_groups * len(summary.moments)
        warn_if_few_blocks("ThirdCumulant()", n_groups // 2, 16)
        sd, skewness = summary.deviation(), summary.draw_skewness()
        if summary.plan.paired:
            return PearsonIIIDistribution(sd / math.sqrt(summary.plan.flipped_share()) if sd else 0.0, skewness)
        # What has no partner is a large part of the statistic that no swap moves: the distribution is around it, as it
        # stands.
        return PearsonIIIDistribution(sd, skewness, summary.mean() - summary.moving())
