"""Designs: which samples there are, and how their rows are ordered."""

from btests.designs.design import Design
from btests.designs.matched_samples import MatchedSamples
from btests.designs.paired import Paired
from btests.designs.two_sample import TwoSample

__all__ = ["Design", "MatchedSamples", "Paired", "TwoSample"]
