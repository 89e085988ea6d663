"""Nulls: how the law of the statistic under the null hypothesis is learned from a summary."""

from btests.nulls.cross import CrossBlocks
from btests.nulls.cumulant import ThirdCumulant
from btests.nulls.laws import DrawnLaw, Law, NormalLaw, PearsonLaw, StudentLaw
from btests.nulls.normal import Normal
from btests.nulls.protocol import Null
from btests.nulls.signflip import SignFlip

__all__ = [
    "CrossBlocks",
    "DrawnLaw",
    "Law",
    "Normal",
    "NormalLaw",
    "Null",
    "PearsonLaw",
    "SignFlip",
    "StudentLaw",
    "ThirdCumulant",
]
