"""Designs: which samples there are, and how their rows are ordered."""

from btests.designs.design import MIN_PAIRS, Design, JointSample, MatchedSamples, TwoSample

__all__ = ["MIN_PAIRS", "Design", "JointSample", "MatchedSamples", "TwoSample"]
