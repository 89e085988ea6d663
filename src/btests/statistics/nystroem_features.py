"""Nystroem features of any kernel: its values with landmarks, in a basis in which landmarks are orthonormal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests._blas import one_blas_thread
from btests._warnings import PrecisionWarning, warn
from btests.data.sample import AnySample
from btests.kernels.feature_kernel import FeatureKernel, Nystroem, attainable, regularizer
from btests.kernels.kernel import Kernel
from btests.kernels.random_fourier import Discriminant
from btests.plan import Array
from btests.statistics.checks import check_kernel
from btests.statistics.fourier_features import COVARIANCE_ROWS
from btests.statistics.landmark_values import LandmarkValues, values_of
from btests.statistics.row_features import Made
from btests.symmetries import landmark_rows, pooled_rows

# Directions of the landmarks with a smaller share of the largest eigenvalue are left out: they are mostly rounding.
_SMALLEST = 1e-8

# Negative eigenvalues of a larger share than this are no rounding: the kernel is not positive semi-definite.
_NEGATIVE = 1e-3


class Basis(NamedTuple):
    """Orthonormal directions of what landmarks span.

    Attributes
    ----------
    coefficients : ndarray of shape (r, f)
        Of each direction in the values of a row.
    landmarks : ndarray of shape (r, f)
        Features of the landmarks.
    """

    coefficients: Array
    landmarks: Array


def _basis(kernel: Kernel, gram: Array) -> Basis:
    """Return the basis of landmarks from their centred Gram matrix (r, r): its positive part."""
    squares, axes = np.linalg.eigh((gram + gram.T) / 2.0)
    largest = float(np.abs(squares).max(initial=0.0))
    if largest > 0.0 and -float(squares.min()) > _NEGATIVE * largest:
        warn(
            f"{kernel!r} is not positive semi-definite on these rows (eigenvalues from {squares.min():.2g} to "
            f"{squares.max():.2g}): features are those of its positive part; statistic='blocks' takes it as it is",
            PrecisionWarning,
        )
    large = squares > _SMALLEST * largest
    if not large.any():  # all landmarks are one, for this kernel
        none = np.zeros((len(gram), 1))
        return Basis(none, none)
    roots = np.sqrt(squares[large])
    return Basis(axes[:, large] / roots, axes[:, large] * roots)


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
        values: list[LandmarkValues] = []
        found: list[_Whitening] = []
        named, members = [], []
        for kernel, base in zip(kernels, bases, strict=True):
            level = next((i for i, one in enumerate(values) if one.kernel is base or one.kernel == base), len(values))
            if level == len(values):
                with one_blas_thread():
                    values.append(values_of(base, landmarks, origin, width))
                    found.append(_Whitening.of(values[level], rows))
            dof = kernel.dof if isinstance(kernel, Discriminant) else None
            named.append(kernel if dof is None else found[level].kernel(dof))
            members.append(found[level].member(first_level + level, dof))
        return Made(tuple(values), tuple(members), tuple(named))


@dataclass(frozen=True, slots=True, eq=False)
class _Whitening:
    """Second moments of the features of some pooled rows."""

    values: LandmarkValues
    basis: Basis
    axes: Array
    variances: Array

    @classmethod
    def of(cls, values: LandmarkValues, rows: npt.NDArray[Any]) -> _Whitening:
        basis = _basis(values.kernel, values.values(values.landmarks))
        psi = values.values(rows) @ basis.coefficients
        psi -= psi.mean(axis=0)
        variances, axes = np.linalg.eigh(psi.T @ psi / len(psi))
        return cls(values, basis, axes, np.maximum(variances, 0.0))

    def _weights(self, dof: float) -> Array:
        g = regularizer(self.variances, attainable(dof, self.variances))
        return np.zeros_like(self.variances) if g == 0.0 else np.asarray(1.0 / (self.variances + g))

    def kernel(self, dof: float) -> FeatureKernel:
        """Return the discriminant as a kernel."""
        label = f"Fisher({self.values.kernel!r}, dof={attainable(dof, self.variances):g})"
        features = Nystroem(
            self.values.kernel, self.values.landmarks, self.basis.coefficients @ self.axes, self.values.centre
        )
        return FeatureKernel(features, self._weights(dof), label)

    def member(self, level: int, dof: float | None) -> NystroemMember:
        """Return the member of the kernel, or of its discriminant of so many degrees of freedom."""
        rotated = self.basis.coefficients @ self.axes
        weights = np.ones_like(self.variances) if dof is None else self._weights(dof)
        # A rounding of the values moves the kernel value with a landmark l by its product with B w B' k(., l).
        gradients = (rotated * weights) @ (self.basis.landmarks @ self.axes).T
        sensitivity = float(np.linalg.norm(gradients, axis=0).max(initial=0.0))
        return NystroemMember(
            level, rotated * np.sqrt(weights), float(weights @ self.variances), self.values, sensitivity
        )
