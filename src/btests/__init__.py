"""Kernel two-sample tests on blocks: whether two data sets come from the same distribution, and how sure that is."""

from btests.api import btest
from btests.kernels import (
    Combination,
    Distance,
    Gaussian,
    InverseMultiquadric,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    OnColumns,
    Pairwise,
    Polynomial,
    RationalQuadratic,
    median_bandwidth,
)
from btests.nulls import CrossBlocks, Normal, Null, SignFlip, ThirdCumulant
from btests.result import TestResult
from btests.selection import (
    CrossValidation,
    MaxMMD,
    MaxRatio,
    Median,
    MedianFamily,
    PerCoordinate,
    Selector,
    Weights,
    bandwidths,
)
from btests.warnings import BTestWarning, DegenerateDataWarning, FewBlocksWarning, PrecisionWarning, SelectionWarning

__version__ = "0.1.0"

__all__ = [
    "BTestWarning",
    "Combination",
    "CrossBlocks",
    "CrossValidation",
    "DegenerateDataWarning",
    "Distance",
    "FewBlocksWarning",
    "Gaussian",
    "InverseMultiquadric",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "MaxMMD",
    "MaxRatio",
    "Median",
    "MedianFamily",
    "Normal",
    "Null",
    "OnColumns",
    "Pairwise",
    "PerCoordinate",
    "Polynomial",
    "PrecisionWarning",
    "RationalQuadratic",
    "SelectionWarning",
    "Selector",
    "SignFlip",
    "TestResult",
    "ThirdCumulant",
    "Weights",
    "bandwidths",
    "btest",
    "median_bandwidth",
]
