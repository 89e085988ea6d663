"""The quadratic-time tests of Table 2: spectrum and bootstrap, of two kernels, on one matrix of distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from btests.data.sample import Sample
from btests.kernels import Gaussian
from btests.kernels.distances import squared_distances
from btests.nulls import Null, Permutation, Spectrum
from btests.plan import Array
from btests.statistics import Gram
from btests.statistics.tiled_gram import TILE
from studies.reproduce.music.trials import LEVEL, kernels

#: The paper's numbers of draws and of shuffles.
NULLS: dict[str, Null] = {"spectrum": Spectrum(500, corrected=False), "bootstrap": Permutation(1000)}
LABELS = {"spectrum": "Gram matrix spectrum", "bootstrap": "Bootstrap"}

KERNELS = ("sigma", "median")


@dataclass(frozen=True, slots=True, eq=False)
class Precomputed:
    """A kernel with precomputed values; samples are the numbers of the rows, in order."""

    values: Array

    def __call__(self, x: Array, y: Array) -> Array:
        """Return a part of the matrix: consecutive numbers (b, 1) and (c, 1) to (b, c)."""
        i, j = int(x[0, 0]), int(y[0, 0])
        return self.values[i : i + len(x), j : j + len(y)]


def pvalues(x: Array, y: Array, seed: int) -> dict[tuple[str, str], float]:
    """Return the p-value of each null with each kernel: rows (n, d) twice.

    Both kernels and both nulls share their distances, which are half of the work in 1000 dimensions.
    """
    chosen = kernels(Sample(x), Sample(y), KERNELS)
    squares = _squared_distances(np.concatenate([x, y]))
    numbers = np.arange(len(x) + len(y), dtype=np.float64)[:, None]
    found = {}
    for name, kernel in chosen.items():
        assert isinstance(kernel, Gaussian)
        gram = Gram(
            Precomputed(_gaussian(squares, kernel.bandwidth)), Sample(numbers[: len(x)]), Sample(numbers[len(x) :])
        )
        for label, null in NULLS.items():
            distribution = null.distribution(gram, seed)  # first: it stores what the statistic needs
            found[label, name] = distribution.pvalue(null.statistic(gram))
    return found


def rejections(x: Array, y: Array, seed: int) -> dict[tuple[str, str], bool]:
    """Return for each null and kernel whether the test rejects."""
    return {key: pvalue <= LEVEL for key, pvalue in pvalues(x, y, seed).items()}


def _squared_distances(rows: Array) -> Array:
    """Return squared distances: (N, d) to (N, N)."""
    out = np.empty((len(rows), len(rows)))
    for i, j in _upper(len(rows)):
        _mirror(out, i, j, squared_distances(rows[i], rows[j]))
    return out


def _gaussian(squares: Array, bandwidth: float) -> Array:
    """Return the Gaussian kernel of squared distances: (N, N) to (N, N)."""
    out = np.empty_like(squares)
    for i, j in _upper(len(squares)):
        _mirror(out, i, j, np.exp(squares[i, j] * (-0.5 / bandwidth**2)))
    return out


def _upper(n: int) -> Iterator[tuple[slice, slice]]:
    """Yield the tiles on and above the diagonal of a symmetric matrix; the others need not be computed."""
    strips = [slice(i, min(i + TILE, n)) for i in range(0, n, TILE)]
    return ((one, other) for i, one in enumerate(strips) for other in strips[i:])


def _mirror(out: Array, i: slice, j: slice, values: Array) -> None:
    out[i, j] = values
    out[j, i] = values.T
