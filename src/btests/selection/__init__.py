"""Kernel selection: selectors, families of kernels, and aggregation over a family."""

from btests.selection.aggregate import Aggregate, default_aggregate
from btests.selection.bandwidth_families import JoinedFamily, MedianFamily, PerCoordinate, bandwidths, default_family
from btests.selection.cross_validation import CrossValidation
from btests.selection.family import AnyFamily, MakesKernels
from btests.selection.fisher import FisherFamily, fisher_family
from btests.selection.max_mmd import MaxMMD
from btests.selection.max_ratio import MaxRatio
from btests.selection.median_heuristic import MedianHeuristic
from btests.selection.selector import Candidate, Selection, Selector, Setting
from btests.selection.weights import Weights

__all__ = [
    "Aggregate",
    "AnyFamily",
    "Candidate",
    "CrossValidation",
    "FisherFamily",
    "JoinedFamily",
    "MakesKernels",
    "MaxMMD",
    "MaxRatio",
    "MedianFamily",
    "MedianHeuristic",
    "PerCoordinate",
    "Selection",
    "Selector",
    "Setting",
    "Weights",
    "bandwidths",
    "default_aggregate",
    "default_family",
    "fisher_family",
]
