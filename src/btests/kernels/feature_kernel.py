"""Kernels that are inner products of explicit features, and the whitening of features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests._core.constants import DIRECT_COORDINATES
from btests._option_checks import is_finite
from btests._text import brief
from btests._warnings import PrecisionWarning, warn
from btests.kernels.combination import add, scale
from btests.kernels.fingerprint import fingerprint
from btests.kernels.kernel import FeatureMap, Features, Kernel, Properties, properties_of, terms_of
from btests.plan import Array


@dataclass(frozen=True, slots=True, eq=False)
class Nystroem:
    """Features of rows by their kernel values with some landmarks (Williams and Seeger 2001).

    Attributes
    ----------
    kernel : Kernel
        Kernel of a row and a landmark.
    landmarks : ndarray
        Rows (r, d), or r objects.
    basis : ndarray of shape (r, f)
        Coefficients of the features.
    origin : ndarray of shape (r,)
        Taken off the kernel values: the MMD does not depend on it, and its rounding is the smaller the nearer it is to
        their mean.
    """

    kernel: Kernel
    landmarks: npt.NDArray[Any]
    basis: Array
    origin: Array

    @property
    def properties(self) -> Properties:
        """Those of the kernel; rows are not centred, since landmarks are not."""
        return replace(properties_of(self.kernel), centers_rows=False, has_bandwidth=True, supremum=None)

    def values(self, rows: Any) -> Array:
        """Return the kernel values of rows and landmarks, less ``origin``: (..., b, d) to (..., b, r)."""
        if self.landmarks.dtype == object:
            return np.asarray(self.kernel(rows, self.landmarks.tolist()), dtype=np.float64) - self.origin
        points = np.asarray(rows)
        d = points.shape[-1]
        # Distances of few coordinates are found one by one. All else may be a matrix product, whose last bits depend on
        # its size: one for each block, so that values do not depend on the blocks beside it.
        at_once = terms_of(self.kernel) is not None and d <= DIRECT_COORDINATES
        parts = [points.reshape(-1, d)] if at_once else points.reshape(-1, *points.shape[-2:])
        found = [np.asarray(self.kernel(part, self.landmarks), dtype=np.float64) - self.origin for part in parts]
        return np.concatenate(found).reshape(*points.shape[:-1], -1)

    def combine(self, values: Array) -> Array:
        """Return features from values: (..., r) to (..., f)."""
        return np.asarray(values @ self.basis)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureKernel:
    """Kernel ``sum_f w_f phi_f(x) phi_f(y)`` with explicit features phi.

    Kernels with one map share its features: a test with many weights of them costs little more than with one.

    Attributes
    ----------
    map : FeatureMap
        The features phi.
    weights : ndarray of shape (f,)
        Weight w of each feature.
    label : str
        The repr.
    """

    map: FeatureMap
    weights: Array
    label: str

    @property
    def properties(self) -> Properties:
        """Those of the features."""
        return self.map.properties

    def __call__(self, x: Any, y: Any) -> Array:
        """Return Gram matrices: two stacks (..., b, d) and (..., c, d) to (..., b, c)."""
        p, q = (self.map.combine(self.map.values(rows)) for rows in (x, y))
        return np.asarray((p * self.weights) @ np.swapaxes(q, -1, -2))

    def features(self) -> Features:
        """Return the map and its weights."""
        return Features(self.map, self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureKernel) or self.label != other.label:
            return False
        return self is other or fingerprint(self) == fingerprint(other)

    def __hash__(self) -> int:
        return hash(self.label)

    def __repr__(self) -> str:
        return self.label

    __add__ = add
    __mul__ = __rmul__ = scale


# Regularisers between these shares of the largest eigenvalue are tried, and halved that often on a logarithmic scale.
_LEAST, _MOST, _HALVINGS = 1e-12, 1e12, 32


def regularizer(eigenvalues: Array, dof: float) -> float:
    """Return g with ``sum l / (l + g) = dof``: (f,) to a number; 0.0 if all eigenvalues are 0.

    Degrees of freedom do not depend on the scale of a kernel. Where the rank is smaller than ``dof``, g is the smallest
    that is tried, 1e-12 of the largest eigenvalue: a singular covariance has no inverse.
    """
    largest = float(eigenvalues.max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return 0.0
    shares = eigenvalues / largest
    low, high = math.log(_LEAST), math.log(_MOST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if float(np.sum(shares / (shares + math.exp(middle)))) > dof:
            low = middle
        else:
            high = middle
    return math.exp(high) * largest


def attainable(dof: float, eigenvalues: Array) -> float:
    """Return degrees of freedom, at most half of the eigenvalues that are not rounding, and at least half of one."""
    rank = int(np.sum(eigenvalues > _LEAST * eigenvalues.max(initial=0.0)))
    return min(dof, max(rank, 1) / 2.0)


def check_dof(dof: Any) -> tuple[float, ...]:
    """Return degrees of freedom as a tuple; raise unless they are positive and finite numbers, each there once."""
    given = [dof] if isinstance(dof, Real) else dof
    if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, str) or len(given) == 0:
        raise TypeError(f"dof must be a number or a list of degrees of freedom such as (4, 16), got {brief(dof)}")
    for one in given:
        if not is_finite(one) or one <= 0:
            raise ValueError(
                f"degrees of freedom must be positive and finite, got {brief(one)}; without a regulariser the "
                "covariance of a kernel has no inverse"
            )
    found = tuple(float(one) for one in given)
    if len(set(found)) < len(found):
        raise ValueError(f"dof must not name a number twice, got {brief(dof)}")
    return found


# Directions of the landmarks with a smaller share of the largest eigenvalue are left out: they are mostly rounding.
_SMALLEST = 1e-8


# Negative eigenvalues of a larger share than this are no rounding: the kernel is not positive semi-definite.
_NEGATIVE = 1e-3


class Basis(NamedTuple):
    """Orthonormal directions of what landmarks span: coefficients in the values of a row, and features of landmarks.

    Both have the shape (r, f).
    """

    coefficients: Array
    landmarks: Array


def landmark_basis(kernel: Kernel, gram: Array) -> Basis:
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
