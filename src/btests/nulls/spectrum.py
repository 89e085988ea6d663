"""The quadratic-time test by the eigenvalues of the Gram matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, NamedTuple

import numpy as np

from btests._memory import require_bytes
from btests.nulls.distributions import ResampledDistribution
from btests.nulls.permutation_moments import relabelled_mean, relabelled_sd
from btests.plan import Array
from btests.statistics.tiled_gram import Gram, tile_bytes

# All eigenvalues up to this many rows in all; above it the leading ones by so many columns in so many rounds. At 4000
# rows that takes 0.4 s where all eigenvalues take 6 s, and finds those that matter to six digits.
_FULL = 1000
_LEADING = 128
_ROUNDS = 2

# Draws that are made together: a bound for their memory.
_AT_ONCE = 512


class Eigenvalues(NamedTuple):
    """Leading eigenvalues (k,), the sum of all others, and the root of the sum of their squares."""

    leading: Array
    rest: float
    rest_norm: float

    @property
    def norm(self) -> float:
        """The root of the sum of squares of all of them."""
        return math.hypot(_norm(self.leading), self.rest_norm)


@dataclass(frozen=True, slots=True)
class Spectrum:
    r"""Draws of the limit distribution, with the eigenvalues of the centred Gram matrix; consistent, quadratic memory.

    The statistic is the biased MMD^2 of all rows, on the scale of MMD^2. For n_x and n_y rows, N in all, under the null
    hypothesis ``n_x n_y / N`` times it tends to ``sum_l lambda_l z_l^2`` with standard normal z_l, the lambda_l
    estimated by the eigenvalues of the centred Gram matrix of both samples over N - 1 (over N in the reference; this
    way the mean is the exact one of all relabellings). For many rows only the leading eigenvalues are computed. The
    others enter by a normal distribution with the mean and variance that the trace and the norm of the matrix leave for
    them.

    For few rows and a narrow kernel the eigenvalues of a matrix that is nearly diagonal say little about their limits:
    the diagonal alone has a spread that the statistic does not have, and p-values come out much too large. So the draws
    are brought to the exact standard deviation of all relabellings about their mean, by a factor that tends to 1 as
    rows become many. ``corrected=False`` is the method as published.

    The p-value is ``(1 + #{draws >= statistic}) / (n_draws + 1)``: never 0, and right for many rows.

    References
    ----------
    A. Gretton, K. Fukumizu, Z. Harchaoui, B. Sriperumbudur, "A Fast, Consistent Kernel Two-Sample Test", NIPS 2009.
    """

    n_draws: int = 1999
    corrected: bool = True

    wants_gram: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.n_draws, bool) or not isinstance(self.n_draws, Integral) or self.n_draws < 1:
            raise ValueError(f"n_draws must be a whole number of at least 1, got {self.n_draws!r}")
        if not isinstance(self.corrected, bool):
            raise TypeError(f"corrected must be True or False, got {self.corrected!r}")

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of the whole matrix, of finding its eigenvalues, and of all draws and a copy of them."""
        n = n_x + n_y
        found = 8 * n**2 if n <= _FULL else 4 * 8 * n * _LEADING
        return 8 * n**2 + found + tile_bytes(n_x, n_y) + 3 * 8 * int(self.n_draws)

    def check_sizes(self, n_x: int, n_y: int) -> None:
        """Raise where that would not fit."""
        require_bytes(repr(self), self.bytes_needed(n_x, n_y), n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the biased MMD^2, on the scale of MMD^2."""
        return gram.margins().biased()

    def distribution(self, gram: Gram, seed: int) -> ResampledDistribution:
        """Return the distribution of the statistic under the null hypothesis."""
        n_x, n_y, n = len(gram.x), len(gram.y), gram.n_rows
        self.check_sizes(n_x, n_y)
        rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, 0x5EC7])))
        matrix = gram.matrix()
        _centre(matrix)
        found = all_eigenvalues(matrix) if n <= _FULL else leading_eigenvalues(matrix, _LEADING, rng)
        unit = n / (n - 1) / n_x / n_y
        draws = np.sort(_draw(found, int(self.n_draws), rng)) * unit
        if self.corrected:
            mean, sd = relabelled_mean(gram.margins()), unit * math.sqrt(2.0) * found.norm
            draws = mean + (draws - mean) * (relabelled_sd(gram.margins()) / sd if sd > 0.0 else 1.0)
        return ResampledDistribution(draws, gram.margins().tolerance())


def all_eigenvalues(matrix: Array) -> Eigenvalues:
    """Return every eigenvalue: symmetric (N, N)."""
    return Eigenvalues(np.asarray(np.linalg.eigvalsh(matrix)[::-1], dtype=np.float64), 0.0, 0.0)


def leading_eigenvalues(matrix: Array, n_leading: int, rng: np.random.Generator) -> Eigenvalues:
    """Return the largest eigenvalues by subspace iteration, and what the others add up to: symmetric (N, N)."""
    basis = rng.standard_normal((len(matrix), n_leading))
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(matrix @ basis)[0]
    leading = np.asarray(np.linalg.eigvalsh(basis.T @ (matrix @ basis))[::-1], dtype=np.float64)
    norm, part = _norm(matrix), _norm(leading)
    rest_norm = math.sqrt(max(0.0, 1.0 - (part / norm) ** 2)) * norm if norm > 0.0 else 0.0
    return Eigenvalues(leading, float(matrix.trace() - leading.sum()), rest_norm)


def _norm(values: Array) -> float:
    """Return the root of the sum of squares, which themselves may leave the range of floats: any shape."""
    from scipy.linalg.blas import dnrm2

    return float(dnrm2(values.ravel())) if values.size else 0.0


def _centre(matrix: Array) -> None:
    """Take the means of rows and columns away, in place: symmetric (N, N)."""
    means = matrix.mean(axis=0)
    matrix -= means
    matrix -= (means - means.mean())[:, None]


def _draw(eigenvalues: Eigenvalues, n_draws: int, rng: np.random.Generator) -> Array:
    """Return draws of ``sum_l lambda_l z_l^2``: (n_draws,)."""
    # The sum over the others has this mean and variance, and is nearly normal: none of them stands out.
    draws = eigenvalues.rest + math.sqrt(2.0) * eigenvalues.rest_norm * rng.standard_normal(n_draws)
    for start in range(0, n_draws, _AT_ONCE):
        part = draws[start : start + _AT_ONCE]
        part += rng.standard_normal((part.size, eigenvalues.leading.size)) ** 2 @ eigenvalues.leading
    return draws
