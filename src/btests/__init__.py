"""Kernel two-sample tests on blocks: whether two data sets come from the same distribution, and how sure that is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    JoinedFamily,
    MaxMMD,
    MaxRatio,
    Median,
    MedianFamily,
    PerCoordinate,
    Selector,
    Weights,
    bandwidths,
    default_family,
)
from btests.warnings import (
    BTestWarning,
    DegenerateDataWarning,
    FewBlocksWarning,
    OrderWarning,
    PrecisionWarning,
    ScaleWarning,
    SelectionWarning,
)

if TYPE_CHECKING:
    from btests.anytime import Watch, WatchResult
    from btests.sources import open_source
    from btests.stream import Stream
    from btests.tables import Comparison, compare
    from btests.tally import Tally

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
    "JoinedFamily",
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
    "ScaleWarning",
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
    "default_family",
    "median_bandwidth",
    "open_source",
]

# Names that not everybody needs, and whose modules take time to import: where to find them when they are asked for.
_LATER = {
    "Comparison": "btests.tables",
    "Stream": "btests.stream",
    "Tally": "btests.tally",
    "Watch": "btests.anytime",
    "WatchResult": "btests.anytime",
    "compare": "btests.tables",
    "open_source": "btests.sources",
}


if not TYPE_CHECKING:  # who checks types knows the names, and should miss those that are not there

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_LATER[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
