"""Gram matrices of x and y of the same rows, U-centred, and HSIC after permutations of y."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from btests._memory import require_bytes
from btests.data.sample import Sample
from btests.kernels.pair import KernelPair
from btests.plan import Array
from btests.statistics.numpy_backend import evaluate
from btests.symmetries import Redraw

# Permuted kernel values that are in memory at once.
_VALUES = 2**20

# Arrays of n^2 numbers that exist at once: both matrices, one that is permuted, and a product.
_MATRICES = 5


def permutation_moments(pair: KernelPair, x: Array, y: Array, order: int) -> tuple[Array, Array]:
    r"""Return variance and third moment of HSIC over all permutations of y: (m, b, d) and (m, b, e) to (m,) each.

    With A and C the U-centred Gram matrices and ``V = sum A^2 / (b (b - 3))``, the variance is ``2 V_x V_y / (b (b -
    3))``, and the third moment a bilinear form of ``tr A^3`` and ``sum A^3`` of both. Those above ``order`` are 0.
    """
    m, b = x.shape[:2]
    variance, third = np.zeros(m), np.zeros(m)
    if order >= 3 and b < 6:
        raise ValueError(f"the third moment over permutations needs blocks of at least 6 rows, got {b}")
    for i in range(m if order >= 2 else 0):  # block by block: the matrices are whole
        a, c = (
            u_centred(evaluate(kernel, rows[i : i + 1], rows[i : i + 1])[0])
            for kernel, rows in ((pair.x, x), (pair.y, y))
        )
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            variance[i] = 2.0 * np.sum(a**2) * np.sum(c**2) / (b * (b - 3)) ** 3
            third[i] = _third_moment(b, a, c) / (b * (b - 3)) ** 3 if order >= 3 else 0.0
    return variance, third


def u_centred(gram: Array) -> Array:
    """Return a Gram matrix (b, b) with zero diagonal whose rows and columns sum to 0, as unbiased estimates need it."""
    b = len(gram)
    zeroed = gram - np.diag(np.diag(gram))
    sums = zeroed.sum(axis=0)
    centred = zeroed - (sums[:, None] + sums) / (b - 2) + sums.sum() / ((b - 1) * (b - 2))
    np.fill_diagonal(centred, 0.0)
    return np.asarray(centred)


def _third_moment(b: int, a: Array, c: Array) -> float:
    """Return the third moment of ``sum_ij A_ij C_pi(i)pi(j)`` over all permutations of b rows."""
    falling = [math.perm(b, k) for k in range(7)]
    both = 8 / falling[3] + 24 / falling[4] + 48 / falling[5] + 64 / falling[6]
    mixed = -24 / falling[4] - 96 / falling[5] - 128 / falling[6]
    entries = 4 / falling[2] + 24 / falling[3] + 80 / falling[4] + 192 / falling[5] + 256 / falling[6]
    trace_a, trace_c = (float(np.sum((matrix @ matrix) * matrix)) for matrix in (a, c))
    cubes_a, cubes_c = (float(np.sum(matrix**3)) for matrix in (a, c))
    return both * trace_a * trace_c + mixed * (trace_a * cubes_c + cubes_a * trace_c) + entries * cubes_a * cubes_c


def permuted_blocks(
    kernels: Sequence[KernelPair], x: Array, y: Array, symmetry: Redraw, first_block: int
) -> list[tuple[Array, Array]]:
    """Return HSIC of blocks (m, b, d) and (m, b, e), (m,), and after permutations of y, (m, r + 1), for each pair."""
    m, b = x.shape[:2]
    of_x, of_y = (list(dict.fromkeys(getattr(pair, side) for pair in kernels)) for side in "xy")
    moments = np.empty((len(kernels), m, symmetry.n_resamples + 1))
    first, second = np.triu_indices(b, 1)
    at_once = max(1, _VALUES // (first.size * len(of_y)))
    for i in range(m):
        a, c = (
            np.stack([u_centred(evaluate(kernel, rows[i : i + 1], rows[i : i + 1])[0]) for kernel in own])
            for rows, own in ((x, of_x), (y, of_y))
        )
        orders = np.tile(np.arange(b), (symmetry.n_resamples + 1, 1))
        orders[1:] = symmetry.generator(first_block + i).permuted(orders[1:], axis=1)
        above = 2.0 / (b * (b - 3)) * a[:, first, second]
        for start in range(0, len(orders), at_once):
            some = orders[start : start + at_once]
            permuted = np.take(c.reshape(len(of_y), -1), some[:, first] * b + some[:, second], axis=1)
            values = np.einsum("xv,yrv->xyr", above, permuted, optimize=True)
            for j, pair in enumerate(kernels):
                moments[j, i, start : start + len(some)] = values[of_x.index(pair.x), of_y.index(pair.y)]
    return [(own[:, 0].copy(), own) for own in moments]


@dataclass(frozen=True, slots=True)
class PairedGram:
    """U-centred Gram matrices of all rows of two paired samples, for permutations of y.

    Attributes
    ----------
    pair : KernelPair
        Kernels of x and of y.
    x, y : Sample
        Samples of one length, in memory.
    a, c : ndarray
        U-centred Gram matrices of x and of y: (n, n).
    """

    pair: KernelPair
    x: Sample
    y: Sample
    a: Array = field(init=False, repr=False, compare=False)
    c: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        n = len(self.x)
        require_bytes("a permutation test of independence", _MATRICES * 8 * n**2, n, n)
        for name, kernel, sample in (("a", self.pair.x, self.x), ("c", self.pair.y, self.y)):
            rows = sample.stack(0, 1, n).astype(np.float64)
            object.__setattr__(self, name, u_centred(evaluate(kernel, rows, rows)[0]))

    def hsic(self) -> float:
        """Return the unbiased HSIC of all rows."""
        n = len(self.x)
        return float(np.sum(self.a * self.c)) / (n * (n - 3))

    def tolerance(self) -> float:
        """Return the distance up to which values of different permutations count as equal."""
        n = len(self.x)
        return 1e-13 * float(np.sum(np.abs(self.a) * np.abs(self.c))) / (n * (n - 3))

    def permuted(self, n_resamples: int, seed: int) -> Array:
        """Return HSIC after random permutations of y: (n_resamples,)."""
        n, rng = len(self.x), np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, 0x45C])))
        draws = np.empty(n_resamples)
        for i in range(n_resamples):
            order = rng.permutation(n)
            draws[i] = np.sum(self.a * self.c[order][:, order])
        return draws / (n * (n - 3))
