"""Diagnostics of block values: skewness, normality, serial correlation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from btests.plan import Array

# Minimum number of blocks for the serial correlation: with fewer, the score cannot be large.
_ENOUGH_NEIGHBOURS = 40


class Normality(NamedTuple):
    """A Kolmogorov-Smirnov test: the largest distance between two distribution functions, and its p-value."""

    statistic: float
    pvalue: float


def skewness(values: Array) -> float:
    """Return the sample skewness: (m,) to a number, NaN where fewer than 3 values or no spread leave it undefined."""
    deviations = values - values.mean()
    scale = float(np.abs(deviations).max(initial=0.0))
    if values.size < 3 or scale == 0.0:
        return math.nan
    deviations = deviations / scale
    return float(np.mean(deviations**3) / np.mean(deviations**2) ** 1.5)


def ks_normality(values: Array) -> Normality:
    """Return the Kolmogorov-Smirnov test of values (m,) against the normal distribution of their mean and variance.

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
