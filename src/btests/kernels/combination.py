"""Kernels made of kernels: sums, positive multiples, and kernels of some of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from btests._text import brief
from btests.kernels.kernel import Kernel, Properties, Radial, properties_of, require_positive, summands_of, terms_of
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Combination:
    """Weighted sum of kernels ``sum_i weights[i] * kernels[i](x, y)``, the result of ``+`` and ``*`` of kernels.

    Parameters
    ----------
    weights : tuple of float
        One per kernel; positive.
    kernels : tuple of Kernel
        The summands, at least one.

    See Also
    --------
    btests.Weights : A selector that estimates the weights from held-out rows.

    Examples
    --------
    >>> from btests import Gaussian, Laplacian
    >>> Gaussian(1.0) + 2 * Laplacian(3.0)
    Gaussian(bandwidth=1.0) + 2 * Laplacian(bandwidth=3.0)
    """

    is_serializable: ClassVar[bool] = True

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
                raise TypeError(f"a Combination is of kernel objects, such as Gaussian(1.0), got {brief(kernel)}")

    def __call__(self, x: Any, y: Any) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        total = self.weights[0] * np.asarray(self.kernels[0](x, y), dtype=np.float64)
        for weight, kernel in zip(self.weights[1:], self.kernels[1:], strict=True):
            total += weight * np.asarray(kernel(x, y), dtype=np.float64)
        return total

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """Return all summands, those of sums inside this one included."""
        return tuple(summand for kernel in self.kernels for summand in summands_of(kernel))

    @property
    def properties(self) -> Properties:
        """Return the properties that hold for every summand."""
        own = [properties_of(kernel) for kernel in self.kernels]
        objects = {properties.takes_objects for properties in own}
        bounds = [properties.supremum for properties in own]
        known = [weight * bound for weight, bound in zip(self.weights, bounds, strict=True) if bound is not None]
        return Properties(
            takes_stacks=all(properties.takes_stacks for properties in own),
            takes_objects=True if True in objects else None if None in objects else False,
            centers_rows=all(properties.centers_rows for properties in own),
            has_bandwidth=all(properties.has_bandwidth for properties in own),
            supremum=sum(known) if len(known) == len(own) else None,
        )

    def terms(self) -> tuple[Radial, ...] | None:
        """Return the terms of all summands, or None if one of them has none."""
        found: list[Radial] = []
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            terms = terms_of(kernel)
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
    """Return the sum of two kernels; sums are joined, not nested."""
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
    """Return a kernel as one line of text: of a long sum the terms with the largest weights."""
    if not isinstance(kernel, Combination) or len(kernel.kernels) <= n_terms + 1:
        return repr(kernel)
    largest = sorted(range(len(kernel.weights)), key=lambda i: -kernel.weights[i])[:n_terms]
    shown = Combination(tuple(kernel.weights[i] for i in largest), tuple(kernel.kernels[i] for i in largest))
    return f"{shown!r} + {len(kernel.kernels) - n_terms} more"


@dataclass(frozen=True, slots=True)
class OnColumns:
    """Kernel restricted to some coordinates: ``kernel(x[..., columns], y[..., columns])``.

    The weights of a sum of such kernels, one per coordinate, rank the coordinates.

    Parameters
    ----------
    kernel : Kernel
        Kernel on the selected coordinates.
    columns : sequence of int
        Different coordinates, counted from 0; at least one.

    See Also
    --------
    btests.PerCoordinate : A family with kernels for each coordinate.

    Examples
    --------
    >>> from btests import Gaussian, OnColumns
    >>> OnColumns(Gaussian(2.0), [1])([[7.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.6065]])
    """

    is_serializable: ClassVar[bool] = True

    kernel: Kernel
    columns: Sequence[int]

    def __post_init__(self) -> None:
        if not callable(self.kernel) or isinstance(self.kernel, type):
            raise TypeError(f"OnColumns takes a kernel object such as Gaussian(1.0), got {brief(self.kernel)}")
        object.__setattr__(self, "columns", _checked(self.columns))

    def __call__(self, x: Any, y: Any) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        p, q = np.asarray(x), np.asarray(y)
        check_width(self.columns, p.shape[-1])
        chosen = list(self.columns)
        return self.kernel(p[..., chosen], q[..., chosen])

    @property
    def properties(self) -> Properties:
        """Return the properties of the kernel, restricted to rows of numbers."""
        return replace(properties_of(self.kernel), takes_objects=False, columns=tuple(self.columns))

    def terms(self) -> tuple[Radial, ...] | None:
        """Return the terms of the kernel, with their columns counted in whole rows."""
        terms = terms_of(self.kernel)
        return None if terms is None else tuple(replace(term, columns=self._in_rows(term.columns)) for term in terms)

    def _in_rows(self, columns: tuple[int, ...] | None) -> tuple[int, ...]:
        return tuple(self.columns if columns is None else (self.columns[c] for c in columns))

    __add__ = add
    __mul__ = __rmul__ = scale


def check_width(columns: Sequence[int], d: int) -> None:
    """Raise unless rows of ``d`` coordinates have all of these columns."""
    if max(columns) >= d:
        raise ValueError(f"columns must be between 0 and {d - 1} for data of {d} columns, got {max(columns)}")


def _checked(columns: object) -> tuple[int, ...]:
    if isinstance(columns, (str, bytes)) or not isinstance(columns, (Sequence, np.ndarray)):
        raise TypeError(f"columns must be a list of whole numbers such as [0, 2], got {brief(columns)}")
    for c in columns:
        if isinstance(c, (bool, np.bool_)) or not isinstance(c, (int, np.integer)):
            raise TypeError(f"columns must be whole numbers, counted from 0, got {brief(c)}")
        if c < 0:
            raise ValueError(f"columns must be counted from 0, got {c}")
    found = tuple(int(c) for c in columns)
    if not found:
        raise ValueError("columns must name at least one column, got none")
    if len(set(found)) < len(found):
        raise ValueError(f"columns must be different, got {list(found)}")
    return found
