"""Kernel values of rows with landmarks, and their sums over groups of rows, exact in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._core import RowGroups
from btests._core.constants import DIRECT_COORDINATES
from btests.kernels.kernel import Kernel, properties_of, terms_of
from btests.plan import Array
from btests.statistics.checks import kernel_matrix, overflow_error
from btests.statistics.row_features import padded

# Values of a row beyond 2^6 times the largest of a landmark are clipped: sums of all rows have to be exact.
_CLIP = 6

# Bits of a value below that bound, at most.
_MOST_BITS = 46

# Rows whose kernel values are held at once, and numbers of their differences from landmarks.
_ROWS, _NUMBERS = 1024, 2**22


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkValues:
    """Kernel values of rows with landmarks, less their mean over the landmarks and its average.

    A kernel that is positive definite up to functions of one argument, as that of the energy distance, has features of
    its centred form, ``k(x, y) - k(x, m) - k(m, y) + k(m, m)`` with m the average landmark. The MMD is the same. Values
    that grow with the distance of a row from all landmarks alike cancel.

    Attributes
    ----------
    kernel : Kernel
        Kernel of a row and a landmark.
    landmarks : ndarray of shape (r, d), or (r,) of objects
        Landmarks.
    origin : ndarray of shape (d,), optional
        Subtracted from rows and landmarks of a kernel whose MMD does not depend on it.
    centre : ndarray of shape (r,)
        Average over the landmarks.
    exponent : int
        Values beyond ``2**exponent`` are clipped.
    width : int
        Columns of the sums; those beyond the landmarks are 0.
    """

    kernel: Kernel
    landmarks: npt.NDArray[Any]
    origin: Array | None
    centre: Array
    exponent: int
    width: int

    @property
    def n_levels(self) -> int:
        """One level."""
        return 1

    def unit(self, n_rows: int) -> float:
        """Return the grid of values whose sums over so many rows are exact in float64: a power of two."""
        return math.ldexp(1.0, self.exponent - min(_MOST_BITS, 52 - int(n_rows).bit_length()))

    def values(self, rows: npt.NDArray[Any]) -> Array:
        """Return the values of rows: (m, d), or m objects, to (m, r)."""
        found = _centred(landmark_gram(self.kernel, rows, self.landmarks, self.origin)) - self.centre
        bound = math.ldexp(1.0, self.exponent)
        return np.clip(found, -bound, bound)

    def sums(self, groups: RowGroups, n_rows: int) -> Array:
        """Return sums over groups of rows: (n_groups, 1, width)."""
        unit, found = self.unit(n_rows), np.zeros((groups.n_groups, len(self.landmarks)))
        numbers = groups.numbers
        for first in range(0, len(numbers), _ROWS):
            some = slice(first, first + _ROWS)
            steps = np.rint(self.values(groups.rows[groups.order[some]]) / unit)
            present, starts = np.unique(numbers[some], return_index=True)
            found[present] += np.add.reduceat(steps, starts, axis=0)
        return padded(found * unit, self.width)[:, None]


def landmark_gram(kernel: Kernel, rows: npt.NDArray[Any], landmarks: npt.NDArray[Any], origin: Array | None) -> Array:
    """Return kernel values of rows (m, d) and landmarks (r, d), or of m and r objects: (m, r).

    The bits of a row do not depend on the rows beside it. Distances of few coordinates are found one by one. All else
    may be a matrix product, whose last bits depend on its size: one for each row. Kernels that take no stacks are
    called once; what they round is their own.
    """
    if landmarks.dtype == object:
        return kernel_matrix(kernel, rows.tolist(), landmarks.tolist()).astype(np.float64)
    points, marks = rows.astype(np.float64), landmarks
    if origin is not None:
        points, marks = points - origin, marks - origin
    if not properties_of(kernel).takes_stacks:
        return kernel_matrix(kernel, points, marks).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused when a test is concluded
        if terms_of(kernel) is not None and points.shape[1] <= DIRECT_COORDINATES:
            return np.asarray(kernel(points, marks), dtype=np.float64)
        step = max(1, _NUMBERS // max(1, marks.size))
        found = [_one_by_one(kernel, points[i : i + step], marks) for i in range(0, len(points), step)]
    return np.concatenate(found) if found else np.zeros((0, len(marks)))


def _one_by_one(kernel: Kernel, points: Array, marks: Array) -> Array:
    stack = np.broadcast_to(marks, (len(points), *marks.shape))
    return np.asarray(kernel(points[:, None, :], stack), dtype=np.float64)[:, 0]


def _centred(gram: Array) -> Array:
    """Return values less their mean over the landmarks: (m, r) to (m, r).

    From the first: of a row so far away that all its values are rounded to one number, 0 is left.
    """
    with np.errstate(invalid="ignore"):
        found = gram - gram[:, :1]
        return np.asarray(found - found.mean(axis=1, keepdims=True))


def values_of(kernel: Kernel, landmarks: npt.NDArray[Any], origin: Array | None, width: int) -> LandmarkValues:
    """Return the values of a kernel with landmarks, clipped at 2^6 to 2^7 times the largest of a landmark."""
    shift = origin if properties_of(kernel).centers_rows else None
    own = _centred(landmark_gram(kernel, landmarks, landmarks, shift))
    if not np.isfinite(own).all():
        raise overflow_error(kernel)
    centre = own.mean(axis=0)
    largest = float(np.abs(own - centre).max(initial=0.0))
    exponent = math.frexp(largest)[1] + _CLIP if largest > 0.0 else 0
    return LandmarkValues(kernel, landmarks, shift, centre, exponent, width)
