"""Kernel choices that are compared, and the nulls that they are paired with."""

from __future__ import annotations

import math

from btests.kernels import Energy, Gaussian, Kernel, Laplacian
from btests.nulls import CrossMMD, Gamma, Normal, Null, Pearson, Permutation, SignFlip, Spectrum, ThirdCumulant
from btests.selection import (
    Aggregate,
    CrossValidation,
    JoinedFamily,
    MaxMMD,
    MaxRatio,
    MedianFamily,
    MedianHeuristic,
    Selector,
    Weights,
)

Choice = Kernel | Selector | Aggregate

#: Name of the kernel that is picked for one problem.
PICKED = "hand-picked"

#: The default of ``btest`` when the study was made, the unit of times.
BASELINE = "MedianHeuristic()"


def _around(low: int, high: int, make: type[Gaussian] | type[Laplacian] = Gaussian) -> MedianFamily:
    return MedianFamily(tuple(2.0**power for power in range(low, high + 1)), make)


_BOTH = JoinedFamily((_around(-5, 1), _around(-5, 1, Laplacian)))

#: Choices by name; "m" in a name is the median bandwidth.
CHOICES: dict[str, Choice] = {
    BASELINE: MedianHeuristic(),
    "MedianHeuristic(Laplacian)": MedianHeuristic(Laplacian),
    "energy": Energy(),
    "MaxMMD()": MaxMMD(),
    "MaxRatio()": MaxRatio(),
    "Weights()": Weights(),
    "CrossValidation()": CrossValidation(),
    "MaxRatio, m/32 .. 32m": MaxRatio(MedianFamily()),
    "Weights, m/32 .. 32m": Weights(MedianFamily()),
    "Aggregate()": Aggregate(),
    "Aggregate(), rank": Aggregate(correction="rank"),
    "Aggregate, m/32 .. 32m": Aggregate(MedianFamily()),
    "Aggregate, m/32 .. 32m, rank": Aggregate(MedianFamily(), correction="rank"),
    "Aggregate, m/64 .. 4m": Aggregate(_around(-6, 2)),
    "Aggregate, m/64 .. 4m, rank": Aggregate(_around(-6, 2), correction="rank"),
    "Aggregate, m/32 .. 2m": Aggregate(_around(-5, 1)),
    "Aggregate, m/32 .. 2m, rank": Aggregate(_around(-5, 1), correction="rank"),
    "Aggregate, m/8 .. 8m": Aggregate(_around(-3, 3)),
    "Aggregate, Laplacian m/32 .. 2m": Aggregate(_around(-5, 1, Laplacian)),
    "Aggregate, both m/32 .. 2m": Aggregate(_BOTH),
    "Aggregate, both m/32 .. 2m, rank": Aggregate(_BOTH, correction="rank"),
}

#: The five bandwidths of the published MMDAgg. It scales each coordinate by the median of its absolute differences,
#: which for a uniform distribution is 1 - 1/sqrt 2, and writes a Gaussian kernel as exp(-d^2 / lambda^2).
_PUBLISHED = tuple(Gaussian(2.0**power * (1.0 - math.sqrt(0.5)) / math.sqrt(2.0)) for power in range(-4, 1))

#: Choices compared with the published powers of MMDAgg.
RERUN: dict[str, Choice] = {
    "Aggregate, rank": Aggregate(_PUBLISHED, correction="rank"),
    "Aggregate, max": Aggregate(_PUBLISHED),
    "MaxRatio": MaxRatio(_PUBLISHED),
    "median": _PUBLISHED[-1],
}

#: Choices whose Type II error on the blobs is drawn over n.
CURVES = (PICKED, "Aggregate()", "Aggregate(), rank", "Aggregate, m/32 .. 32m", "MaxRatio()", "Weights()", BASELINE)

#: Choices of the table of levels of pairs.
PAIRED: dict[str, Choice] = {
    "Gaussian(2)": Gaussian(2.0),
    **{name: CHOICES[name] for name in (BASELINE, "MaxMMD()", "MaxRatio()", "Weights()", "CrossValidation()")},
    **{name: CHOICES[name] for name in ("Aggregate()", "Aggregate(), rank", "Aggregate, m/32 .. 32m")},
}

#: Nulls of blocks, and those of the quadratic-time tests. Fewer draws than the defaults, to save time: the level of
#: sign flips and of permutations is exact for any number of draws that makes alpha (draws + 1) whole.
NULLS: dict[str, Null] = {
    "SignFlip": SignFlip(999),
    "Normal": Normal(),
    "ThirdCumulant": ThirdCumulant(),
    "CrossMMD": CrossMMD(),
    "Permutation": Permutation(199),
    "Spectrum": Spectrum(),
    "Gamma": Gamma(),
    "Pearson": Pearson(),
}
EXACT_NULLS = ("SignFlip", "Permutation")
BLOCK_NULLS = tuple(NULLS)[:4]
QUADRATIC_NULLS = tuple(NULLS)[4:]
