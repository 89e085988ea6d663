"""Random Fourier features: frequencies from the spectral distribution of a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from btests.kernels.feature_kernel import FeatureKernel, attainable, regularizer
from btests.kernels.kernel import Kernel, Properties, Radial, terms_of
from btests.plan import Array

# The frequencies of a kernel are the same in every test: what is random is the assignment of rows.
_SEED = 0xF0A1E5

# Frequencies of a discriminant, at most: the time of its covariance and eigenvalues grows with their cube.
_WHITENED = 64

#: Projections of more turns than this count as 0: their fraction would be rounding.
LARGEST_TURNS = 2.0**49


class Frequencies(NamedTuple):
    """Frequencies of a kernel, ``k(x, y)`` being about ``sum_f weights[f] cos(2 pi frequencies[f] . (x - y))``.

    Attributes
    ----------
    turns : ndarray of shape (f, d)
        Frequencies, in turns for a unit of each coordinate.
    weights : ndarray of shape (f,)
        Their weights, whose sum is the kernel value of a point with itself.
    """

    turns: Array
    weights: Array


@dataclass(frozen=True, slots=True)
class Discriminant:
    """Fisher discriminant of the features of a kernel, to be whitened by their covariance: see `discriminant`.

    Attributes
    ----------
    kernel : Kernel
        Kernel with random Fourier features.
    dof : float
        Degrees of freedom, which define the regulariser: see :class:`btests.FisherFamily`.
    """

    kernel: Kernel
    dof: float

    def __repr__(self) -> str:
        return f"Fisher({self.kernel!r}, dof={self.dof:g})"


@dataclass(frozen=True, slots=True, eq=False)
class FourierMap:
    """Map rows to random Fourier features in a basis in which they are uncorrelated.

    Attributes
    ----------
    turns : ndarray of shape (f, d)
        Frequencies, in turns for a unit of each coordinate.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    basis : ndarray of shape (2 f, r)
        Coefficients of the features in cosines and sines.
    variances : ndarray of shape (r,)
        Variances of the features in some rows.
    """

    turns: Array
    origin: Array
    basis: Array
    variances: Array = field(repr=False)

    properties: ClassVar[Properties] = Properties(takes_stacks=True, takes_objects=False)

    def values(self, rows: Any) -> Array:
        """Return cosines and sines: (..., b, d) to (..., b, 2 f)."""
        return cosines_and_sines(self.turns, rows, self.origin)

    def combine(self, values: Array) -> Array:
        """Return features: (..., 2 f) to (..., r)."""
        return np.asarray(values @ self.basis)


def cosines_and_sines(turns: Array, rows: Any, origin: Array) -> Array:
    """Return cosines and sines of the projections of rows: (..., d) to (..., 2 f)."""
    with np.errstate(over="ignore", invalid="ignore"):
        angles = (np.asarray(rows, dtype=np.float64) - origin) @ turns.T
        angles = np.where(np.abs(angles) < LARGEST_TURNS, angles, 0.0)
    angles = 2.0 * math.pi * (angles - np.rint(angles))
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=-1)


def uncorrelated(own: Frequencies, origin: Array, rows: Array) -> FourierMap:
    """Return the map to features of a kernel of some frequencies that are uncorrelated in some rows (m, d)."""
    n = len(own.turns)
    used = np.flatnonzero(np.arange(2 * n) % n < _WHITENED)
    factors = np.tile(np.sqrt(own.weights), 2)[used]
    psi = cosines_and_sines(own.turns[:_WHITENED], rows, origin) * factors
    psi -= psi.mean(axis=0)
    variances, axes = np.linalg.eigh(psi.T @ psi / len(psi))
    basis = np.zeros((2 * n, len(used)))
    basis[used] = factors[:, None] * axes
    return FourierMap(own.turns, origin, basis, np.maximum(variances, 0.0))


def discriminant(kernel: Discriminant, features: FourierMap) -> FeatureKernel:
    """Return a discriminant as a kernel, of features of its kernel that are uncorrelated."""
    variances = features.variances
    dof = attainable(kernel.dof, variances)
    g = regularizer(variances, dof)
    weights = np.zeros_like(variances) if g == 0.0 else 1.0 / (variances + g)
    return FeatureKernel(features, weights, f"Fisher({kernel.kernel!r}, dof={dof:g})")


def has_features(kernel: Any) -> bool:
    """Return whether a kernel, or that of a discriminant, has random Fourier features."""
    terms = terms_of(kernel.kernel if isinstance(kernel, Discriminant) else kernel)
    return terms is not None and all(term.shape in _SPECTRA for term in terms)


def frequencies_of(kernel: Any, n: int, d: int) -> Frequencies:
    """Return n random frequencies of a kernel of d coordinates that `has_features`.

    By the theorem of Bochner a translation-invariant kernel is the expectation of ``cos(w . (x - y))`` over its
    spectral distribution: normal for a Gaussian kernel, Cauchy for a Laplacian, multivariate t for a Matern kernel, and
    a scale mixture of normals for a rational quadratic. The terms of a sum share the frequencies in proportion to their
    weights. Kernels of one shape have the same frequencies up to a factor, whatever their bandwidths.

    References
    ----------
    A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.
    F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar, "Orthogonal Random Features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from btests import Gaussian
    >>> from btests.kernels.random_fourier import frequencies_of
    >>> turns, weights = frequencies_of(Gaussian(2.0), 4096, 2)
    >>> value = float(weights @ np.cos(2 * np.pi * turns @ [1.0, 1.0]))
    >>> abs(value - float(Gaussian(2.0)([[0, 0]], [[1, 1]])[0, 0])) < 0.02
    True
    """
    terms = terms_of(kernel)
    assert terms is not None, "callers ask has_features() first"
    weights = np.array([term.weight for term in terms])
    counts = _shares(weights / weights.sum(), max(n, len(terms)))
    turns = [_spectrum(term, int(count), d) for term, count in zip(terms, counts, strict=True)]
    return Frequencies(np.concatenate(turns) / (2.0 * math.pi), np.repeat(weights / counts, counts))


def _shares(shares: Array, n: int) -> Any:
    """Return whole numbers of sum n in proportion to shares, at least 1 each: (t,) to (t,)."""
    counts = np.maximum(1, np.floor(shares * n)).astype(np.int64)
    while counts.sum() > n:
        counts[np.argmax(counts)] -= 1  # those of a small share have one each, and keep it
    counts[np.argsort(counts - shares * n, kind="stable")[: n - counts.sum()]] += 1
    return counts


def _spectrum(term: Radial, n: int, d: int) -> Array:
    """Return n angular frequencies of a radial term, (n, d); 0 for coordinates that it does not depend on."""
    columns = np.arange(d) if term.columns is None else np.asarray(term.columns)
    rng = np.random.default_rng([_SEED, len(columns)])
    own = _SPECTRA[term.shape](rng, n, len(columns), term)
    found = np.zeros((n, d))
    found[:, columns] = own * term.scale
    return found


def _gaussian(rng: np.random.Generator, n: int, d: int, term: Radial) -> Array:
    return _normals(rng, n, d) * math.sqrt(2.0 * math.log(2.0))  # of 2^-r^2


def _laplacian(rng: np.random.Generator, n: int, d: int, term: Radial) -> Array:
    return rng.standard_cauchy(size=(n, d)) * math.log(2.0)  # of 2^-r


def _matern(rng: np.random.Generator, n: int, d: int, term: Radial) -> Array:
    squares = rng.chisquare(2.0 * term.power + 1.0, size=(n, 1))
    return np.asarray(_normals(rng, n, d) * math.log(2.0) / np.sqrt(squares))


def _rational(rng: np.random.Generator, n: int, d: int, term: Radial) -> Array:
    return np.asarray(_normals(rng, n, d) * np.sqrt(2.0 * rng.gamma(term.power / 2.0, size=(n, 1))))


_SPECTRA = {"gaussian": _gaussian, "laplacian": _laplacian, "matern": _matern, "rational": _rational}


def _normals(rng: np.random.Generator, n: int, d: int) -> Array:
    """Return n normal vectors (n, d), as many of them at a time orthogonal to one another as there are dimensions.

    Each has the standard normal distribution, and directions repeat less than those of independent ones.
    """
    together = min(n, d)
    axes, triangles = np.linalg.qr(rng.normal(size=(-(-n // together), d, together)))
    axes *= np.sign(np.einsum("kii->ki", triangles))[:, None, :]  # uniform over all rotations and reflections
    lengths = np.sqrt(rng.chisquare(d, size=(len(axes) * together, 1)))
    return np.asarray((np.swapaxes(axes, 1, 2).reshape(-1, d) * lengths)[:n])
