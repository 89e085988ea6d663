"""A kernel on some of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.protocol import HasTerms, Kernel, Radial
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class OnColumns:
    """``kernel`` applied to the coordinates ``columns`` alone; it does not see the others.

    A weighted sum of such kernels, one per coordinate, says which coordinates matter.

    Examples
    --------
    >>> from btests import Gaussian, OnColumns
    >>> OnColumns(Gaussian(2.0), [1])([[7.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.6065]])
    """

    kernel: Kernel
    columns: Sequence[int]

    def __post_init__(self) -> None:
        if not callable(self.kernel) or isinstance(self.kernel, type):
            raise TypeError(f"OnColumns takes a kernel object such as Gaussian(1.0), got {self.kernel!r}")
        object.__setattr__(self, "columns", _checked(self.columns))

    def __call__(self, x: Any, y: Any) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        p, q = np.asarray(x), np.asarray(y)
        self.check_width(p.shape[-1])
        chosen = list(self.columns)
        return self.kernel(p[..., chosen], q[..., chosen])

    def check_width(self, d: int) -> None:
        """Raise unless rows of ``d`` coordinates have all of these columns."""
        if max(self.columns) >= d:
            raise ValueError(f"columns must be between 0 and {d - 1} for data of {d} columns, got {max(self.columns)}")

    def terms(self) -> tuple[Radial, ...] | None:
        """Return the terms of the kernel on these columns; columns of columns are columns of the rows."""
        terms = self.kernel.terms() if isinstance(self.kernel, HasTerms) else None
        return None if terms is None else tuple(replace(term, columns=self._inside(term.columns)) for term in terms)

    def _inside(self, columns: tuple[int, ...] | None) -> tuple[int, ...]:
        return tuple(self.columns if columns is None else (self.columns[c] for c in columns))

    __add__ = add
    __mul__ = __rmul__ = scale


def _checked(columns: object) -> tuple[int, ...]:
    if isinstance(columns, (str, bytes)) or not isinstance(columns, (Sequence, np.ndarray)):
        raise TypeError(f"columns must be a list of whole numbers such as [0, 2], got {columns!r}")
    for c in columns:
        if isinstance(c, (bool, np.bool_)) or not isinstance(c, (int, np.integer)):
            raise TypeError(f"columns must be whole numbers, counted from 0, got {c!r}")
        if c < 0:
            raise ValueError(f"columns must be counted from 0, got {c}")
    found = tuple(int(c) for c in columns)
    if not found:
        raise ValueError("columns must name at least one column, got none")
    if len(set(found)) < len(found):
        raise ValueError(f"columns must be different, got {list(found)}")
    return found
