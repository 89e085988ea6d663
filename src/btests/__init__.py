"""Kernel two-sample tests on blocks: whether two data sets come from the same distribution, and how sure that is."""

TYPE_CHECKING = False  # as in typing, which takes time to import; checkers of types take it for True

# The one list of public names, by module. Modules are imported when a name is first asked for: the command line answers
# at once, and can be interrupted, before numpy is there.
_PUBLIC = {
    "_warnings": (
        "BTestWarning DegenerateDataWarning FewBlocksWarning OrderWarning PrecisionWarning ScaleWarning "
        "SelectionWarning"
    ),
    "api": "btest energy_test",
    "comparison": "Comparison GroupComparison compare",
    "data.open": "open_source",
    "independence": "independence_test",
    "kernels": (
        "Combination Energy Gaussian InverseMultiquadric Kernel KernelPair Laplacian Linear Matern OnColumns "
        "Pairwise Polynomial RationalQuadratic median_bandwidth"
    ),
    "ksample": "KSampleResult ksample_test",
    "nulls": "TU Bootstrap CrossMMD ExactMoments Gamma Normal Null Pearson Permutation SignFlip Spectrum ThirdCumulant",
    "partial_result": "PartialResult",
    "result": "TestResult",
    "selection": (
        "Aggregate CrossValidation FisherFamily JoinedFamily MaxMMD MaxRatio MedianFamily MedianHeuristic "
        "PerCoordinate Selector Weights bandwidths default_aggregate default_family fisher_family"
    ),
    "sequential": "SequentialResult SequentialTest",
    "statistics": "FeatureHSIC FeatureMMD HSIC MMD KernelFisher WithReplacement",
    "streaming.stream": "Stream",
}
_MODULES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__version__ = "0.1.0"

if TYPE_CHECKING:  # checkers of types do not run code: a test compares these imports with the list
    from btests._warnings import BTestWarning as BTestWarning
    from btests._warnings import DegenerateDataWarning as DegenerateDataWarning
    from btests._warnings import FewBlocksWarning as FewBlocksWarning
    from btests._warnings import OrderWarning as OrderWarning
    from btests._warnings import PrecisionWarning as PrecisionWarning
    from btests._warnings import ScaleWarning as ScaleWarning
    from btests._warnings import SelectionWarning as SelectionWarning
    from btests.api import btest as btest
    from btests.api import energy_test as energy_test
    from btests.comparison import Comparison as Comparison
    from btests.comparison import GroupComparison as GroupComparison
    from btests.comparison import compare as compare
    from btests.data.open import open_source as open_source
    from btests.independence import independence_test as independence_test
    from btests.kernels import Combination as Combination
    from btests.kernels import Energy as Energy
    from btests.kernels import Gaussian as Gaussian
    from btests.kernels import InverseMultiquadric as InverseMultiquadric
    from btests.kernels import Kernel as Kernel
    from btests.kernels import KernelPair as KernelPair
    from btests.kernels import Laplacian as Laplacian
    from btests.kernels import Linear as Linear
    from btests.kernels import Matern as Matern
    from btests.kernels import OnColumns as OnColumns
    from btests.kernels import Pairwise as Pairwise
    from btests.kernels import Polynomial as Polynomial
    from btests.kernels import RationalQuadratic as RationalQuadratic
    from btests.kernels import median_bandwidth as median_bandwidth
    from btests.ksample import KSampleResult as KSampleResult
    from btests.ksample import ksample_test as ksample_test
    from btests.nulls import TU as TU
    from btests.nulls import Bootstrap as Bootstrap
    from btests.nulls import CrossMMD as CrossMMD
    from btests.nulls import ExactMoments as ExactMoments
    from btests.nulls import Gamma as Gamma
    from btests.nulls import Normal as Normal
    from btests.nulls import Null as Null
    from btests.nulls import Pearson as Pearson
    from btests.nulls import Permutation as Permutation
    from btests.nulls import SignFlip as SignFlip
    from btests.nulls import Spectrum as Spectrum
    from btests.nulls import ThirdCumulant as ThirdCumulant
    from btests.partial_result import PartialResult as PartialResult
    from btests.result import TestResult as TestResult
    from btests.selection import Aggregate as Aggregate
    from btests.selection import CrossValidation as CrossValidation
    from btests.selection import FisherFamily as FisherFamily
    from btests.selection import JoinedFamily as JoinedFamily
    from btests.selection import MaxMMD as MaxMMD
    from btests.selection import MaxRatio as MaxRatio
    from btests.selection import MedianFamily as MedianFamily
    from btests.selection import MedianHeuristic as MedianHeuristic
    from btests.selection import PerCoordinate as PerCoordinate
    from btests.selection import Selector as Selector
    from btests.selection import Weights as Weights
    from btests.selection import bandwidths as bandwidths
    from btests.selection import default_aggregate as default_aggregate
    from btests.selection import default_family as default_family
    from btests.selection import fisher_family as fisher_family
    from btests.sequential import SequentialResult as SequentialResult
    from btests.sequential import SequentialTest as SequentialTest
    from btests.statistics import HSIC as HSIC
    from btests.statistics import MMD as MMD
    from btests.statistics import FeatureHSIC as FeatureHSIC
    from btests.statistics import FeatureMMD as FeatureMMD
    from btests.statistics import KernelFisher as KernelFisher
    from btests.statistics import WithReplacement as WithReplacement
    from btests.streaming.stream import Stream as Stream
else:
    __all__ = sorted(_MODULES)  # noqa: PLE0605

    def __dir__() -> list[str]:
        return __all__

    def __getattr__(name: str) -> object:
        from importlib import import_module
        from importlib.util import find_spec

        if name in _MODULES:
            globals()[name] = found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
            return found
        if name.isidentifier() and not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
