"""Nulls: how the law of the statistic under the null hypothesis is learned from a summary."""

from btests.nulls.cross import CrossBlocks
from btests.nulls.cumulant import ThirdCumulant
from btests.nulls.gamma import Gamma
from btests.nulls.laws import DrawnLaw, Law, NormalLaw, PearsonLaw, StudentLaw
from btests.nulls.normal import Normal
from btests.nulls.pearson import Pearson
from btests.nulls.permutation import Permutation
from btests.nulls.protocol import Null
from btests.nulls.signflip import SignFlip
from btests.nulls.spectrum import Spectrum
from btests.nulls.system import BoundLaw

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
