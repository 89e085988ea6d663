"""Kernels of some of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from btests._text import brief
from btests.kernels.combination import add, scale
from btests.kernels.kernel import Kernel, Properties, Radial, properties_of, terms_of
from btests.plan import Array


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
