"""Closed-form null distribution with the exact variance and skewness of all sign flips."""

from __future__ import annotations

import math
from dataclasses import dataclass

from btests.nulls.distributions import PearsonIIIDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.summary import Summary


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
