"""Random Fourier features of kernels with a spectrum, and of their Fisher discriminants: sums over groups of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests import _core
from btests._core import RowGroups
from btests.data.sample import AnySample
from btests.kernels.feature_kernel import FeatureKernel
from btests.kernels.random_fourier import (
    Discriminant,
    FourierMap,
    Frequencies,
    cosines_and_sines,
    discriminant,
    frequencies_of,
    has_features,
    uncorrelated,
)
from btests.plan import Array
from btests.statistics.row_features import Made, padded
from btests.symmetries import pooled_rows

# Doublings of an angle from the first level of a chain to the last, at most: 2^10 roundings are 2e-13.
_MOST_DOUBLINGS = 10

# Bits after the point of a cosine or sine, at most, and in float32.
_MOST_BITS, _MOST_BITS_IN_FLOAT32 = 40, 20

# Largest error of cosines and sines in float32 for rows within so many standard deviations of the origin, beyond which
# they are computed in float64. Affordable frequencies are several hundredths away from the kernel.
_LARGEST_ERROR, _USUAL = 0.01, 4.0

# Rows whose features are held at once by numpy.
_ROWS = 2048

#: Rows that the covariance of features is estimated from, about.
COVARIANCE_ROWS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyChain:
    """Frequencies that are powers of two apart: one cosine and sine serves them all.

    Attributes
    ----------
    turns : ndarray of shape (f, d)
        The lowest frequencies, in turns for a unit of each coordinate.
    doublings : tuple of int
        How often angles are doubled for each level, increasing.
    in_float32 : bool
        Whether compiled loops compute in float32.
    """

    turns: Array
    doublings: tuple[int, ...]
    in_float32: bool = False


def chains_of(frequencies: Sequence[Frequencies]) -> tuple[list[FrequencyChain], list[tuple[int, int]]]:
    """Return chains that have all frequencies, and for each set of them its chain and level."""
    left = sorted(range(len(frequencies)), key=lambda i: float(np.abs(frequencies[i].turns).max(initial=0.0)))
    chains: list[FrequencyChain] = []
    places: dict[int, tuple[int, int]] = {}
    while left:
        base = frequencies[left[0]].turns
        doublings: list[int] = []
        for i in list(left):
            k = _doublings(base, frequencies[i].turns)
            if k is not None:
                if k not in doublings:  # they come in increasing order
                    doublings.append(k)
                places[i] = len(chains), doublings.index(k)
                left.remove(i)
        chains.append(FrequencyChain(base, tuple(doublings)))
    return chains, [places[i] for i in range(len(frequencies))]


def _doublings(base: Array, turns: Array) -> int | None:
    """Return k with ``turns = 2^k base`` to the last bit, None if there is none up to the largest allowed."""
    if base.shape != turns.shape:
        return None
    low, high = float(np.abs(base).max(initial=0.0)), float(np.abs(turns).max(initial=0.0))
    ratio = high / low if low > 0.0 else 1.0
    k = round(math.log2(ratio)) if 0.0 < ratio < math.inf else -1
    return k if 0 <= k <= _MOST_DOUBLINGS and np.array_equal(np.ldexp(base, k), turns) else None


def bits_for(n_rows: int, *, in_float32: bool = False) -> int:
    """Return the bits after the point of cosines and sines whose sums over so many rows are exact in float64."""
    return min(_MOST_BITS_IN_FLOAT32 if in_float32 else _MOST_BITS, 52 - int(n_rows).bit_length())


def float32_errors(chain: FrequencyChain, spread: Array) -> list[float]:
    """Return bounds of the errors of cosines and sines in float32, for each level of a chain.

    Coordinates, frequencies and d products are rounded, so a projection is off by (d + 2) 2^-24 of the sum of its
    absolute terms; cosine and sine are off by 2^-22 at most, and doublings of the angle double all of it.

    The bound is for rows within four roots of ``spread``, the mean squared distances from the origin: (d,).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        turns = float((np.abs(chain.turns) @ (_USUAL * np.sqrt(spread))).max(initial=0.0))
    first = 2.0 * math.pi * (len(spread) + 2) * 2.0**-24 * turns + 2.0**-22
    return [math.ldexp(first, k) for k in chain.doublings]


def in_float32(chain: FrequencyChain, spread: Array) -> FrequencyChain:
    """Return a chain that is computed in float32 if that is accurate enough for rows of such a spread."""
    return replace(chain, in_float32=max(float32_errors(chain, spread)) <= _LARGEST_ERROR)


def fourier_sums(chain: FrequencyChain, groups: _core.RowGroups, origin: Array, bits: int) -> Array:
    """Return sums of cosines and sines over groups of rows for each level of a chain: (n_groups, n_levels, 2 f).

    Cosines and sines are rounded to multiples of ``2**-bits``, far below the noise of any sample: sums are exact.

    Parameters
    ----------
    chain : FrequencyChain
        Frequencies.
    groups : RowGroups
        Rows of numbers in groups. Plain numpy is always in float64.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    bits : int
        See :func:`bits_for`.
    """
    if groups.plain or not _core.is_available():
        found = _plain_sums(chain, groups, origin, bits)
    else:
        steps = np.diff(chain.doublings, prepend=0).astype(np.int32)
        found = _core.fourier_sums(
            groups, origin=origin, frequencies=chain.turns, doublings=steps, bits=bits, in_float32=chain.in_float32
        )
    return found.reshape(*found.shape[:2], -1)


def _plain_sums(chain: FrequencyChain, groups: _core.RowGroups, origin: Array, bits: int) -> Array:
    group = groups.numbers
    found = np.zeros((groups.n_groups, len(chain.doublings), 2, len(chain.turns)))
    for first in range(0, len(group), _ROWS):
        some = groups.rows[groups.order[first : first + _ROWS]]
        cosines, sines = np.split(cosines_and_sines(chain.turns, some, origin), 2, axis=1)
        done = 0
        for level, doublings in enumerate(chain.doublings):
            for _ in range(doublings - done):
                cosines, sines = 1.0 - 2.0 * sines * sines, 2.0 * cosines * sines
            done = doublings
            for part, values in enumerate((cosines, sines)):
                np.add.at(found[:, level, part], group[first : first + _ROWS], np.rint(np.ldexp(values, bits)))
    return np.asarray(np.ldexp(found, -bits))


@dataclass(frozen=True, slots=True, eq=False)
class FourierValues:
    """Cosines and sines of the projections of rows, for frequencies that are powers of two apart.

    Attributes
    ----------
    chain : FrequencyChain
        Frequencies.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    width : int
        Columns of the sums; those beyond cosines and sines are 0.
    """

    chain: FrequencyChain
    origin: Array
    width: int

    @property
    def n_levels(self) -> int:
        """Number of sets of frequencies."""
        return len(self.chain.doublings)

    def sums(self, groups: RowGroups, n_rows: int) -> Array:
        """Return sums over groups of rows: (n_groups, n_levels, width)."""
        bits = bits_for(n_rows, in_float32=self.chain.in_float32)
        return padded(fourier_sums(self.chain, groups, self.origin, bits), self.width)


@dataclass(frozen=True, slots=True, eq=False)
class FourierMember:
    """A kernel in terms of the sums of cosines and sines of one level of the chains.

    Attributes
    ----------
    level : int
        Level, of all levels of all values.
    factors : ndarray of shape (2 f,)
        Roots of the weights of cosines and sines.
    kernel : FeatureKernel, optional
        Discriminant, whose features are linear in those.
    float32_error : float
        Error of cosines and sines in float32; 0.0 in float64.
    """

    level: int
    factors: Array
    kernel: FeatureKernel | None = None
    float32_error: float = 0.0

    @property
    def has_squares(self) -> bool:
        """Whether squared norms are known from sums: not those of a discriminant."""
        return self.kernel is None

    def features(self, sums: Array) -> Array:
        """Return sums of the features of the member from those of cosines and sines: (m, width) to (m, r)."""
        own = sums[:, : len(self.factors)]
        if self.kernel is None:
            return np.asarray(own * self.factors)
        return np.asarray(self.kernel.map.combine(own) * np.sqrt(self.kernel.weights))

    def squares(self, features: Array, counts: Array, centre: Array) -> Array:
        """Return sums of squared norms of centred features, from sums (m, r) of m groups of so many rows: (m,).

        A squared cosine and sine are 1 together. Of a discriminant they are the average of the rows that its covariance
        was estimated from.
        """
        if self.kernel is not None:
            assert isinstance(self.kernel.map, FourierMap)
            return counts * float(self.kernel.weights @ self.kernel.map.variances)
        norm = float(np.sum(self.factors**2)) / 2.0
        return np.asarray(counts * (norm + centre @ centre) - 2.0 * (features @ centre))

    def error(self, n_rows: int) -> float:
        """Return the rounding of cosines and sines."""
        return self.float32_error or 2.0 ** -bits_for(n_rows)


@dataclass(frozen=True, slots=True)
class FourierFeatures:
    """Random Fourier features: for sums of kernels with a spectrum, of rows of numbers.

    Attributes
    ----------
    n_frequencies : int
        Frequencies of each kernel.
    dtype : {"float64", "float32"}
        Arithmetic of the compiled loops.
    """

    n_frequencies: int
    dtype: str = "float64"

    @property
    def width(self) -> int:
        """Cosines and sines."""
        return 2 * self.n_frequencies

    @property
    def sizes(self) -> dict[str, int]:
        """Number of frequencies."""
        return {"n_frequencies": self.n_frequencies}

    @property
    def is_compiled(self) -> bool:
        """Whether loops are compiled."""
        return _core.is_available()

    def serves(self, kernel: Any) -> bool:
        """Return whether all terms of a kernel have a spectrum."""
        return has_features(kernel)

    def make(self, kernels: Sequence[Any], x: AnySample, y: AnySample, width: int, first_level: int) -> Made:
        """Return features of each kernel; kernels of one shape share cosines and sines."""
        bases = [kernel.kernel if isinstance(kernel, Discriminant) else kernel for kernel in kernels]
        found = [frequencies_of(kernel, self.n_frequencies, x.width) for kernel in bases]
        chains, places = chains_of(found)
        first = first_level + np.append(0, np.cumsum([len(chain.doublings) for chain in chains]))
        location = (x if len(x) >= len(y) else y).location
        origin, errors = location.origin, [[0.0] * len(chain.doublings) for chain in chains]
        if self.dtype == "float32":
            chains = [in_float32(chain, location.spread) for chain in chains]
            errors = [
                float32_errors(chain, location.spread) if chain.in_float32 else own
                for chain, own in zip(chains, errors, strict=True)
            ]
        # Discriminants of one kernel share a map: its eigenvectors are what takes time.
        whitened_bases = sorted({bases.index(one.kernel) for one in kernels if isinstance(one, Discriminant)})
        rows = pooled_rows(x, y, COVARIANCE_ROWS) if whitened_bases else origin[None]
        maps = {i: uncorrelated(found[i], origin, rows) for i in whitened_bases}
        named, members = [], []
        for kernel, own, (chain, level) in zip(kernels, found, places, strict=True):
            is_discriminant = isinstance(kernel, Discriminant)
            whitened = discriminant(kernel, maps[bases.index(kernel.kernel)]) if is_discriminant else None
            named.append(whitened or kernel)
            factors = np.tile(np.sqrt(own.weights), 2)
            members.append(FourierMember(int(first[chain]) + level, factors, whitened, errors[chain][level]))
        values = tuple(FourierValues(chain, origin, width) for chain in chains)
        return Made(values, tuple(members), tuple(named))
