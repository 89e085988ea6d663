"""The block MMD of one or several kernels: what kernels have in common is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np

from btests import _core
from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.data.unit_sample import UnitSample
from btests.designs import TwoSample
from btests.kernels.kernel import FeatureMap, Kernel, Radial, features_of, groups_of, terms_of, unit, weighted
from btests.plan import Array
from btests.statistics.feature_blocks import summarize_features
from btests.statistics.numpy_backend import kernel_scales, summarize_plain
from btests.statistics.statistic import Accuracy
from btests.statistics.tiled_gram import Gram
from btests.statistics.unit_blocks import summarize_units
from btests.symmetries import SwapGroups


@dataclass(frozen=True, slots=True)
class MMD:
    """Unbiased estimate of the squared MMD on each block (Zaremba et al. 2013, eq. 3), for one or several kernels.

    ``h(z, z') = k(x, x') + k(y, y') - k(x, y') - k(x', y)`` changes its sign when x and y swap places in one of the
    pairs z, z': the symmetry that the sign-flip null rests on.

    Gaussians (and Laplacians) share their distances and, where bandwidths double, their exponentials, whether they are
    kernels or terms of a sum. Such sharing is in float64, whatever the type asked for.

    Attributes
    ----------
    kernels : tuple of Kernel
        One or several kernels; a single kernel may be given as it is.
    dtype : {"float64", "float32"}
        Arithmetic of the compiled loops where nothing is shared. Sums are always in float64.
    plain : bool
        Whether to compute in plain numpy even where loops are compiled.
    apart : bool
        Whether to share nothing: see :meth:`prepare`.
    scales : tuple of float, optional
        Typical value of each kernel, where it is known already.
    """

    kernels: tuple[Kernel, ...]
    dtype: str = "float64"
    plain: bool = False
    apart: bool = False
    scales: tuple[float, ...] | None = field(default=None, repr=False, compare=False)

    design: ClassVar[TwoSample] = TwoSample()
    symmetry: ClassVar[SwapGroups] = SwapGroups()

    def __init__(
        self,
        kernels: Kernel | tuple[Kernel, ...],
        dtype: str = "float64",
        plain: bool = False,
        apart: bool = False,
        scales: tuple[float, ...] | None = None,
    ) -> None:
        given = kernels if isinstance(kernels, tuple) else (kernels,)
        fields = {"kernels": given, "dtype": dtype, "plain": plain, "apart": apart, "scales": scales}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def engine(self, x: AnySample) -> str:
        """Return the name of what computes the Gram blocks of such data: ``numpy`` or ``compiled``."""
        return "compiled" if self.is_compiled(x) else "numpy"

    def gram(self, x: Sample, y: Sample) -> Gram:
        """Return the Gram matrix of all rows, for null distributions that need it."""
        # The plain path would hold the matrices of a whole block, which is all rows here, and evaluate a kernel that
        # is slow a second time: the one pass over the tiles serves both. Compiled loops are faster than that.
        return Gram(self.kernels[0], x, y, for_summary=self.engine(x) == "numpy")

    def is_compiled(self, x: AnySample) -> bool:
        """Whether compiled loops evaluate all kernels that have no explicit features, and there are some."""
        if isinstance(x, UnitSample):
            return False
        pairwise = [kernel for kernel in self.kernels if features_of(kernel) is None]
        return bool(pairwise) and all(self._terms(kernel, x.is_numeric) is not None for kernel in pairwise)

    def prepare(self, x: AnySample, y: AnySample) -> MMD:
        """Return the statistic in the form that is computed on these samples.

        Kernels that share their exponentials lose small values. Where all of them are as narrow as that, as may be in
        many dimensions, each is computed separately.
        """
        weights = _shared_weights(self.kernels)
        if not any(weights):
            return self
        scales = tuple(kernel_scales(self.kernels, x, y))
        return replace(self, apart=_are_negligible(weights, scales), scales=scales)

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return scale and absolute error of each kernel on these samples."""
        return accuracies(self.kernels, self.scales or kernel_scales(self.kernels, x, y))

    def blocks(
        self, x: Sample | RowSlice | UnitSample, y: Sample | RowSlice | UnitSample, chunk: BlockRange
    ) -> list[tuple[Array, Array]]:
        """Return values (m,) of blocks and moments (q, k, k) of nodes, per kernel.

        Threads are for compiled loops. Where the plan ``goes_on`` beyond its last block, the number of blocks so far
        does not decide which of their layouts to take: the layouts round differently.
        """
        if isinstance(x, UnitSample) and isinstance(y, UnitSample):
            return summarize_units(self.kernels, x, y, chunk)
        assert not isinstance(x, UnitSample)
        assert not isinstance(y, UnitSample)
        terms = [self._terms(kernel, x.is_numeric) for kernel in self.kernels]
        found: dict[Radial, tuple[Array, Array]] = {}
        units = tuple(unit(term) for own in terms for term in own or ())
        for group in [(one,) for one in dict.fromkeys(units)] if self.apart else groups_of(units):
            columns = group[0].columns
            p, q = (x, y) if columns is None else (x.columns(columns), y.columns(columns))
            of_each = _core.summarize(p, q, chunk, terms=group, dtype="float64" if self.apart else self.dtype)
            found.update(zip(group, zip(*of_each, strict=True), strict=True))
        explicit = self._explicit(x, y, chunk)
        plan = chunk.plan
        of_kernels = []
        for kernel, own in zip(self.kernels, terms, strict=True):
            if kernel in explicit:
                values, moments = explicit[kernel]
            elif own is None and plan.n_blocks == 1 and not chunk.goes_on and plan.n_x + plan.n_y > _TILED_ROWS:
                whole = Gram(kernel, x, y, for_summary=True).summary()
                values, moments = whole.values, whole.moments
            elif own is None:
                values, moments = summarize_plain(kernel, x, y, chunk)
            else:
                values, moments = (reduce(add, (weighted(term, found[unit(term)][i]) for term in own)) for i in (0, 1))
            of_kernels.append((values, moments))
        return of_kernels

    def _explicit(
        self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange
    ) -> dict[Kernel, tuple[Array, Array]]:
        """Return values and moments of the kernels with explicit features; those of one map share them."""
        if self.plain:
            return {}
        groups: dict[FeatureMap, list[tuple[Kernel, Array]]] = {}
        for kernel in self.kernels:
            features = features_of(kernel)
            if features is not None:
                groups.setdefault(features.map, []).append((kernel, features.weights))
        found: dict[Kernel, tuple[Array, Array]] = {}
        for feature_map, members in groups.items():
            weights = np.stack([weights for _, weights in members])
            summaries = summarize_features(feature_map, weights, x, y, chunk)
            found.update(zip((kernel for kernel, _ in members), summaries, strict=True))
        return found

    def _terms(self, kernel: Kernel, is_numeric: bool) -> tuple[Radial, ...] | None:
        if self.plain or not is_numeric or not _core.is_available():
            return None
        return terms_of(kernel)


# Absolute error assumed for kernels that share their exponentials, which are computed as k - 1 with the rounding of 1.
# It is much coarser than that rounding, so that rounding affects neither selection nor p-values: kernels whose values
# are within it are not selected, and outcomes that differ by less are ties.
_ABS_ERROR = 1e-11

# A kernel that is typically at least this much is wide, and k - 1 keeps all its digits.
_WIDE = 0.5

# Kernels whose typical values are smaller have too few digits where exponentials are shared.
_NEGLIGIBLE = 1e-6


def accuracies(kernels: tuple[Kernel, ...], scales: Sequence[float]) -> tuple[Accuracy, ...]:
    """Return scale and absolute error of kernels of these scales."""
    return tuple(map(Accuracy, scales, abs_errors(kernels, scales)))


def abs_errors(kernels: tuple[Kernel, ...], kernel_scale: Sequence[float]) -> list[float]:
    """Return the absolute error of the values of each kernel that shares its exponentials, 0.0 for all others.

    It depends on the kernels and their typical values alone, so that the plain path and the compiled loops agree.
    """
    weights = _shared_weights(kernels)
    if _are_negligible(weights, kernel_scale):  # then nothing is shared
        return [0.0] * len(kernels)
    return [
        _ABS_ERROR * weight if size < _WIDE * weight else 0.0
        for weight, size in zip(weights, kernel_scale, strict=True)
    ]


def _are_negligible(weights: Sequence[float], kernel_scale: Sequence[float]) -> bool:
    """Whether kernels share exponentials with these weights, and all that do are so small that they had better not."""
    return any(weights) and all(
        size < _NEGLIGIBLE * weight for weight, size in zip(weights, kernel_scale, strict=True) if weight > 0.0
    )


def _shared_weights(kernels: tuple[Kernel, ...]) -> tuple[float, ...]:
    """Return for each kernel the weight of the terms that share their exponentials with others."""
    own = [terms_of(kernel) or () for kernel in kernels]
    groups = groups_of(tuple(unit(term) for terms in own for term in terms))
    shared = {term for group in groups if len(group) > 1 for term in group}
    return tuple(sum((term.weight for term in terms if unit(term) in shared), 0.0) for terms in own)


# One block of more rows of x and y together than this is evaluated by tiles: its Gram matrices would take 64 MB.
_TILED_ROWS = 2048
