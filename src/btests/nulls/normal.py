"""Normal null distributions: sample variance of the block values as in the paper, or bootstrap after Ho and Shieh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests._option_checks import whole_number
from btests.nulls.distributions import NormalDistribution
from btests.nulls.null import warn_if_few_blocks
from btests.summary import Summary, sample_sd

# Numbers of resamples that are held at once.
_BUDGET = 2**20


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


@dataclass(frozen=True, slots=True)
class Bootstrap:
    r"""Normal with the variance of averages of block values that are drawn anew with replacement.

    Its expectation over all resamples is ``(m - 1) / m`` times ``s^2 / m``, the variance of :class:`btests.Normal`,
    which is also that of the jackknife: of an average both are known in closed form, and resampling adds noise. It is
    here for comparison with the two-stage U-statistics of Ho and Shieh (2006), as Zaremba et al. (2013) describe them;
    the details are our interpretation. Needs at least two blocks.

    Attributes
    ----------
    n_resamples : int
        Number of resamples.

    See Also
    --------
    Normal : closed form.
    SignFlip : exact for any number of blocks.
    """

    n_resamples: int = 1999

    #: The variance is estimated from the blocks, so the default block size is the paper's.
    many_blocks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_resamples", whole_number("n_resamples", self.n_resamples, 2))

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> NormalDistribution:
        """Return the null distribution of the statistic."""
        m = summary.values.size
        if m < 2:
            raise ValueError(
                f"Bootstrap() learns the variance from the blocks and needs at least 2 of them, got {m}; "
                "take a smaller block_size or null=SignFlip()"
            )
        warn_if_few_blocks("Bootstrap()", m, 30)
        rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, 0xB007])))
        step = max(1, _BUDGET // m)
        sizes = [min(step, self.n_resamples - first) for first in range(0, self.n_resamples, step)]
        means = [summary.values[rng.integers(m, size=(size, m))].mean(axis=1) for size in sizes]
        return NormalDistribution(sample_sd(np.concatenate(means)))
