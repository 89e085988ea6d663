"""Nystroem features of any kernel: its values with landmarks, in a basis in which landmarks are orthonormal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._core import RowGroups
from btests._core.constants import DIRECT_COORDINATES
from btests._core.threads import one_blas_thread
from btests.data.sample import AnySample
from btests.kernels.feature_kernel import Basis, FeatureKernel, Nystroem, attainable, landmark_basis, regularizer
from btests.kernels.kernel import Kernel, properties_of, terms_of
from btests.kernels.random_fourier import Discriminant
from btests.plan import Array
from btests.statistics.checks import check_kernel, kernel_matrix, overflow_error
from btests.statistics.fourier_features import COVARIANCE_ROWS
from btests.statistics.row_features import Made, padded
from btests.symmetries import landmark_rows, pooled_rows

# Values of a row beyond 2^6 times the largest of a landmark are clipped: sums of all rows have to be exact.
_CLIP = 6

# Bits of a value below that bound, at most.
_MOST_BITS = 46

# Rows whose kernel values are held at once, and numbers of their differences from landmarks.
_ROWS, _NUMBERS = 1024, 2**22


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkValues:
    """Kernel values of rows with landmarks, less their mean over the landmarks and its average.

    These are of the centred kernel ``k(x, y) - k(x, m) - k(m, y) + k(m, m)``, m the average landmark: it is positive
    definite where k is up to functions of one argument, as for the energy distance, and its MMD is the same.

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

    The bits of a row do not depend on the rows beside it, unless the kernel takes no stacks. Distances of few
    coordinates are found one by one. All else may be a matrix product, whose last bits depend on its size: one for each
    row.
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


@dataclass(frozen=True, slots=True, eq=False)
class NystroemMember:
    """A kernel, or its discriminant, in terms of the sums of values with landmarks.

    Attributes
    ----------
    level : int
        Level, of all levels of all values.
    basis : ndarray of shape (r, f)
        Coefficients of the features in the values.
    spread : float
        Average squared norm of centred features, over some pooled rows.
    values : LandmarkValues
        The values.
    sensitivity : float
        Error of a kernel value for an error of 1 of the values, at most, for a landmark.
    """

    level: int
    basis: Array
    spread: float
    values: LandmarkValues
    sensitivity: float

    @property
    def has_squares(self) -> bool:
        """False: squared norms are averages."""
        return False

    def features(self, sums: Array) -> Array:
        """Return sums of the features from those of the values: (m, width) to (m, f)."""
        return np.asarray(sums[:, : len(self.basis)] @ self.basis)

    def squares(self, features: Array, counts: Array, centre: Array) -> Array:
        """Return about the sums of squared norms of centred features in m groups of so many rows: (m,)."""
        return counts * self.spread

    def error(self, n_rows: int) -> float:
        """Return the error of a kernel value that is due to the rounding of values."""
        return self.values.unit(n_rows) * self.sensitivity


@dataclass(frozen=True, slots=True)
class NystroemFeatures:
    """Nystroem features: for every kernel, of rows of any kind.

    Attributes
    ----------
    n_landmarks : int
        Landmarks of each kernel, at most: see :func:`btests.symmetries.landmark_rows`.
    """

    n_landmarks: int

    @property
    def width(self) -> int:
        """Values with landmarks."""
        return self.n_landmarks

    @property
    def sizes(self) -> dict[str, int]:
        """Number of landmarks."""
        return {"n_landmarks": self.n_landmarks}

    @property
    def is_compiled(self) -> bool:
        """Whether loops are compiled: kernel values are those of numpy."""
        return False

    def serves(self, kernel: Any) -> bool:
        """Return True: any kernel has values."""
        return True

    def make(self, kernels: Sequence[Any], x: AnySample, y: AnySample, width: int, first_level: int) -> Made:
        """Return features of each kernel; a kernel and its discriminants share values."""
        bases = [kernel.kernel if isinstance(kernel, Discriminant) else kernel for kernel in kernels]
        for kernel in bases:
            check_kernel(kernel, x, y)
        landmarks = landmark_rows(x, y, self.n_landmarks)
        needs_rows = len(x) != len(y) or any(isinstance(kernel, Discriminant) for kernel in kernels)
        rows = pooled_rows(x, y, COVARIANCE_ROWS) if needs_rows else landmarks
        origin = (x if len(x) >= len(y) else y).location.origin if x.is_numeric else None
        found: list[_Whitening] = []
        named, members = [], []
        for kernel, base in zip(kernels, bases, strict=True):
            made = [one.values.kernel for one in found]
            level = made.index(base) if base in made else len(made)
            if level == len(made):
                with one_blas_thread():
                    found.append(_Whitening.of(values_of(base, landmarks, origin, width), rows))
            dof = kernel.dof if isinstance(kernel, Discriminant) else None
            named.append(kernel if dof is None else found[level].kernel(dof))
            members.append(found[level].member(first_level + level, dof))
        return Made(tuple(one.values for one in found), tuple(members), tuple(named))


@dataclass(frozen=True, slots=True, eq=False)
class _Whitening:
    """Second moments of the features of some pooled rows."""

    values: LandmarkValues
    basis: Basis
    axes: Array
    variances: Array

    @classmethod
    def of(cls, values: LandmarkValues, rows: npt.NDArray[Any]) -> _Whitening:
        basis = landmark_basis(values.kernel, values.values(values.landmarks))
        psi = values.values(rows) @ basis.coefficients
        psi -= psi.mean(axis=0)
        variances, axes = np.linalg.eigh(psi.T @ psi / len(psi))
        return cls(values, basis, axes, np.maximum(variances, 0.0))

    @property
    def _rotated(self) -> Array:
        return self.basis.coefficients @ self.axes

    def _weights(self, dof: float) -> Array:
        g = regularizer(self.variances, attainable(dof, self.variances))
        return np.zeros_like(self.variances) if g == 0.0 else np.asarray(1.0 / (self.variances + g))

    def kernel(self, dof: float) -> FeatureKernel:
        """Return the discriminant as a kernel."""
        label = f"Fisher({self.values.kernel!r}, dof={attainable(dof, self.variances):g})"
        features = Nystroem(self.values.kernel, self.values.landmarks, self._rotated, self.values.centre)
        return FeatureKernel(features, self._weights(dof), label)

    def member(self, level: int, dof: float | None) -> NystroemMember:
        """Return the member of the kernel, or of its discriminant of so many degrees of freedom."""
        weights = np.ones_like(self.variances) if dof is None else self._weights(dof)
        # A rounding of the values moves the kernel value with a landmark l by its product with B w B' k(., l).
        gradients = (self._rotated * weights) @ (self.basis.landmarks @ self.axes).T
        sensitivity = float(np.linalg.norm(gradients, axis=0).max(initial=0.0))
        basis, spread = self._rotated * np.sqrt(weights), float(weights @ self.variances)
        return NystroemMember(level, basis, spread, self.values, sensitivity)
