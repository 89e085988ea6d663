"""The symmetric null: only pairs between the two halves of a block."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from btests.nulls.distributions import StudentDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.plan import Array
from btests.summary import Summary, sample_sd

# Of the sum of all magnitudes: a hundred times what adding them up may do.
_ROUNDING = 1e-11


@dataclass(frozen=True, slots=True)
class CrossMMD:
    r"""Self-normalised test on the pairs between the two halves of each block; no random numbers.

    With ``f_u = sum_v C_uv``, u in the first half of a block's groups and v in the second, every f_u is symmetric
    around zero under the null hypothesis, for any number of blocks, one included. ``sum f / sqrt(sum f^2)`` is then
    asymptotically standard normal; written as a t statistic it is used against Student's distribution, which is exact
    for normal f. One block with a single group a row is the cross-MMD (Shekhar, Kim, Ramdas 2022); blocks of two rows
    give the linear-time test. The statistic is the unbiased MMD^2 over those pairs alone.
    """

    def statistic(self, summary: Summary) -> float:
        """Return the average over blocks of MMD^2 estimated from the pairs between halves."""
        return float(_row_sums(summary).sum())

    def distribution(self, summary: Summary, seed: int) -> StudentDistribution:
        """Return the distribution of the statistic under the null hypothesis; the seed plays no part."""
        f = _row_sums(summary)
        if f.size < 2:
            raise ValueError("CrossMMD() needs at least 2 blocks or 4 rows a side in the block; take null=SignFlip()")
        warn_if_few_blocks("CrossMMD()", f.size, 16)
        # The t statistic is statistic / sd with sd from the spread around the mean, as in any one-sample t-test.
        return StudentDistribution(sample_sd(f) * math.sqrt(f.size), f.size - 1)


def _row_sums(summary: Summary) -> Array:
    """Return f_u of every fold and group of the first half, in units that sum to MMD^2: (n_folds * (g // 2),)."""
    if not summary.plan.paired:
        raise ValueError(
            f"CrossMMD() needs samples of one length, got {summary.plan.n_x} and {summary.plan.n_y} rows; "
            "take null=SignFlip()"
        )
    half = summary.plan.n_groups // 2
    weight = float(summary.plan.pair_weights()[:half, half:].sum()) * summary.plan.n_blocks
    between = summary.moments[:, :half, half:]
    f = between.sum(axis=-1)
    # Of values that repeat, sums are often 0 on paper. What rounding leaves of all f has one sign as often as not, and
    # would pass for a difference.
    f[np.abs(f) <= _ROUNDING * np.abs(between).sum(axis=-1)] = 0.0
    return np.asarray(f.ravel() / weight)
