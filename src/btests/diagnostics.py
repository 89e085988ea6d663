"""What the block values and cores say about themselves: spread, skewness, normality."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from btests.blocks import Array
from btests.summary import Summary, sample_sd

# With fewer blocks than this, the groups inside them tell more about the spread than the blocks do.
_ENOUGH_BLOCKS = 10
_ENOUGH_GROUPS = 8

# Blocks that tell whether neighbours are alike. The score of fewer is bounded by so little that it says nothing.
_ENOUGH_NEIGHBOURS = 40


class Spread(NamedTuple):
    """The standard error of the average block value, and the degrees of freedom behind it."""

    standard_error: float
    degrees: int


class Normality(NamedTuple):
    """A Kolmogorov-Smirnov test: the largest distance between two distribution functions, and its p-value."""

    statistic: float
    pvalue: float


def estimate_spread(summary: Summary) -> Spread:
    r"""Return the standard error of the estimate of MMD^2, valid under the alternative (section 2.1).

    From the sample variance of the blocks where there are at least ten; from the groups inside the blocks otherwise:
    with ``f_u`` the mean of h between group u and the others of its block, the projection of the U-statistic, the
    variance is ``4 var(f) / number of groups``. Near the null hypothesis that is too large rather than too small.
    """
    m, g, paired = summary.blocks.n_blocks, summary.blocks.n_groups, summary.blocks.paired
    if m >= _ENOUGH_BLOCKS or (m > 1 and (g < _ENOUGH_GROUPS or not paired)):
        return Spread(summary.standard_deviation() / math.sqrt(m), m - 1)
    if not paired:
        raise ValueError(
            "an interval for MMD^2 between samples of different lengths needs at least 2 blocks; "
            "take a smaller block_size"
        )
    if g < _ENOUGH_GROUPS:
        raise ValueError(
            f"an interval for MMD^2 needs at least 2 blocks or {_ENOUGH_GROUPS} rows, got one block of {g} rows"
        )
    # So few blocks are their own folds: no core is a sum over several of them.
    projections = summary.cores.sum(axis=-1) / summary.blocks.pair_weights().sum(axis=-1)
    return Spread(2.0 * sample_sd(projections.ravel()) / math.sqrt(projections.size), projections.size - 1)


def skewness(values: Array) -> float:
    """Return the sample skewness: (m,) to a number, NaN where fewer than 3 values or no spread leave it undefined."""
    deviations = values - values.mean()
    scale = float(np.abs(deviations).max(initial=0.0))
    if values.size < 3 or scale == 0.0:
        return math.nan
    deviations = deviations / scale
    return float(np.mean(deviations**3) / np.mean(deviations**2) ** 1.5)


def ks_normality(values: Array) -> Normality:
    """Return the Kolmogorov-Smirnov test of ``values`` against a normal law with their mean and variance: (m,).

    Mean and variance come from the values themselves, as in the paper, which makes the p-value too large: a small one
    is a sure sign, a large one is none.
    """
    from scipy.special import kolmogorov, ndtr

    m, sd = values.size, float(values.std(ddof=1)) if values.size > 1 else 0.0
    if m < 3 or sd == 0.0:
        return Normality(math.nan, math.nan)
    cdf = ndtr((np.sort(values) - values.mean()) / sd)
    steps = np.arange(m + 1) / m
    distance = float(max(np.max(steps[1:] - cdf), np.max(cdf - steps[:-1])))
    return Normality(distance, float(kolmogorov(distance * math.sqrt(m))))


def serial_score(values: Array) -> float:
    """Return the correlation of the ranks of neighbours in standard deviations: (m,), 0 where there are too few.

    Blocks of rows in random order are independent, and the score is then about standard normal.
    """
    m = values.size
    if m < _ENOUGH_NEIGHBOURS:
        return 0.0
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[places.ravel()]  # equal values share the mean of their ranks
    ranks -= ranks.mean()
    power = float(np.sum(ranks**2))
    return 0.0 if power == 0.0 else math.sqrt(m) * float(np.sum(ranks[1:] * ranks[:-1])) / power
