"""Random Fourier features of kernels with a spectrum, and of their Fisher discriminants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests import _core
from btests._core import RowGroups
from btests.data.sample import AnySample
from btests.kernels.feature_kernel import FeatureKernel
from btests.kernels.random_fourier import Discriminant, FourierMap, discriminant, frequencies_of, has_features
from btests.plan import Array
from btests.statistics.fourier import Chain, bits_for, chains_of, float32_errors, fourier_sums, in_float32
from btests.statistics.row_features import Made, padded
from btests.symmetries import pooled_rows

#: Rows that the covariance of features is estimated from, about.
COVARIANCE_ROWS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class FourierValues:
    """Cosines and sines of the projections of rows, for frequencies that are powers of two apart.

    Attributes
    ----------
    chain : Chain
        Frequencies.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    width : int
        Columns of the sums; those beyond cosines and sines are 0.
    """

    chain: Chain
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
        rows: Array | None = None
        named, members = [], []
        for kernel, own, (chain, level) in zip(kernels, found, places, strict=True):
            whitened = None
            if isinstance(kernel, Discriminant):
                if rows is None:
                    rows = pooled_rows(x, y, COVARIANCE_ROWS)
                whitened = discriminant(kernel, own, origin, rows)
            named.append(kernel if whitened is None else whitened)
            factors = np.tile(np.sqrt(own.weights), 2)
            members.append(FourierMember(int(first[chain]) + level, factors, whitened, errors[chain][level]))
        values = tuple(FourierValues(chain, origin, width) for chain in chains)
        return Made(values, tuple(members), tuple(named))
