"""Sums and positive multiples of kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests.kernels.parameters import require_positive
from btests.kernels.protocol import HasTerms, Kernel, Radial
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Combination:
    """A weighted sum of kernels, ``sum_i weights[i] * kernels[i](x, y)``; what ``+`` and ``*`` of kernels return.

    Examples
    --------
    >>> from btests import Gaussian, Laplacian
    >>> Gaussian(1.0) + 2 * Laplacian(3.0)
    Gaussian(bandwidth=1.0) + 2 * Laplacian(bandwidth=3.0)
    """

    weights: tuple[float, ...]
    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.weights, tuple) or not isinstance(self.kernels, tuple):
            raise TypeError("a Combination has a tuple of weights and a tuple of kernels")
        if not self.kernels or len(self.weights) != len(self.kernels):
            raise ValueError(f"one weight per kernel: got {len(self.weights)} weights, {len(self.kernels)} kernels")
        for weight in self.weights:
            require_positive("the weight of a kernel", weight)
        for kernel in self.kernels:
            if isinstance(kernel, type) or not callable(kernel):
                raise TypeError(f"a Combination is of kernel objects, such as Gaussian(1.0), got {kernel!r}")

    def __call__(self, x: Any, y: Any) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        total = self.weights[0] * np.asarray(self.kernels[0](x, y), dtype=np.float64)
        for weight, kernel in zip(self.weights[1:], self.kernels[1:], strict=True):
            total += weight * np.asarray(kernel(x, y), dtype=np.float64)
        return total

    def terms(self) -> tuple[Radial, ...] | None:
        """Return the terms of all members, or None if one of them has none."""
        found: list[Radial] = []
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            terms = kernel.terms() if isinstance(kernel, HasTerms) else None
            if terms is None:
                return None
            found += [replace(term, weight=weight * term.weight) for term in terms]
        return tuple(found)

    def __repr__(self) -> str:
        parts = zip(self.weights, self.kernels, strict=True)
        return " + ".join(f"{k!r}" if w == 1 else f"{w:g} * {k!r}" for w, k in parts)

    def __add__(self, other: Kernel) -> Combination:
        return add(self, other)

    def __mul__(self, weight: float) -> Combination:
        return scale(self, weight)

    __rmul__ = __mul__


def add(first: Kernel, second: Kernel) -> Combination:
    """Return the sum of two kernels, flat."""
    if not callable(second):
        raise TypeError(f"only a kernel adds to a kernel, got {type(second).__name__}")
    one, two = _parts(first), _parts(second)
    return Combination(one.weights + two.weights, one.kernels + two.kernels)


def scale(kernel: Kernel, weight: float) -> Combination:
    """Return a positive multiple of a kernel."""
    require_positive("the weight of a kernel", weight)
    parts = _parts(kernel)
    return Combination(tuple(weight * w for w in parts.weights), parts.kernels)


def _parts(kernel: Kernel) -> Combination:
    return kernel if isinstance(kernel, Combination) else Combination((1.0,), (kernel,))


def shortened(kernel: Kernel, n_terms: int = 3) -> str:
    """Return a kernel in one readable line: of a long sum the terms with the largest weights."""
    if not isinstance(kernel, Combination) or len(kernel.kernels) <= n_terms + 1:
        return repr(kernel)
    largest = sorted(range(len(kernel.weights)), key=lambda i: -kernel.weights[i])[:n_terms]
    kept = Combination(tuple(kernel.weights[i] for i in largest), tuple(kernel.kernels[i] for i in largest))
    return f"{kept!r} + {len(kernel.kernels) - n_terms} more"
