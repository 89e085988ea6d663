"""Protocol of explicit features of rows, whose sums over groups of rows add exactly, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from btests._core import RowGroups
from btests.data.sample import AnySample
from btests.plan import Array


class RowValues(Protocol):
    """Values of a row that the features of some kernels are linear in, on one level or several."""

    @property
    def n_levels(self) -> int:
        """Number of levels, each of which has features of its own."""
        ...

    def sums(self, groups: RowGroups, n_rows: int) -> Array:
        """Return sums of the values over groups of rows for each level: (n_groups, n_levels, width).

        Values are rounded to a grid on which sums over ``n_rows`` rows are exact. So sums depend neither on the order
        of the rows nor on where chunks and threads begin.
        """
        ...


class Member(Protocol):
    """A kernel in terms of the sums of values of one level."""

    @property
    def level(self) -> int:
        """Level, of all levels of all values."""
        ...

    @property
    def has_squares(self) -> bool:
        """Whether :meth:`squares` are those of the rows, not an average."""
        ...

    def features(self, sums: Array) -> Array:
        """Return sums of the features of the kernel from those of the values: (m, width) to (m, r)."""
        ...

    def squares(self, features: Array, counts: Array, centre: Array) -> Array:
        """Return sums of squared norms of centred features, from sums (m, r) of m groups of so many rows: (m,)."""
        ...

    def error(self, n_rows: int) -> float:
        """Return the error of a kernel value that is due to the grid of the values."""
        ...


class Made(NamedTuple):
    """Features of some kernels on some samples.

    Attributes
    ----------
    values : tuple of RowValues
        What is summed over rows.
    members : tuple of Member
        Each kernel in terms of these sums.
    kernels : tuple
        The kernels as they are named in results.
    """

    values: tuple[RowValues, ...]
    members: tuple[Member, ...]
    kernels: tuple[Any, ...]


class FeatureKind(Protocol):
    """A way to approximate kernels by explicit features."""

    @property
    def width(self) -> int:
        """Columns of the sums of values."""
        ...

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers that :class:`btests.TestResult` names: ``n_frequencies`` or ``n_landmarks``."""
        ...

    @property
    def is_compiled(self) -> bool:
        """Whether there are compiled loops for the sums."""
        ...

    def serves(self, kernel: Any) -> bool:
        """Return whether a kernel, or that of a discriminant, has such features."""
        ...

    def make(self, kernels: Sequence[Any], x: AnySample, y: AnySample, width: int, first_level: int) -> Made:
        """Return the features of kernels that are served; sums have ``width`` columns, levels a first number."""
        ...


def padded(sums: Array, width: int) -> Array:
    """Return sums with columns of zeros up to a width: (..., r) to (..., width)."""
    missing = max(0, width - sums.shape[-1])
    return sums if missing == 0 else np.pad(sums, [(0, 0)] * (sums.ndim - 1) + [(0, missing)])
