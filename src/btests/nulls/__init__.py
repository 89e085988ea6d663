"""Nulls: how the law of the statistic under the null hypothesis is learned from a summary."""

from btests.nulls.cross_mmd import CrossBlocks
from btests.nulls.distributions import DrawnLaw, Law, NormalLaw, PearsonLaw, StudentLaw
from btests.nulls.gamma import Gamma
from btests.nulls.normal import Normal
from btests.nulls.pearson import Pearson
from btests.nulls.pearson_system import BoundLaw
from btests.nulls.permutation import Permutation
from btests.nulls.protocol import Null
from btests.nulls.sign_flip import SignFlip
from btests.nulls.spectrum import Spectrum
from btests.nulls.third_cumulant import ThirdCumulant

__all__ = [
    "BoundLaw",
    "CrossBlocks",
    "DrawnLaw",
    "Gamma",
    "Law",
    "Normal",
    "NormalLaw",
    "Null",
    "Pearson",
    "PearsonLaw",
    "Permutation",
    "SignFlip",
    "Spectrum",
    "StudentLaw",
    "ThirdCumulant",
]
