"""Kernel selection: selectors, families of kernels, aggregation over a family, and kernels by name."""

from __future__ import annotations

from typing import Any

from btests._option_checks import is_data
from btests._text import brief, close_match
from btests.data.sample import AnySample
from btests.kernels import Energy, Gaussian, Kernel, Laplacian, Linear, Matern
from btests.selection.aggregate import Aggregate, default_aggregate
from btests.selection.cross_validation import CrossValidation
from btests.selection.families import (
    AnyFamily,
    JoinedFamily,
    MakesKernels,
    MedianFamily,
    PerCoordinate,
    bandwidths,
    default_family,
)
from btests.selection.fisher import FisherFamily, fisher_family
from btests.selection.max_statistic import MaxMMD, MaxRatio
from btests.selection.median_heuristic import MedianHeuristic
from btests.selection.selector import Candidate, Selection, Selector, Setting
from btests.selection.weights import Weights

__all__ = [
    "KERNELS",
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
    "check_choice",
    "choose",
    "default_aggregate",
    "default_family",
    "fisher_family",
    "selector_of",
]


#: Kernels by name.
KERNELS: dict[str, Kernel | Selector] = {
    "gaussian": MedianHeuristic(Gaussian),
    "rbf": MedianHeuristic(Gaussian),
    "laplacian": MedianHeuristic(Laplacian),
    "matern": MedianHeuristic(Matern),
    "energy": Energy(),
    "linear": Linear(),
}


def check_choice(kernel: object) -> None:
    """Raise unless ``kernel`` is a kernel, the name of one, a selector, an ``Aggregate`` or None."""
    if isinstance(kernel, str) and kernel not in KERNELS:
        like = close_match(kernel, KERNELS)
        raise ValueError(
            f"kernel must be one of {', '.join(sorted(KERNELS))}, or a kernel object, got {brief(kernel)}"
            + (f"; did you mean {like!r}?" if like else "")
        )
    makes_several = kernel is bandwidths or (isinstance(kernel, MakesKernels) and callable(kernel.kernels))
    if isinstance(kernel, (list, tuple)) or (makes_several and not isinstance(kernel, type)):
        raise TypeError(
            "kernel must be one kernel, got several; to test with all of them write kernel=Aggregate(...), to choose "
            "among them kernel=Weights(...)"
        )
    if kernel is not None and (
        is_data(kernel) or (not isinstance(kernel, (str, Selector, Aggregate)) and not callable(kernel))
    ):
        raise TypeError(
            f"kernel must be a kernel, a function of two samples or a selector such as Weights(), got "
            f"{type(kernel).__name__}"
        )
    if isinstance(kernel, type):
        raise TypeError(f"kernel must be an object, not the class: write {kernel.__name__}(...) with its parameters")


def choose(
    kernel: Kernel | Selector | str | None, x: AnySample, y: AnySample, setting: Setting | None = None
) -> Selection:
    """Return the kernel that was asked for or selected, and the rows that are valid for testing with it."""
    selector = selector_of(kernel)
    if selector is not None:
        return selector.select(x, y, setting or Setting())
    fixed: Any = KERNELS[kernel] if isinstance(kernel, str) else kernel
    return Selection(fixed, x, y)


def selector_of(kernel: Kernel | Selector | str | None) -> Selector | None:
    """Return what chooses the kernel, None where it is given."""
    if kernel is None or isinstance(kernel, str):
        kernel = KERNELS[kernel or "gaussian"]
    return kernel if isinstance(kernel, Selector) else None
