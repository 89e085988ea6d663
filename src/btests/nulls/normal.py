"""The paper's null: normal, with the sample variance of the block values."""

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

    Right for many blocks and few rows in each. With few blocks it is not: mean and variance of the skewed block values
    are correlated, which makes the level too low for moderate and too high for very few blocks. It needs two blocks.
    """

    #: The variance is that of the blocks: by default there are many, of the paper's size.
    many_blocks: ClassVar[bool] = True

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def distribution(self, summary: Summary, seed: int) -> NormalDistribution:
        """Return the distribution of the statistic under the null hypothesis; the seed plays no part."""
        n_blocks = summary.plan.n_blocks
        if n_blocks < 2:
            raise ValueError(
                f"Normal() learns the variance from the blocks and needs at least 2 of them, got {n_blocks}; "
                "take a smaller block_size or null=SignFlip()"
            )
        warn_if_few_blocks("Normal()", n_blocks, 30)
        return NormalDistribution(summary.standard_deviation() / math.sqrt(n_blocks))
