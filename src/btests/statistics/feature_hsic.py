"""HSIC of all rows in linear time, by random Fourier features of both kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from btests._text import brief
from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import JointSample
from btests.kernels.kernel import Kernel, terms_of
from btests.kernels.pair import KernelPair
from btests.kernels.random_fourier import Frequencies, cosines_and_sines, frequencies_of, has_features
from btests.plan import Array, Index, Plan
from btests.statistics.statistic import Accuracy
from btests.statistics.walsh_tiles import transform
from btests.summary import Summary
from btests.symmetries import SwapTuples

# Bits after the point of a cosine or sine, at most.
_MOST_BITS = 20

#: Rows of a chunk.
CHUNK_ROWS = 2**14

# Rows whose features are held at once: whole rounds of 9 groups of tuples of 8 rows.
_ROWS = 9 * 8 * 32


def product_bits(n_rows: int) -> int:
    """Return the bits after the point of cosines and sines such that sums over so many rows are exact in float64.

    Sums of n / 8 products of two sums of 8 values, each below 2^bits units, are below 8 n 4^bits.
    """
    return min(_MOST_BITS, (49 - int(n_rows).bit_length()) // 2)


@dataclass(frozen=True, slots=True, eq=False)
class SideFeatures:
    """Cosines and sines of the kernels of one side.

    Attributes
    ----------
    kernels : tuple of Kernel
        Kernels, each there once.
    frequencies : tuple of Frequencies
        Of each kernel.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    """

    kernels: tuple[Kernel, ...]
    frequencies: tuple[Frequencies, ...]
    origin: Array

    @classmethod
    def of(cls, kernels: Sequence[Kernel], n_frequencies: int, sample: AnySample) -> SideFeatures:
        """Return features for the rows of a sample."""
        own = tuple(dict.fromkeys(kernels))
        found = tuple(frequencies_of(kernel, n_frequencies, sample.width) for kernel in own)
        return cls(own, found, sample.location.origin)

    def values(self, rows: Array, bits: int) -> Array:
        """Return cosines and sines of all kernels in units of 2^-bits, whole numbers: (m, d) to (m, f)."""
        turns = np.concatenate([one.turns for one in self.frequencies])
        return np.rint(np.ldexp(cosines_and_sines(turns, rows, self.origin), bits))

    def columns(self, kernel: Kernel) -> tuple[Index, Array]:
        """Return the columns of a kernel, and the roots of their weights."""
        sizes = [len(one.turns) for one in self.frequencies]
        edges, total = np.append(0, np.cumsum(sizes)), sum(sizes)
        i = self.kernels.index(kernel)
        own = np.arange(edges[i], edges[i + 1])
        return np.append(own, total + own), np.tile(np.sqrt(self.frequencies[i].weights), 2)


class Moments(NamedTuple):
    """Sums over rows that HSIC is computed from.

    Attributes
    ----------
    products : ndarray of shape (g, q, f, h)
        Sum over the tuples of a group of products of Walsh transforms of the features of x and of y.
    rest : ndarray of shape (f, h)
        Sum over the rows that stay of products of features.
    of_x, of_y : ndarray of shape (f,) and (h,)
        Sums of features.
    """

    products: Array
    rest: Array
    of_x: Array
    of_y: Array

    @classmethod
    def of(cls, numbers: Array, g: int, q: int, f: int, h: int) -> Moments:
        """Return views of all numbers, (n,), as moments."""
        cuts = np.cumsum([g * q * f * h, f * h, f])
        products, rest, of_x, of_y = np.split(numbers, cuts)
        return cls(products.reshape(g, q, f, h), rest.reshape(f, h), of_x, of_y)


@dataclass(frozen=True, slots=True)
class FeatureHSIC:
    r"""Unbiased HSIC of all rows in one pass, by random Fourier features of the kernels of x and of y.

    With features phi of x and psi of y, the sum of products of kernel values is ``|sum_i phi(x_i) psi(y_i)'|^2``. What
    swaps of y within tuples do to it depends on sums over the tuples of a group of products of Walsh transforms, which
    add: the symmetry is that of :class:`btests.HSIC` in one block of all rows, and the p-value as exact.

    Attributes
    ----------
    kernels : tuple of KernelPair
        Kernels of x and of y, which have random Fourier features.
    n_frequencies : int
        Frequencies of each kernel.
    """

    kernels: tuple[KernelPair, ...]
    n_frequencies: int = 32
    sides: tuple[SideFeatures, SideFeatures] | None = field(default=None, repr=False, compare=False)

    design: ClassVar[JointSample] = JointSample()
    symmetry: ClassVar[SwapTuples] = SwapTuples()

    def __post_init__(self) -> None:
        if not isinstance(self.kernels, tuple) or not all(isinstance(pair, KernelPair) for pair in self.kernels):
            raise TypeError(f"kernels must be a tuple of KernelPair(...), got {brief(self.kernels)}")
        for pair in self.kernels:
            for kernel in (pair.x, pair.y):
                if not has_features(kernel):
                    raise ValueError(
                        f"{brief(kernel)} has no random Fourier features, which are for sums of Gaussian, Laplacian, "
                        "Matern and rational quadratic kernels; take method='blocks'"
                    )

    def _shape(self, n: int) -> tuple[int, int, int, int]:
        """Return the numbers of groups, of rows of a tuple, and of features of x and of y."""
        f, h = (
            2 * sum(max(self.n_frequencies, len(terms_of(kernel) or ())) for kernel in own)
            for own in (dict.fromkeys(getattr(pair, side) for pair in self.kernels) for side in "xy")
        )
        return self.symmetry.n_groups(n), self.symmetry.tuple_size(n), f, h

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the sums of a chunk of rows."""
        g, q, f, h = self._shape(n_x)
        return ((g * q + 1) * f * h + f + h,)

    def engine(self, x: AnySample) -> str:
        """Return the name of the backend."""
        return "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        """Raise: features take no Gram matrix."""
        raise ValueError("features have no Gram matrix; take method='blocks'")

    def prepare(self, x: AnySample, y: AnySample) -> FeatureHSIC:
        """Return the statistic with frequencies for these samples."""
        if self.sides is not None:
            return self
        of_x, of_y = ([getattr(pair, side) for pair in self.kernels] for side in "xy")
        n = self.n_frequencies
        return replace(self, sides=(SideFeatures.of(of_x, n, x), SideFeatures.of(of_y, n, y)))

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return the product of the values of both kernels of a row with itself, for each pair."""
        sides = self.prepare(x, y).sides
        assert sides is not None
        found = []
        for pair in self.kernels:
            (_, of_x), (_, of_y) = sides[0].columns(pair.x), sides[1].columns(pair.y)
            found.append(Accuracy(float(np.sum(of_x**2) * np.sum(of_y**2)) / 4.0))
        return tuple(found)

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        """Return zeros (m,) and sums over the rows of nodes (q, n): see :meth:`members`."""
        plan = chunk.plan
        sums = np.zeros((chunk.n_nodes, *self.moment_shape(plan.n_x, plan.n_y, 1)))
        for i, (first, last) in enumerate(pairwise(chunk.edges.tolist())):
            for block in range(first, last):
                span = plan.start(block)[0], plan.start(block + 1)[0]
                self._add(x, y, span, plan.n_x, sums[i])
        return [(np.zeros(chunk.n_blocks), sums)]

    def _add(self, x: Sample | RowSlice, y: Sample | RowSlice, span: tuple[int, int], n: int, total: Array) -> None:
        """Add the sums of a chunk to ``total`` (n,), in place; its tuples begin with its first row, its last rows stay.

        Sums are whole numbers of units, and exact; there may be hundreds of megabytes of them.
        """
        assert self.sides is not None
        shape = self._shape(n)
        found, (g, q, *_) = Moments.of(total, *shape), shape
        bits, (first, last) = product_bits(n), span
        unit = 0.5**bits
        for start in range(first, last, _ROWS):
            m = min(_ROWS, last - start)
            phi, psi = (
                side.values(sample.stack(start, 1, m)[0].astype(np.float64), bits) * unit
                for side, sample in zip(self.sides, (x, y), strict=True)
            )
            of_x, of_y = (_transformed(values, g, q) for values in (phi, psi))
            for u in range(g):
                found.products[u] += of_x[u].swapaxes(-1, -2) @ of_y[u]
            whole = m // q * q
            found.rest[...] += phi[whole:].T @ psi[whole:]
            found.of_x[...] += phi.sum(axis=0)
            found.of_y[...] += psi.sum(axis=0)

    def members(self, found: Sequence[Summary]) -> list[Summary]:
        """Return the summary of each pair of kernels, one block of all rows, from sums of features."""
        assert self.sides is not None
        n = found[0].plan.n_x
        nodes = found[0].moments
        sums = Moments.of(nodes[0] if len(nodes) == 1 else nodes.sum(axis=0), *self._shape(n))
        return [self._member(pair, sums, n) for pair in self.kernels]

    def _member(self, pair: KernelPair, sums: Moments, n: int) -> Summary:
        assert self.sides is not None
        (i, a), (j, b) = self.sides[0].columns(pair.x), self.sides[1].columns(pair.y)
        own = Moments(
            sums.products[:, :, i][..., j] * np.outer(a, b),
            sums.rest[np.ix_(i, j)] * np.outer(a, b),
            sums.of_x[i] * a,
            sums.of_y[j] * b,
        )
        value, moments = hsic_moments(own, n, float(np.sum(a**2)) / 2.0, float(np.sum(b**2)) / 2.0)
        one = Summary.of(Plan(n, n, 1), np.array([value]), moments[None])
        return replace(one, symmetry=self.symmetry)


def _transformed(values: Array, g: int, q: int) -> Array:
    """Return Walsh transforms of the features of tuples, by groups, and zeros: (m, f) to (g, q, t, f)."""
    n_tuples = len(values) // q
    tuples = np.zeros((-(-n_tuples // g) * g, q, values.shape[1]))
    tuples[:n_tuples] = values[: n_tuples * q].reshape(n_tuples, q, -1)
    transform(tuples)
    return tuples.reshape(-1, g, q, values.shape[1]).transpose(1, 2, 0, 3)


def hsic_moments(sums: Moments, n: int, k: float, l: float) -> tuple[float, Array]:  # noqa: E741
    r"""Return the unbiased HSIC of n rows, and the moments (c, c) of :class:`btests.symmetries.SwapTuples`.

    A row has the kernel value k with itself, or l. After the swap c the sum of products of features is ``M = A_0 +
    sum_(u, alpha) chi_alpha(c_u) A_(u, alpha)``, and HSIC is ``[|M|^2 - n k l - 2 r't / (n - 2) + S_x S_y / ((n - 1)
    (n - 2))] / (n (n - 3))`` with ``r't = f'M h - l f'f - k h'h + n k l``, f and h the sums of the features, and
    ``S_x = f'f - n k``.

    Parameters
    ----------
    sums : Moments
        Sums over all rows of features whose inner products are kernel values.
    n : int
        Number of rows.
    k, l : float
        Values of the kernels of x and of y for a row with itself.
    """
    g, q = sums.products.shape[:2]
    terms = sums.products / q
    fixed = terms[:, 0].sum(axis=0) + sums.rest
    parts = np.concatenate([fixed[None], terms[:, 1:].reshape(-1, *fixed.shape)])
    flat = parts.reshape(len(parts), -1)
    gram = flat @ flat.T
    across = np.einsum("cfh,f,h->c", parts, sums.of_x, sums.of_y)
    f, h = float(sums.of_x @ sums.of_x), float(sums.of_y @ sums.of_y)
    constant = float(np.trace(gram)) - n * k * l + (f - n * k) * (h - n * l) / ((n - 1.0) * (n - 2.0))
    constant -= 2.0 / (n - 2.0) * (float(across[0]) - l * f - k * h + n * k * l)
    matrix = gram - np.diag(np.diag(gram))
    linear = gram[0] - across / (n - 2.0)
    members = np.arange(q)
    for u in range(g):
        own = slice(1 + u * (q - 1), 1 + (u + 1) * (q - 1))
        inner = np.zeros((q, q))
        inner[1:, 1:] = matrix[own, own]
        matrix[own, own] = 0.0
        # Products of Walsh functions of one group are Walsh functions: chi_alpha chi_beta = chi_(alpha XOR beta).
        linear[own] += [0.5 * inner[members, members ^ gamma].sum() for gamma in range(1, q)]
    linear[0] = 0.0
    matrix[0] = matrix[:, 0] = linear
    scale = n * (n - 3.0)
    if not matrix.any():  # x or y is constant, and what is left of the value is rounding
        return 0.0, matrix
    return (constant + float(matrix.sum())) / scale, matrix / scale
