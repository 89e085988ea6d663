"""Kernel Fisher discriminants as a family of kernels: features whitened by their pooled covariance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._core.threads import one_blas_thread
from btests._text import brief
from btests.data.sample import AnySample
from btests.kernels.feature_kernel import FeatureKernel, Nystroem, attainable, check_dof, regularizer
from btests.kernels.kernel import Kernel
from btests.kernels.random_fourier import Discriminant
from btests.plan import Array
from btests.selection.families import AnyFamily, MedianFamily, check_family, kernels_of, shown
from btests.selection.median_heuristic import check_rows
from btests.statistics.checks import kernel_matrix

# Directions of the landmarks with a smaller share of the largest eigenvalue count little.
_SMALLEST = 1e-8


@dataclass(frozen=True, slots=True)
class FisherFamily:
    r"""Kernels of regularised Fisher discriminants (Harchaoui, Bach and Moulines 2008), from explicit features.

    For features psi with pooled covariance S, the kernel ``psi(x)' (S + g I)^-1 psi(y)`` has the squared MMD
    ``|(S + g I)^(-1/2) (E psi(x) - E psi(y))|^2``: directions in which the data vary little count as much as others. It
    finds correlations, tails and fine structure that the MMD of the same kernel sees little of, and loses where the
    data have more dimensions than there are landmarks; so it is best tested beside the MMD, by :class:`Aggregate`.

    The features are those of Nystroem: kernel values with landmarks, the first rows of both samples. Landmarks and
    covariance are invariant under swaps of x_a and y_a, so sign flips stay exact.

    Attributes
    ----------
    family : sequence of Kernel or family
        Kernels that the features are of.
    dof : sequence of float, or of sequences of float
        Degrees of freedom ``tr S (S + g I)^-1``, each of which defines a regulariser g, whatever the scale of the
        kernel; or a list of them for each kernel of the family. Those beyond half of the features are that half.
    n_landmarks : int
        Landmarks, half of them from each sample.
    n_rows : int
        Rows of each sample from which landmarks and covariance are computed.
    name : str
        The repr, if not empty.
    by_features : FisherFamily, optional
        Family whose members are taken by random Fourier features; this one by default.

    See Also
    --------
    btests.KernelFisher : The same statistic with exact kernel values on each block.

    Examples
    --------
    >>> import numpy as np
    >>> from btests import Aggregate, FisherFamily, btest
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> y = 0.8 * rng.normal(size=(300, 3)) + 0.6 * rng.normal(size=(300, 1))
    >>> btest(x, y, kernel=Aggregate(FisherFamily()), seed=1).pvalue < 0.01
    True
    """

    family: AnyFamily = field(default_factory=lambda: MedianFamily((0.0625, 2.0)))
    dof: Sequence[float] | Sequence[Sequence[float]] = (4.0, 16.0, 56.0)
    n_landmarks: int = 112
    n_rows: int = 224
    name: str = ""
    by_features: FisherFamily | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        nested = isinstance(self.dof, Sequence) and any(isinstance(one, Sequence) for one in self.dof)
        object.__setattr__(self, "dof", tuple(map(check_dof, self.dof)) if nested else check_dof(self.dof))
        for name, value in (("n_landmarks", self.n_landmarks), ("n_rows", self.n_rows)):
            object.__setattr__(self, name, check_rows(value, name))
        if self.by_features is not None and not isinstance(self.by_features, FisherFamily):
            raise TypeError(f"by_features must be a FisherFamily or None, got {brief(self.by_features)}")

    def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
        """Return the kernels of each kernel of the family and each of its degrees of freedom."""
        kernels, of_each = self._members(x, y)
        n = min(self.n_rows, len(x), len(y))
        half = min(max(1, self.n_landmarks // 2), n)
        rows = np.concatenate([x.head(half), y.head(half), x.head(n)[half:], y.head(n)[half:]])
        if x.is_numeric:
            rows = rows.astype(np.float64)
        with one_blas_thread():
            return tuple(
                made
                for kernel, dof in zip(kernels, of_each, strict=True)
                for made in _whitened(kernel, dof, rows, 2 * half)
            )

    def discriminants(self, x: AnySample, y: AnySample) -> tuple[Discriminant, ...]:
        """Return the members by name, for features of another kind: see :class:`btests.FeatureMMD`."""
        if self.by_features is not None:
            return self.by_features.discriminants(x, y)
        members = zip(*self._members(x, y), strict=True)
        return tuple(Discriminant(kernel, dof) for kernel, dofs in members for dof in dofs)

    def _members(self, x: AnySample, y: AnySample) -> tuple[tuple[Kernel, ...], tuple[tuple[float, ...], ...]]:
        """Return the kernels of the family, and the degrees of freedom of each."""
        kernels = kernels_of(self.family, x, y)
        dofs: Any = self.dof if isinstance(self.dof[0], Sequence) else (self.dof,) * len(kernels)
        if len(dofs) != len(kernels):
            raise ValueError(f"one list of dof per kernel: got {len(dofs)} lists, {len(kernels)} kernels")
        return kernels, dofs

    def __repr__(self) -> str:
        if self.name:
            return self.name
        more = "".join(
            f", {name}={value}"
            for name, value, default in (("n_landmarks", self.n_landmarks, 112), ("n_rows", self.n_rows, 224))
            if value != default
        )
        more += "" if self.by_features is None else f", by_features={self.by_features!r}"
        return f"FisherFamily({shown(self.family)}, dof={self.dof}{more})"


def fisher_family() -> FisherFamily:
    """Return the Fisher discriminants that ``btest`` tests beside :func:`default_family` in one block and by features.

    Wide features, of twice the median bandwidth, with 4, 16 and 56 degrees of freedom, and narrow ones: in one block of
    a sixteenth of it with 56, by random Fourier features of an eighth with 64. docs/power.md and docs/features.md
    compare them with others.

    Examples
    --------
    >>> from btests import fisher_family
    >>> fisher_family()
    fisher_family()
    """
    by_features = FisherFamily(MedianFamily((2.0, 0.125)), ((4.0, 16.0, 56.0), (64.0,)))
    return FisherFamily(
        MedianFamily((2.0, 0.0625)), ((4.0, 16.0, 56.0), (56.0,)), name="fisher_family()", by_features=by_features
    )


def discriminants_of(family: AnyFamily, x: AnySample, y: AnySample) -> tuple[Any, ...]:
    """Return the members of a family with random Fourier features: discriminants by name, kernels as they are."""
    if isinstance(family, FisherFamily):
        return family.discriminants(x, y)
    return kernels_of(family, x, y)


def _whitened(kernel: Kernel, dofs: Sequence[float], rows: npt.NDArray[Any], r: int) -> Iterator[FeatureKernel]:
    """Yield the kernels of features of rows, of which the first ``r`` are the landmarks."""
    points: Any = rows if rows.dtype != object else rows.tolist()
    values = np.asarray(kernel_matrix(kernel, points, points[:r]), dtype=np.float64)
    within = values[:r]
    basis = _orthonormal((within + within.T) / 2.0)
    mean = values.mean(axis=0)
    psi = (values - mean) @ basis
    variances, axes = np.linalg.eigh(psi.T @ psi / len(psi))
    variances = np.maximum(variances, 0.0)
    basis = basis @ axes
    features = Nystroem(kernel, rows[:r], basis, mean)
    for dof in dict.fromkeys(attainable(dof, variances) for dof in dofs):
        yield FeatureKernel(features, _weights(variances, dof), f"Fisher({kernel!r}, dof={dof:g})")


def _orthonormal(gram: Array) -> Array:
    """Return coefficients (r, f) of an orthonormal basis of what landmarks span, from their Gram matrix (r, r).

    A share of 1e-8 of the largest eigenvalue, or more, is added to all of them: smaller ones are rounding.
    """
    shift = _SMALLEST * float(np.abs(gram).sum(axis=0).max())
    try:
        root = np.linalg.cholesky(gram + shift * np.eye(len(gram)))
    except np.linalg.LinAlgError:  # not positive definite, as the energy distance: its positive part
        squares, axes = np.linalg.eigh(gram)
        large = squares > max(shift, 0.0)
        return np.asarray(axes[:, large] / np.sqrt(squares[large]))
    return np.asarray(np.linalg.inv(root).T)


def _weights(variances: Array, dof: float) -> Array:
    """Return 1 / (variance + g), 0 for features that do not vary: (f,) to (f,)."""
    g = regularizer(variances, dof)
    return np.zeros_like(variances) if g == 0.0 else np.asarray(1.0 / (variances + g))
