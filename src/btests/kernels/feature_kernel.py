"""Kernels that are inner products of explicit features: blocks of them take linear time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from btests._core.constants import DIRECT_COORDINATES
from btests.kernels.combination import add, scale
from btests.kernels.fingerprint import fingerprint
from btests.kernels.kernel import Kernel, Properties, properties_of, terms_of
from btests.plan import Array


class FeatureMap(Protocol):
    """Map stacks of points (..., b, d) to features (..., b, f): values of the points, then a linear map."""

    @property
    def properties(self) -> Properties:
        """Guarantees to callers, as those of a kernel."""
        ...

    def values(self, rows: Any, /) -> Array:
        """Return what the features of each row are linear in: (..., b, d) to (..., b, r), or b objects to (b, r)."""
        ...

    def combine(self, values: Array, /) -> Array:
        """Return the linear map of values or of their differences: (..., r) to (..., f)."""
        ...


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


class Features(NamedTuple):
    """A feature map, and the weight of each feature."""

    map: FeatureMap
    weights: Array


def features_of(kernel: Any) -> Features | None:
    """Return the explicit features of a kernel, None for a kernel that has none."""
    found = getattr(kernel, "features", None)
    return None if found is None else found()
