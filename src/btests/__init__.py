"""Kernel two-sample tests on blocks: whether two data sets come from the same distribution, and how sure that is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from btests._warnings import (
    BTestWarning,
    DegenerateDataWarning,
    FewBlocksWarning,
    OrderWarning,
    PrecisionWarning,
    ScaleWarning,
    SelectionWarning,
)
from btests.api import btest, energy_test
from btests.kernels import (
    Combination,
    Energy,
    Gaussian,
    InverseMultiquadric,
    Kernel,
    KernelPair,
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
    CrossMMD,
    ExactMoments,
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
    JoinedFamily,
    MaxMMD,
    MaxRatio,
    MedianFamily,
    MedianHeuristic,
    PerCoordinate,
    Selector,
    Weights,
    bandwidths,
    default_family,
)

if TYPE_CHECKING:
    from btests.comparison import Comparison, compare
    from btests.data.open import open_source
    from btests.independence import independence_test
    from btests.ksample import KSampleResult, ksample_test
    from btests.partial_result import PartialResult
    from btests.sequential import SequentialResult, SequentialTest
    from btests.statistics import HSIC
    from btests.streaming.stream import Stream

__version__ = "0.1.0"

__all__ = [
    "HSIC",
    "Aggregate",
    "BTestWarning",
    "Combination",
    "Comparison",
    "CrossMMD",
    "CrossValidation",
    "DegenerateDataWarning",
    "Energy",
    "ExactMoments",
    "FewBlocksWarning",
    "Gamma",
    "Gaussian",
    "InverseMultiquadric",
    "JoinedFamily",
    "KSampleResult",
    "Kernel",
    "KernelPair",
    "Laplacian",
    "Linear",
    "Matern",
    "MaxMMD",
    "MaxRatio",
    "MedianFamily",
    "MedianHeuristic",
    "Normal",
    "Null",
    "OnColumns",
    "OrderWarning",
    "Pairwise",
    "PartialResult",
    "Pearson",
    "PerCoordinate",
    "Permutation",
    "Polynomial",
    "PrecisionWarning",
    "RationalQuadratic",
    "ScaleWarning",
    "SelectionWarning",
    "Selector",
    "SequentialResult",
    "SequentialTest",
    "SignFlip",
    "Spectrum",
    "Stream",
    "TestResult",
    "ThirdCumulant",
    "Weights",
    "bandwidths",
    "btest",
    "compare",
    "default_family",
    "energy_test",
    "independence_test",
    "ksample_test",
    "median_bandwidth",
    "open_source",
]

# Names that not everybody needs, and whose modules take time to import: where to find them when they are asked for.
_LATER = {
    "Comparison": "btests.comparison",
    "Stream": "btests.streaming.stream",
    "PartialResult": "btests.partial_result",
    "SequentialTest": "btests.sequential",
    "SequentialResult": "btests.sequential",
    "compare": "btests.comparison",
    "HSIC": "btests.statistics",
    "KSampleResult": "btests.ksample",
    "independence_test": "btests.independence",
    "ksample_test": "btests.ksample",
    "open_source": "btests.data.open",
}


if not TYPE_CHECKING:  # who checks types knows the names, and should miss those that are not there

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_LATER[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
