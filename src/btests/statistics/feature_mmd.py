"""The MMD of all pairs of rows in linear time, by random Fourier features of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from btests import _core
from btests._text import brief
from btests.data.row_permutation import Order
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import TwoSample
from btests.kernels.feature_kernel import FeatureKernel
from btests.kernels.kernel import Kernel
from btests.kernels.random_fourier import Discriminant, FourierMap, discriminant, frequencies_of, has_features
from btests.pairwise_sum import starts
from btests.plan import Array, Index, Plan
from btests.statistics.fourier import Chain, bits_for, chains_of, float32_errors, fourier_sums, in_float32
from btests.statistics.numpy_backend import without_diagonal
from btests.statistics.statistic import Accuracy
from btests.summary import Summary
from btests.symmetries import Bins, RelabelBins, SwapGroups, places_of, pooled_rows

# Rows that the covariance of features is estimated from, about.
_COVARIANCE_ROWS = 1024

# Numbers of the rows of a chunk of the longer sample, about, and most chunks: 2^20 of them for 1e12 rows of 4 columns
# hold 32 MB each, and what is kept of each chunk, a number, takes 8 MB for each level of the chains.
_CHUNK, _MOST_CHUNKS = 2**20, 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A kernel in terms of the sums of cosines and sines of one level of the chains.

    Attributes
    ----------
    level : int
        Level, of all levels of all chains.
    factors : ndarray of shape (2 f,)
        Roots of the weights of cosines and sines.
    kernel : FeatureKernel, optional
        Discriminant, whose features are linear in those.
    """

    level: int
    factors: Array
    kernel: FeatureKernel | None = None

    def features(self, sums: Array) -> Array:
        """Return sums of the features of the member from those of cosines and sines: (m, 2 f) to (m, r)."""
        if self.kernel is None:
            return np.asarray(sums * self.factors)
        return np.asarray(self.kernel.map.combine(sums) * np.sqrt(self.kernel.weights))

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


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Features of some samples: their origin, the frequencies, and the members in terms of them.

    ``places`` are the random orders of x and of y that groups are counted in, None for rows in random order.
    """

    origin: Array
    chains: tuple[Chain, ...]
    members: tuple[Member, ...]
    places: tuple[Order | None, Order | None]


@dataclass(frozen=True, slots=True)
class FeatureMMD:
    r"""Squared MMD of all rows in one pass, by random Fourier features (Rahimi and Recht 2007).

    A kernel is about the inner product of F cosines and F sines of projections of a row, and its MMD^2 the squared
    distance of their averages: all pairs of rows count, in time that grows with the number of rows. All that is kept of
    the rows are sums over groups of them, the groups of one block of all rows, so swaps (or relabellings, for samples
    of different lengths) are exact. Rows are in groups at random, whatever order they are in, and sums add over chunks
    of rows: no row has to move.

    Attributes
    ----------
    kernels : tuple of Kernel
        Kernels with radial terms, and discriminants of such kernels; a single kernel may be given as it is.
    n_frequencies : int
        Frequencies of each kernel. Few of them see some differences poorly, and which ones is left to chance.
    plain : bool
        Whether to compute in plain numpy even where loops are compiled.
    streams : (int, int)
        Random streams of the orders of x and y, the same for paired rows.
    dtype : {"float64", "float32"}
        Arithmetic of projections, cosines and sines in compiled loops. Frequencies whose errors in float32 would be a
        hundredth or more for rows of usual size are taken in float64 all the same.
    """

    kernels: tuple[Any, ...]
    n_frequencies: int = 64
    plain: bool = False
    streams: tuple[int, int] = (1, 2)
    prepared: Prepared | None = field(default=None, repr=False, compare=False)
    dtype: str = "float64"

    design: ClassVar[TwoSample] = TwoSample()
    symmetry: ClassVar[SwapGroups] = SwapGroups()
    #: Sums do not depend on the order of rows: files are read as they are stored.
    adds_rows: ClassVar[bool] = True

    def __init__(
        self,
        kernels: Kernel | tuple[Any, ...],
        n_frequencies: int = 64,
        plain: bool = False,
        streams: tuple[int, int] = (1, 2),
        prepared: Prepared | None = None,
        *,
        dtype: str = "float64",
    ) -> None:
        given = kernels if isinstance(kernels, tuple) else (kernels,)
        if prepared is None:
            check_features(given)
        fields = {"kernels": given, "n_frequencies": n_frequencies, "plain": plain, "streams": streams, "dtype": dtype}
        object.__setattr__(self, "prepared", prepared)
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the sums of one level: groups, or bins and what is in none; 2 f."""
        return _n_groups(n_x, n_y), 2 * self.n_frequencies

    def engine(self, x: AnySample) -> str:
        """Return the name of what computes the sums: ``numpy`` or ``compiled (...)``."""
        compiled = not self.plain and _core.is_available()
        return f"compiled ({_core.instruction_set()})" if compiled else "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        """Raise: features take no Gram matrix."""
        raise ValueError("features have no Gram matrix; take statistic='blocks'")

    def prepare(self, x: AnySample, y: AnySample) -> FeatureMMD:
        """Return the statistic with frequencies, and covariances of discriminants, for these samples."""
        if self.prepared is not None:
            return self
        if not x.is_numeric:
            raise TypeError("random Fourier features are of rows of numbers, and these are objects")
        bases = [kernel.kernel if isinstance(kernel, Discriminant) else kernel for kernel in self.kernels]
        found = [frequencies_of(kernel, self.n_frequencies, x.width) for kernel in bases]
        chains, places = chains_of(found)
        first = np.append(0, np.cumsum([len(chain.doublings) for chain in chains]))
        location = (x if len(x) >= len(y) else y).location
        origin = location.origin
        if self.dtype == "float32":
            chains = [in_float32(chain, location.spread) for chain in chains]
        rows: Array | None = None
        kernels, members = [], []
        for kernel, own, (chain, level) in zip(self.kernels, found, places, strict=True):
            whitened = None
            if isinstance(kernel, Discriminant):
                if rows is None:
                    rows = pooled_rows(x, y, _COVARIANCE_ROWS)
                whitened = discriminant(kernel, own, origin, rows)
            kernels.append(kernel if whitened is None else whitened)
            members.append(Member(int(first[chain]) + level, np.tile(np.sqrt(own.weights), 2), whitened))
        streams = self.streams if len(x) >= len(y) else self.streams[::-1]
        orders = places_of(x, streams[0]), places_of(y, streams[1])
        prepared = Prepared(origin, tuple(chains), tuple(members), orders)
        return replace(self, kernels=tuple(kernels), prepared=prepared)

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return the error of kernel values, that of cosines and sines, which are rounded."""
        exact = 2.0 ** -bits_for(max(len(x), len(y)))
        if self.prepared is None or self.dtype == "float64":
            return (Accuracy(0.0, exact),) * len(self.kernels)
        spread = (x if len(x) >= len(y) else y).location.spread
        errors = [
            error if chain.in_float32 else exact
            for chain in self.prepared.chains
            for error in float32_errors(chain, spread)
        ]
        return tuple(Accuracy(0.0, errors[member.level]) for member in self.prepared.members)

    def blocks(
        self,
        x: Sample | RowSlice,
        y: Sample | RowSlice,
        plan: Plan,
        numbers: tuple[int, int],
        nodes: Index,
        *,
        n_threads: int | None = 1,
        goes_on: bool = False,
    ) -> list[tuple[Array, Array]]:
        """Return zeros (m,), and sums over the rows of nodes (q, *shape), for each level: see :meth:`members`."""
        edges = [plan.start(block) for block in (*starts(nodes).tolist(), numbers[1])]
        of_nodes = []
        for (x_first, y_first), (x_last, y_last) in pairwise(edges):
            of_x = self.side_sums(x, (x_first, x_last), plan, 0, n_threads)
            of_nodes.append(of_x + self.side_sums(y, (y_first, y_last), plan, 1, n_threads))
        sums = np.stack(of_nodes)
        values = np.zeros(numbers[1] - numbers[0])
        return [(values, np.ascontiguousarray(sums[:, :, level])) for level in range(sums.shape[2])]

    def side_sums(
        self, sample: Sample | RowSlice, span: tuple[int, int], plan: Plan, side: int, n_threads: int | None = 1
    ) -> Array:
        """Return the sums over groups of the rows of a span of x (side 0) or y (1): (groups, levels, 2 f).

        Those of y are negative where groups swap, so that sums of any rows of both samples add.
        """
        assert self.prepared is not None
        first, last = span
        positions = np.arange(first, last, dtype=np.int64)
        chosen = positions - sample.start if sample.order is None else sample.order[first:last]
        if isinstance(sample, RowSlice) and sample.positions is not None:
            positions = sample.positions[first - sample.start : last - sample.start]
        places = self.prepared.places[side]
        positions = positions if places is None else places.positions(positions)
        n_groups = _n_groups(plan.n_x, plan.n_y)
        groups = positions % n_groups if plan.paired else Bins.of(plan.n_x, plan.n_y).numbers(positions, side)
        turn = np.argsort(groups.astype(np.int16), kind="stable")  # a radix sort
        edges = np.append(0, np.cumsum(np.bincount(groups, minlength=n_groups)))
        rows, n = np.ascontiguousarray(sample.rows), max(plan.n_x, plan.n_y)
        options: dict[str, Any] = {"plain": self.plain, "n_threads": n_threads}
        of_chains = [
            fourier_sums(
                chain,
                rows,
                chosen[turn],
                edges,
                origin=self.prepared.origin,
                bits=bits_for(n, in_float32=chain.in_float32),
                **options,
            )
            for chain in self.prepared.chains
        ]
        sums = np.concatenate(of_chains, axis=1)
        return -sums if side == 1 and plan.paired else sums

    def members(self, found: Sequence[Summary]) -> list[Summary]:
        """Return the summary of each kernel, one block of all rows, from sums of features of all levels."""
        assert self.prepared is not None
        plan = found[0].plan
        sums = [summary.moments.sum(axis=0) for summary in found]
        summarize = _paired if plan.paired else _unpaired
        return [summarize(member, sums[member.level], plan) for member in self.prepared.members]


def features_chunk(x: AnySample, y: AnySample) -> int:
    """Return the rows of the shorter sample in a chunk: about 2 MB of numbers of the longer one."""
    short, long = sorted((len(x), len(y)))
    return max(1, min(short, max(short // _MOST_CHUNKS, round(_CHUNK / max(1, x.width) * short / long))))


def check_features(kernels: Sequence[Any]) -> None:
    """Raise ``ValueError`` for a kernel that has no random Fourier features."""
    for kernel in kernels:
        if not has_features(kernel):
            raise ValueError(
                f"{brief(kernel)} has no random Fourier features: they are for sums of Gaussian, Laplacian, Matern and "
                "rational quadratic kernels; take statistic='blocks'"
            )


def _n_groups(n_x: int, n_y: int) -> int:
    return Plan(n_x, n_y, 1).n_groups if n_x == n_y else Bins.of(n_x, n_y).n_bins + 2


def _paired(member: Member, sums: Array, plan: Plan) -> Summary:
    """Return the summary of samples of one length, from differences of groups: (g, 2 f).

    The value is the average over pairs of rows in different groups: no row is compared with itself or its partner.
    """
    differences = member.features(sums)
    n = float(plan.n_x)
    moments = without_diagonal(differences @ differences.T / (n * (n - 1.0)))
    one = Plan(plan.n_x, plan.n_y, 1)
    return Summary.of(one, np.array([moments.sum() / one.pair_weights().sum()]), moments[None])


def _unpaired(member: Member, sums: Array, plan: Plan) -> Summary:
    """Return the summary of samples of different lengths, from sums of bins: (n_bins + 2, 2 f)."""
    bins = Bins.of(plan.n_x, plan.n_y)
    features, counts = member.features(sums), bins.counts()
    centre = features.sum(axis=0) / counts.sum()
    centred = features - counts[:, None] * centre
    moments = centred @ centred.T
    np.fill_diagonal(moments, np.diag(moments) - member.squares(features, counts, centre))
    symmetry = RelabelBins(bins)
    value = float(bins.mmd(moments, bins.observed())[0])
    return replace(Summary.of(Plan(plan.n_x, plan.n_y, 1), np.array([value]), moments[None]), symmetry=symmetry)
