"""Kernel two-sample tests on blocks: whether two data sets come from the same distribution, and how sure that is."""

from btests.anytime import Watch, WatchResult
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
from btests.nulls import (
    CrossBlocks,
    Gamma,
    Normal,
    Null,
    Pearson,
    Permutation,
    SignFlip,
    Spectrum,
    ThirdCumulant,
)
from btests.result import TestResult
from btests.selection import (
    Aggregate,
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
from btests.sources import open_source
from btests.stream import Stream
from btests.tables import Comparison, compare
from btests.tally import Tally
from btests.warnings import (
    BTestWarning,
    DegenerateDataWarning,
    FewBlocksWarning,
    OrderWarning,
    PrecisionWarning,
    SelectionWarning,
)

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "BTestWarning",
    "Combination",
    "Comparison",
    "CrossBlocks",
    "CrossValidation",
    "DegenerateDataWarning",
    "Distance",
    "FewBlocksWarning",
    "Gamma",
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
    "OrderWarning",
    "Pairwise",
    "Pearson",
    "PerCoordinate",
    "Permutation",
    "Polynomial",
    "PrecisionWarning",
    "RationalQuadratic",
    "SelectionWarning",
    "Selector",
    "SignFlip",
    "Spectrum",
    "Stream",
    "Tally",
    "TestResult",
    "ThirdCumulant",
    "Watch",
    "WatchResult",
    "Weights",
    "bandwidths",
    "btest",
    "compare",
    "median_bandwidth",
    "open_source",
]
