"""Quadratic-time test with the eigenvalues of the Gram matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from btests._memory import require_bytes
from btests._option_checks import whole_number
from btests._text import brief
from btests.nulls.distributions import ResampledDistribution
from btests.plan import Array
from btests.statistics.tiled_gram import Gram, relabelled_mean, relabelled_sd, tile_bytes

# All eigenvalues up to _FULL rows in total; above, the _LEADING largest by _ROUNDS rounds of subspace iteration. At
# 4000 rows that takes 0.4 s instead of 6 s, with six correct digits in the eigenvalues that matter.
_FULL = 1000
_LEADING = 128
_ROUNDS = 2

# Draws per batch, to bound memory.
_AT_ONCE = 512


class Eigenvalues(NamedTuple):
    """Leading eigenvalues (k,), the sum of all others, and the root of the sum of their squares."""

    leading: Array
    rest: float
    rest_norm: float

    @property
    def norm(self) -> float:
        """Root of the sum of squares of all eigenvalues."""
        return math.hypot(_norm(self.leading), self.rest_norm)


@dataclass(frozen=True, slots=True)
class Spectrum:
    r"""Draws from the limit distribution by eigenvalues of the centred Gram matrix; consistent, quadratic memory.

    The statistic is the biased MMD^2 of all rows. For n_x and n_y rows, N in total, under the null hypothesis ``n_x n_y
    / N`` times it tends to ``sum_l lambda_l z_l^2`` with standard normal z_l. The lambda_l are estimated by the
    eigenvalues of the centred Gram matrix of both samples over N - 1 (the reference has N; with N - 1 the mean is the
    exact one of all relabellings). For many rows only the leading eigenvalues are computed. The others are replaced by
    a normal distribution whose mean and variance follow from the trace and the norm of the matrix.

    For few rows and a narrow kernel the Gram matrix is nearly diagonal and its eigenvalues are poor estimates: the
    diagonal contributes a variance that the statistic does not have, and p-values are much too large. So the draws are
    scaled about their mean to the exact standard deviation of all relabellings, by a factor that tends to 1.
    ``corrected=False`` is the method as published.

    The p-value is ``(1 + #{draws >= statistic}) / (n_draws + 1)``: never 0, and asymptotically valid.

    Attributes
    ----------
    n_draws : int
        Number of draws from the limit distribution.
    corrected : bool
        Whether to scale the draws to the exact standard deviation of all relabellings.

    See Also
    --------
    Gamma : cheaper, not consistent.
    Permutation : exact, without the quadratic memory.

    References
    ----------
    A. Gretton, K. Fukumizu, Z. Harchaoui, B. Sriperumbudur, "A Fast, Consistent Kernel Two-Sample Test", NIPS 2009.
    """

    n_draws: int = 1999
    corrected: bool = True

    wants_gram: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_draws", whole_number("n_draws", self.n_draws, 1))
        if not isinstance(self.corrected, bool):
            raise TypeError(f"corrected must be True or False, got {brief(self.corrected)}")

    def bytes_needed(self, n_x: int, n_y: int) -> int:
        """Return the memory of the Gram matrix, its eigendecomposition and the draws, in bytes."""
        n = n_x + n_y
        found = 8 * n**2 if n <= _FULL else 4 * 8 * n * _LEADING
        return 8 * n**2 + found + tile_bytes(n_x, n_y) + 3 * 8 * int(self.n_draws)

    def check_sizes(self, n_x: int, n_y: int) -> None:
        """Raise if ``bytes_needed`` exceeds the available memory."""
        require_bytes(repr(self), self.bytes_needed(n_x, n_y), n_x, n_y)

    def statistic(self, gram: Gram) -> float:
        """Return the biased MMD^2."""
        return gram.margins().biased()

    def distribution(self, gram: Gram, seed: int, n_threads: int | None = None) -> ResampledDistribution:
        """Return the null distribution of the statistic."""
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
    """Return all eigenvalues of a symmetric matrix (N, N)."""
    return Eigenvalues(np.asarray(np.linalg.eigvalsh(matrix)[::-1], dtype=np.float64), 0.0, 0.0)


def leading_eigenvalues(matrix: Array, n_leading: int, rng: np.random.Generator) -> Eigenvalues:
    """Return the largest eigenvalues of a symmetric matrix (N, N) by subspace iteration, and sums over the others."""
    basis = rng.standard_normal((len(matrix), n_leading))
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(matrix @ basis)[0]
    leading = np.asarray(np.linalg.eigvalsh(basis.T @ (matrix @ basis))[::-1], dtype=np.float64)
    norm, part = _norm(matrix), _norm(leading)
    rest_norm = math.sqrt(max(0.0, 1.0 - (part / norm) ** 2)) * norm if norm > 0.0 else 0.0
    return Eigenvalues(leading, float(matrix.trace() - leading.sum()), rest_norm)


def _norm(values: Array) -> float:
    """Return the root of the sum of squares of an array of any shape, without overflow of the squares."""
    from scipy.linalg.blas import dnrm2

    return float(dnrm2(values.ravel())) if values.size else 0.0


def _centre(matrix: Array) -> None:
    """Subtract the means of rows and columns of a symmetric matrix (N, N) in place."""
    means = matrix.mean(axis=0)
    matrix -= means
    matrix -= (means - means.mean())[:, None]


def _draw(eigenvalues: Eigenvalues, n_draws: int, rng: np.random.Generator) -> Array:
    """Return draws of ``sum_l lambda_l z_l^2``: (n_draws,)."""
    # The sum over the others has this mean and variance, and is nearly normal since none of them dominates.
    draws = eigenvalues.rest + math.sqrt(2.0) * eigenvalues.rest_norm * rng.standard_normal(n_draws)
    for start in range(0, n_draws, _AT_ONCE):
        part = draws[start : start + _AT_ONCE]
        part += rng.standard_normal((part.size, eigenvalues.leading.size)) ** 2 @ eigenvalues.leading
    return draws
