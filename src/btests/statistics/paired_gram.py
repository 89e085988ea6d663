"""Gram matrices of x and y of the same rows, and HSIC after permutations of y: quadratic time and memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from btests._memory import require_bytes
from btests.data.sample import Sample
from btests.kernels.pair import KernelPair
from btests.plan import Array
from btests.statistics.numpy_backend import evaluate
from btests.statistics.u_centering import u_centred

# Arrays of n^2 numbers that exist at once: both matrices, one that is permuted, and a product.
_MATRICES = 5


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
