"""Normal null distribution with the sample variance of the block values, as in the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from btests.nulls.distributions import NormalDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.summary import Summary


@dataclass(frozen=True, slots=True)
class Normal:
    r"""Normal with variance ``s^2 / n_blocks``, s^2 the sample variance of the blocks (Zaremba et al. 2013).

    Valid for many blocks with few rows each. With few blocks, mean and variance of the skewed block values are
    correlated: the level is too low for a moderate number of blocks and too high for very few. Needs at least two
    blocks.

    See Also
    --------
    SignFlip : exact for any number of blocks.
    ThirdCumulant : closed form with the skewness of the statistic.

    References
    ----------
    W. Zaremba, A. Gretton, M. Blaschko, "B-tests: Low Variance Kernel Two-Sample Tests", NIPS 2013.
    """

    #: The variance is estimated from the blocks, so the default block size is the paper's.
    many_blocks: ClassVar[bool] = True

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> NormalDistribution:
        """Return the null distribution of the statistic; ``seed`` is ignored."""
        n_blocks = summary.plan.n_blocks
        if n_blocks < 2:
            raise ValueError(
                f"Normal() learns the variance from the blocks and needs at least 2 of them, got {n_blocks}; "
                "take a smaller block_size or null=SignFlip()"
            )
        warn_if_few_blocks("Normal()", n_blocks, 30)
        return NormalDistribution(summary.standard_deviation() / math.sqrt(n_blocks))
