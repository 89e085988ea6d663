"""The MMD of all pairs of rows in linear time, by explicit features of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from btests import _core
from btests._text import brief
from btests.block_range import BlockRange
from btests.data.row_permutation import Order
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import TwoSample
from btests.kernels.kernel import Kernel
from btests.kernels.random_fourier import has_features
from btests.plan import Array, Plan
from btests.statistics.fourier_features import FourierFeatures
from btests.statistics.numpy_backend import without_diagonal
from btests.statistics.nystroem_features import NystroemFeatures
from btests.statistics.row_features import FeatureKind, Member, RowValues
from btests.statistics.statistic import Accuracy
from btests.summary import Summary
from btests.symmetries import Bins, RelabelBins, SwapGroups, places_of

# Numbers of the rows of a chunk of the longer sample, about, and most chunks: 2^20 of them for 1e12 rows of 4 columns
# hold 32 MB each, and what is kept of each chunk, a number, takes 8 MB for each level of the chains.
_CHUNK, _MOST_CHUNKS = 2**20, 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Features of some samples: the values that are summed, and the members in terms of them.

    ``places`` are the random orders of x and of y that groups are counted in, None for rows in random order.
    """

    values: tuple[RowValues, ...]
    width: int
    is_compiled: bool
    members: tuple[Member, ...]
    places: tuple[Order | None, Order | None]


@dataclass(frozen=True, slots=True)
class FeatureMMD:
    r"""Squared MMD of all rows in one pass, by explicit features.

    A kernel is about the inner product of features of two rows, and its MMD^2 the squared distance of their averages:
    all pairs of rows count, in time that grows with the number of rows. Sums of Gaussian, Laplacian, Matern and
    rational quadratic kernels have random Fourier features, cosines and sines of projections (Rahimi and Recht 2007).
    All other kernels have Nystroem features, linear in their values with landmarks (Williams and Seeger 2001). All that
    is kept of the rows are sums over groups of them, the groups of one block of all rows, so swaps (or relabellings,
    for samples of different lengths) are exact. Rows are in groups at random, whatever order they are in, and sums add
    over chunks of rows: no row has to move.

    Attributes
    ----------
    kernels : tuple of Kernel
        Kernels, and discriminants of kernels; a single kernel may be given as it is.
    n_frequencies : int
        Frequencies of each kernel. Few of them see some differences poorly, and which ones is left to chance.
    n_landmarks : int
        Landmarks of each kernel without a spectrum, at most: rows of both samples.
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
    n_landmarks: int = 128

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
        n_landmarks: int = 128,
    ) -> None:
        given = kernels if isinstance(kernels, tuple) else (kernels,)
        fields = {"kernels": given, "n_frequencies": n_frequencies, "plain": plain, "streams": streams}
        fields |= {"prepared": prepared, "dtype": dtype, "n_landmarks": n_landmarks}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the sums of one level: groups, or bins and what is in none; values."""
        return _n_groups(n_x, n_y), self._width

    @property
    def _kinds(self) -> tuple[FeatureKind, ...]:
        """Kinds of features; a kernel has those of the first kind that serves it."""
        return FourierFeatures(self.n_frequencies, self.dtype), NystroemFeatures(self.n_landmarks)

    def _served(self) -> list[tuple[FeatureKind, list[int]]]:
        """Return the kinds that are used, each with the places of its kernels."""
        kind_of = [next(i for i, kind in enumerate(self._kinds) if kind.serves(one)) for one in self.kernels]
        return [
            (kind, [place for place, own in enumerate(kind_of) if own == i])
            for i, kind in enumerate(self._kinds)
            if i in kind_of
        ]

    def sizes(self) -> dict[str, int]:
        """Return the numbers of frequencies and landmarks, as far as kernels have them."""
        return {name: size for kind, _ in self._served() for name, size in kind.sizes.items()}

    @property
    def _width(self) -> int:
        return max(kind.width for kind, _ in self._served()) if self.prepared is None else self.prepared.width

    @property
    def _is_compiled(self) -> bool:
        found = self.prepared
        return any(kind.is_compiled for kind, _ in self._served()) if found is None else found.is_compiled

    def engine(self, x: AnySample) -> str:
        """Return the name of what computes the sums: ``numpy`` or ``compiled``."""
        return "compiled" if not self.plain and self._is_compiled else "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        """Raise: features take no Gram matrix."""
        raise ValueError("features have no Gram matrix; take statistic='blocks'")

    def prepare(self, x: AnySample, y: AnySample) -> FeatureMMD:
        """Return the statistic with frequencies, landmarks, and covariances of discriminants, for these samples."""
        if self.prepared is not None:
            return self
        values: list[RowValues] = []
        found: dict[int, tuple[Member, Any]] = {}
        for kind, places in self._served():
            n_levels = sum(one.n_levels for one in values)
            made = kind.make([self.kernels[i] for i in places], x, y, self._width, n_levels)
            values += made.values
            found |= dict(zip(places, zip(made.members, made.kernels, strict=True), strict=True))
        members, kernels = zip(*(found[i] for i in range(len(found))), strict=True)
        streams = self.streams if len(x) >= len(y) else self.streams[::-1]
        orders = places_of(x, streams[0]), places_of(y, streams[1])
        prepared = Prepared(tuple(values), self._width, self._is_compiled, members, orders)
        return replace(self, kernels=kernels, prepared=prepared)

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return the error of kernel values, that of the rounding of what is summed."""
        members = self.prepare(x, y).prepared.members  # type: ignore[union-attr]
        return tuple(Accuracy(0.0, member.error(max(len(x), len(y)))) for member in members)

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        """Return zeros (m,), and sums over the rows of nodes (q, *shape), for each level: see :meth:`members`."""
        of_nodes = [
            sum(self._block(x, y, chunk, block) for block in range(first, last))
            for first, last in pairwise(chunk.edges.tolist())
        ]
        sums = np.stack([np.asarray(one) for one in of_nodes])
        values = np.zeros(chunk.n_blocks)
        return [(values, np.ascontiguousarray(sums[:, :, level])) for level in range(sums.shape[2])]

    def _block(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange, block: int) -> Array:
        """Return the sums of a block, a chunk of rows: kernels that are functions get the same rows in any run."""
        plan = chunk.plan
        of_x, of_y = zip(plan.start(block), plan.start(block + 1), strict=True)
        loops: dict[str, Any] = {"n_threads": chunk.n_threads, "instructions": chunk.instructions}
        return self.side_sums(x, of_x, plan, 0, **loops) + self.side_sums(y, of_y, plan, 1, **loops)

    def side_sums(
        self,
        sample: Sample | RowSlice,
        span: tuple[int, int],
        plan: Plan,
        side: int,
        *,
        n_threads: int | None = 1,
        instructions: str | None = None,
    ) -> Array:
        """Return the sums over groups of the rows of a span of x (side 0) or y (1): (groups, levels, width).

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
        rows = np.ascontiguousarray(sample.rows)
        of_rows = _core.RowGroups(rows, chosen[turn], edges, self.plain, n_threads, instructions)
        found = [values.sums(of_rows, max(plan.n_x, plan.n_y)) for values in self.prepared.values]
        sums = np.concatenate(found, axis=1)
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
    """Raise ``ValueError`` for a kernel that has no random Fourier features, which streams need."""
    for kernel in kernels:
        if not has_features(kernel):
            raise ValueError(
                f"{brief(kernel)} has no random Fourier features: they are for sums of Gaussian, Laplacian, Matern and "
                "rational quadratic kernels; take statistic='blocks'"
            )


def _n_groups(n_x: int, n_y: int) -> int:
    return Plan(n_x, n_y, 1).n_groups if n_x == n_y else Bins.of(n_x, n_y).n_bins + 2


def _paired(member: Member, sums: Array, plan: Plan) -> Summary:
    """Return the summary of samples of one length, from differences of groups: (g, width).

    The value is the average over pairs of rows in different groups: no row is compared with itself or its partner.
    """
    differences = member.features(sums)
    n = float(plan.n_x)
    moments = without_diagonal(differences @ differences.T / (n * (n - 1.0)))
    one = Plan(plan.n_x, plan.n_y, 1)
    return Summary.of(one, np.array([moments.sum() / one.pair_weights().sum()]), moments[None])


def _unpaired(member: Member, sums: Array, plan: Plan) -> Summary:
    """Return the summary of samples of different lengths, from sums of bins: (n_bins + 2, width)."""
    bins = Bins.of(plan.n_x, plan.n_y)
    features, counts = member.features(sums), bins.counts()
    centre = features.sum(axis=0) / counts.sum()
    centred = features - counts[:, None] * centre
    moments = centred @ centred.T
    np.fill_diagonal(moments, np.diag(moments) - member.squares(features, counts, centre))
    symmetry = RelabelBins(bins)
    # A diagonal of averages is the same for both samples, and biases the value where their rows have other norms.
    value = float(bins.mmd(moments, bins.observed())[0]) if member.has_squares else bins.mmd_between(moments)
    return replace(Summary.of(Plan(plan.n_x, plan.n_y, 1), np.array([value]), moments[None]), symmetry=symmetry)
