"""The kernel Fisher discriminant of each block, with the pooled covariance of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from btests._memory import require_bytes
from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import TwoSample
from btests.kernels.feature_kernel import attainable, check_dof, regularizer
from btests.kernels.kernel import Kernel, properties_of
from btests.plan import Array, Plan
from btests.statistics.numpy_backend import block_moments, block_values, evaluate, without_diagonal
from btests.statistics.statistic import Accuracy
from btests.symmetries import SwapGroups

# Eigenvectors are known to some thousand roundings; what differs by less is no difference between samples.
_ERROR = 1e-11


@dataclass(frozen=True, slots=True)
class FisherMember:
    """A kernel and degrees of freedom, as results name them."""

    kernel: Kernel
    dof: float

    def __repr__(self) -> str:
        return f"Fisher({self.kernel!r}, dof={self.dof:g})"


@dataclass(frozen=True, slots=True)
class KernelFisher:
    r"""Regularised kernel Fisher discriminant of each block (Harchaoui, Bach and Moulines 2008).

    The value of a block is the unbiased squared MMD of the kernel ``phi(x)' (S + g I)^-1 phi(y)``, S the covariance of
    all rows of the block about their common mean. No swap of x and y changes S, so sign flips are exact; with the
    covariance within the samples, as published, they would not be, and the statistic of one block is an increasing
    function of the same quantity (docs/method.md). A block of N rows takes N^3 operations.

    Parameters
    ----------
    base : Kernel or tuple of Kernel
        Kernels.
    dof : float or sequence of float
        Degrees of freedom ``tr S (S + g I)^-1``, which define g; those beyond half of the rank of S are that half.
        Every kernel is tested with each of them.

    See Also
    --------
    btests.FisherFamily : The same from explicit features, in linear time.

    Examples
    --------
    >>> import numpy as np
    >>> from btests import KernelFisher, btest
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> y = 0.8 * rng.normal(size=(200, 3)) + 0.6 * rng.normal(size=(200, 1))
    >>> btest(x, y, kernel="gaussian", statistic=KernelFisher, seed=1).kernel
    Fisher(Gaussian(bandwidth=1.5126033910519798), dof=16)
    """

    base: tuple[Kernel, ...]
    dof: tuple[float, ...] = (4.0, 16.0)

    design: ClassVar[TwoSample] = TwoSample()
    symmetry: ClassVar[SwapGroups] = SwapGroups()
    #: Rows of the smaller sample in an automatic block: an eigenvalue problem of twice as many takes half a second.
    largest_block: ClassVar[int] = 512

    def __init__(self, base: Kernel | tuple[Kernel, ...], dof: float | Sequence[float] = (4.0, 16.0)) -> None:
        object.__setattr__(self, "base", base if isinstance(base, tuple) else (base,))
        object.__setattr__(self, "dof", check_dof(dof))

    @property
    def kernels(self) -> tuple[FisherMember, ...]:
        """Each kernel with each number of degrees of freedom."""
        return tuple(FisherMember(kernel, dof) for kernel in self.base for dof in self.dof)

    def engine(self, x: AnySample) -> str:
        """Return the name of the backend."""
        return "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        """Raise: null distributions from the Gram matrix of the kernel are not for this statistic."""
        raise ValueError("the kernel Fisher discriminant is tested by sign flips; take null=SignFlip()")

    def prepare(self, x: AnySample, y: AnySample) -> KernelFisher:
        """Return the statistic: it has one form."""
        return self

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return scale and error of each member: diagonals are dof on average, and known to 1e-11 of it."""
        return tuple(Accuracy(member.dof, _ERROR * member.dof) for member in self.kernels)

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        """Return values (m,) of blocks and moments (q, k, k) of nodes, per member."""
        values: list[list[Array]] = [[] for _ in self.kernels]
        moments: list[list[Array]] = [[] for _ in self.kernels]
        origin = x.location.origin if x.is_numeric else None
        plan = chunk.plan
        for number in chunk.numbers:
            (x_0, y_0), (x_1, y_1) = plan.start(number), plan.start(number + 1)
            b, c = x_1 - x_0, y_1 - y_0
            require_bytes("a block of the kernel Fisher discriminant", 40 * (b + c) ** 2, b, c)
            rows = np.concatenate([x.stack(x_0, 1, b), y.stack(y_0, 1, c)], axis=1)
            grams = (gram for kernel in self.base for gram in _discriminants(kernel, rows, origin, self.dof))
            for k, gram in enumerate(grams):
                value, moment = _value_and_moments(gram, b, plan)
                values[k].append(value)
                moments[k].append(moment)
        return [
            (np.concatenate(value), chunk.sum_nodes(np.concatenate(moment)))
            for value, moment in zip(values, moments, strict=True)
        ]


def _discriminants(kernel: Kernel, rows: Any, origin: Array | None, dofs: Sequence[float]) -> list[Array]:
    """Return the Gram matrices ``phi' (S + g I)^-1 phi`` of pooled rows (1, n, ...), one for each dof: (n, n)."""
    points = rows - origin if origin is not None and properties_of(kernel).centers_rows else rows
    gram = evaluate(kernel, points, points)[0]
    means = gram.mean(axis=0)
    centred = gram - means[None, :] - means[:, None] + means.mean()
    found = []
    values, axes = np.linalg.eigh((centred + centred.T) / 2.0)
    variances = np.maximum(values, 0.0) / len(gram)
    for dof in dofs:
        g = regularizer(variances, attainable(dof, variances))
        weights = np.zeros_like(variances) if g == 0.0 else len(gram) * variances / (variances + g)
        found.append((axes * weights) @ axes.T)
    return found


def _value_and_moments(gram: Array, b: int, plan: Plan) -> tuple[Array, Array]:
    """Return the value (1,) and the moments (1, k, k) of a block from the Gram matrix of its rows, b of them of x."""
    xx, yy = without_diagonal(gram[None, :b, :b]), without_diagonal(gram[None, b:, b:])
    xy = gram[None, :b, b:]
    xy = without_diagonal(xy) if plan.paired else xy
    return (
        block_values(xx, yy, xy, paired=plan.paired),
        block_moments(xx, yy, xy, plan.n_groups, paired=plan.paired),
    )
