"""Families of kernels: protocol and validation."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np

from btests._option_checks import is_finite
from btests._text import brief
from btests.data.sample import AnySample
from btests.kernels.kernel import Kernel


@runtime_checkable
class MakesKernels(Protocol):
    """Family of kernels that depends on the data, but only on the rows used for selection."""

    def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
        """Return the kernels of the family for these rows."""
        ...


AnyFamily = Sequence[Kernel] | MakesKernels


def check_family(family: object) -> Any:
    """Return a valid family, lists as tuples; raise for anything else."""
    if isinstance(family, MakesKernels) and not isinstance(family, type) and callable(family.kernels):
        return family  # not a Combination, whose ``kernels`` is a tuple
    if isinstance(family, type):
        made = f"{family.__name__}()" if isinstance(family, MakesKernels) else f"[{family.__name__}(1.0), ...]"
        raise TypeError(f"a family must be an object, not the class: write {made}")
    if isinstance(family, np.ndarray):
        family = family.tolist()
    if not isinstance(family, (list, tuple)):
        raise TypeError(
            f"a family must be a list of kernels such as [Gaussian(1.0), Gaussian(2.0)], got {brief(family)}"
        )
    if not family:
        raise ValueError("a family must have at least one kernel, got none")
    for i, kernel in enumerate(family):
        _check_member(kernel)
        if kernel in family[:i]:
            raise ValueError(f"a family must not hold a kernel twice, and {kernel!r} is there again")
    return tuple(family)


def kernels_of(family: AnyFamily, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
    """Return the kernels of a family, computed from these rows if the family depends on the data."""
    made = family.kernels(x, y) if isinstance(family, MakesKernels) else family
    kernels: tuple[Kernel, ...] = check_family(made)
    return kernels


def shown(family: AnyFamily) -> str:
    """Return a short repr of a family; long lists are shown by their length."""
    if isinstance(family, MakesKernels):
        return repr(family)
    return repr(list(family)) if len(family) <= 3 else f"{len(family)} kernels"


def _check_member(kernel: object) -> None:
    if isinstance(kernel, Real):
        told = f"{kernel:g}" if is_finite(kernel) else brief(kernel)
        raise TypeError(f"a family holds kernels, got the number {told}; write Gaussian({told}) for a bandwidth")
    if isinstance(kernel, type):
        raise TypeError(f"a family holds kernel objects, not classes: write {kernel.__name__}(...) with its parameters")
    if not callable(kernel):
        raise TypeError(f"a family holds kernels, got {brief(kernel)}")
