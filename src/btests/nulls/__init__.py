"""Null distributions of the test statistic: resampling, closed-form and asymptotic."""

from btests.nulls.bootstrap import Bootstrap
from btests.nulls.cross_mmd import CrossMMD
from btests.nulls.distributions import (
    NormalDistribution,
    NullDistribution,
    PearsonIIIDistribution,
    ResampledDistribution,
    StudentDistribution,
)
from btests.nulls.exact_moments import ExactMoments
from btests.nulls.gamma import Gamma
from btests.nulls.normal import Normal
from btests.nulls.null import Null
from btests.nulls.pearson import BetaDistribution, Pearson
from btests.nulls.permutation import Permutation
from btests.nulls.sign_flip import SignFlip
from btests.nulls.spectrum import Spectrum
from btests.nulls.third_cumulant import ThirdCumulant
from btests.nulls.tu import TU

__all__ = [
    "TU",
    "BetaDistribution",
    "Bootstrap",
    "CrossMMD",
    "ExactMoments",
    "Gamma",
    "Normal",
    "NormalDistribution",
    "Null",
    "NullDistribution",
    "Pearson",
    "PearsonIIIDistribution",
    "Permutation",
    "ResampledDistribution",
    "SignFlip",
    "Spectrum",
    "StudentDistribution",
    "ThirdCumulant",
]
