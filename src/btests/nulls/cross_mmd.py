"""Cross-MMD: a self-normalised test on the pairs between the two halves of a block."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from btests.nulls.distributions import StudentDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.plan import Array
from btests.summary import Summary, sample_sd
from btests.symmetries import SwapGroups

# Relative to the sum of magnitudes: about a hundred times the rounding error of that sum.
_ROUNDING = 1e-11


@dataclass(frozen=True, slots=True)
class CrossMMD:
    r"""Self-normalised test on the pairs between the two halves of each block; no random numbers.

    With ``f_u = sum_v C_uv``, u in the first half of a block's groups and v in the second, every f_u is symmetric
    around zero under the null hypothesis, for any number of blocks. ``sum f / sqrt(sum f^2)`` is asymptotically
    standard normal. Written as a t statistic it is compared with Student's distribution, which is exact for normal f.
    One block with one group per row is the cross-MMD; blocks of two rows give the linear-time test. The statistic is
    the unbiased MMD^2 over those pairs alone. Requires samples of one length.

    See Also
    --------
    SignFlip : exact test on all pairs.

    References
    ----------
    S. Shekhar, I. Kim, A. Ramdas, "A permutation-free kernel two-sample test", NeurIPS 2022.
    """

    def statistic(self, summary: Summary) -> float:
        """Return the average over blocks of MMD^2 estimated from the pairs between halves."""
        return float(_row_sums(summary).sum())

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> StudentDistribution:
        """Return the null distribution of the statistic; ``seed`` is ignored."""
        f = _row_sums(summary)
        if f.size < 2:
            raise ValueError("CrossMMD() needs at least 2 blocks or 4 rows a side in the block; take null=SignFlip()")
        warn_if_few_blocks("CrossMMD()", f.size, 16)
        # statistic / sd is the one-sample t statistic of f.
        return StudentDistribution(sample_sd(f) * math.sqrt(f.size), f.size - 1)


def _row_sums(summary: Summary) -> Array:
    """Return f_u of every stratum and group of the first half, scaled to sum to MMD^2: (n_strata * (g // 2),)."""
    if not isinstance(summary.symmetry, SwapGroups):
        raise ValueError("CrossMMD() is for blocks that share no rows and whose groups swap; take null=SignFlip()")
    if not summary.plan.paired:
        raise ValueError(
            f"CrossMMD() needs samples of one length, got {summary.plan.n_x} and {summary.plan.n_y} rows; "
            "take null=SignFlip()"
        )
    half = summary.plan.n_groups // 2
    weight = float(summary.plan.pair_weights()[:half, half:].sum()) * summary.plan.n_blocks
    between = summary.moments[:, :half, half:]
    f = between.sum(axis=-1)
    # With repeated values many sums are exactly 0. Their rounding errors may all have one sign, which would count as
    # evidence of a difference.
    f[np.abs(f) <= _ROUNDING * np.abs(between).sum(axis=-1)] = 0.0
    return np.asarray(f.ravel() / weight)
