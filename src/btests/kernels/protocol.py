"""What a kernel is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from btests.plan import Array


class Kernel(Protocol):
    """A callable from two stacks of points, (..., b, d) and (..., c, d), to a stack of Gram matrices (..., b, c).

    Any function of two arrays (or, for structured data, two sequences of objects) that returns the matrix of their
    kernel values will do. Kernels of this package are frozen dataclasses.
    """

    def __call__(self, x: Any, y: Any, /) -> Array:
        """Return the Gram matrices of two stacks."""
        ...


@dataclass(frozen=True, slots=True)
class Radial:
    """One term of a kernel as the compiled loops know it.

    Coordinates are multiplied by ``scale``; ``shape`` names the function of the scaled distance in ``fast/shapes.hpp``,
    ``power`` is its integer parameter, and ``weight`` multiplies the result. It sees the coordinates ``columns`` and
    no others; None is all.
    """

    shape: str
    scale: float
    power: int = 0
    weight: float = 1.0
    columns: tuple[int, ...] | None = None


@runtime_checkable
class HasTerms(Protocol):
    """A kernel that the compiled loops can evaluate."""

    def terms(self) -> tuple[Radial, ...] | None:
        """Return the kernel as a sum of radial terms, or None where only the plain path knows it."""
        ...
