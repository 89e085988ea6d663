"""Sums of random Fourier features of rows whose number is unknown, as whole numbers and fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests._text import brief
from btests.data.keyed_permutation import ShuffledRuns
from btests.data.sample import Location, RowSlice, Sample
from btests.kernels.kernel import Kernel
from btests.pairwise_sum import Part
from btests.plan import MAX_GROUPS, Array, Plan
from btests.statistics.feature_mmd import FeatureMMD, check_features
from btests.statistics.fourier_features import bits_for
from btests.statistics.statistic import Accuracy, with_accuracy
from btests.summary import Summary

#: Rows of a run, one in each group.
RUN = MAX_GROUPS

#: Frequencies of each kernel: see docs/features.md.
N_FREQUENCIES = 128

# Frequencies, and columns, of a file at most.
_MOST = 2**16

# Rows that are summed at a time. Cosines and sines of so many are rounded to multiples of 2^-32, by at most 1.2e-10.
_ROWS = 2**19


@dataclass(frozen=True, slots=True)
class StreamedFeatures:
    """Features of the rows of a stream.

    Row p of x and row p of y are partners, in one group: rows of 32 consecutive numbers are in 32 groups, in a random
    order that a seed and the number of the row decide. Partners swap under the null hypothesis, whatever their group
    depends on but their values. Only whole runs of 32 partners count, so groups have one size, and sums of several
    streams add.

    Sums are kept as whole numbers and fractions, which are multiples of 2^-32: both are exact in float64 up to 2^52
    rows, so neither batches nor the order of additions leave a trace.

    Attributes
    ----------
    n_frequencies : int
        Frequencies of each kernel.
    origin : tuple of float
        Subtracted from every row.
    """

    n_frequencies: int
    origin: tuple[float, ...]

    def prepared(self, kernels: tuple[Kernel, ...], key: tuple[int, ...] = (0,)) -> FeatureMMD:
        """Return the statistic with its frequencies; ``key`` is that of the groups of rows."""
        # Frequencies depend on the number of columns alone, and the origin is the median of these rows.
        some = Sample(np.array([self.origin, self.origin], dtype=np.float64))
        found = FeatureMMD(kernels, self.n_frequencies).prepare(some, some)
        assert found.prepared is not None
        places = (ShuffledRuns(RUN, key),) * 2
        return replace(found, prepared=replace(found.prepared, places=places))

    def n_levels(self, kernels: tuple[Kernel, ...]) -> int:
        """Return how many sets of frequencies have sums of their own."""
        found = self.prepared(kernels).prepared
        assert found is not None
        return sum(one.n_levels for one in found.values)

    def plan(self, kernels: tuple[Kernel, ...], n: int) -> Plan:
        """Return the plan of n rows of each sample: one block, whose moments are sums over rows."""
        return Plan(n, n, 1, len(kernels), (2 * RUN, 2 * self.n_frequencies), adds_rows=True)

    def members(self, kernels: tuple[Kernel, ...], found: Sequence[Summary]) -> tuple[Summary, ...]:
        """Return the summary of each kernel from the sums of all levels, in one part or several."""
        n, shape = found[0].plan.n_x, (RUN, 2 * self.n_frequencies)
        plan, zero = Plan(n, n, 1, len(kernels), shape), np.zeros(1)
        sums = [carried(summary.moments.sum(axis=0)) for summary in found]
        levels = [Summary.of(plan, zero, (one[:RUN] + one[RUN:])[None]) for one in sums]
        accuracy = Accuracy(0.0, 2.0 ** -bits_for(_ROWS))
        return with_accuracy(self.prepared(kernels).members(levels), (accuracy,) * len(kernels))


def streamed_features(entry: Any, kernels: tuple[Kernel, ...]) -> StreamedFeatures | None:
    """Return features from what a file says of them; raise ``ValueError`` where they do not fit the kernels."""
    if entry is None:
        return None
    n, origin = entry["n_frequencies"], tuple(float(value) for value in entry["origin"])
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= _MOST or not 1 <= len(origin) <= _MOST:
        raise ValueError(f"no features have {brief(n)} frequencies of {len(origin)} columns")
    if not all(map(math.isfinite, origin)):
        raise ValueError("the origin of features must be finite")
    check_features(kernels)
    return StreamedFeatures(n, origin)


def check_sums(features: StreamedFeatures | None, kernels: tuple[Kernel, ...], found: Sequence[Summary]) -> None:
    """Raise ``ValueError`` unless all parts of summaries that were read from a file are as features leave them."""
    for part in (part for summary in found for part in summary.parts):
        if part.plan.adds_rows != (features is not None):
            raise ValueError(f"part {part.number} is of blocks, and others are of features")
        if features is not None and not _is_sum(part, features.plan(kernels, part.plan.n_x)):
            raise ValueError(f"the sums of part {part.number} are not those of {part.plan.n_x} rows")


def _is_sum(part: Part, plan: Plan) -> bool:
    """Return whether a part has the plan of its rows, whole runs of them, and whole numbers and fractions."""
    same = part.plan == plan and part.plan.moment_shape == plan.moment_shape and plan.n_x % RUN == 0
    whole, fraction = part.moments[:, :RUN], part.moments[:, RUN:]
    with np.errstate(invalid="ignore"):
        return bool(
            same
            and not part.values.any()
            and np.all(np.abs(whole) <= plan.n_x)
            and np.all(whole == np.floor(whole))
            and np.all((fraction >= 0.0) & (fraction < 1.0))
        )


def carried(sums: Array) -> Array:
    """Return whole numbers and fractions (2 g, ...) with the fractions in [0, 1), which are the same for equal sums."""
    half = len(sums) // 2
    carry = np.floor(sums[half:])
    return np.concatenate([sums[:half] + carry, sums[half:] - carry])


def paired_sums(statistic: FeatureMMD, x: Any, y: Any, first: int, n_threads: int | None) -> Array:
    """Return sums over partners from number ``first`` on as whole numbers and fractions: (2 g, levels, 2 f)."""
    plan, total = Plan(_ROWS, _ROWS, 1), None
    for start in range(0, len(x), _ROWS):
        stop = min(len(x), start + _ROWS)
        span = first + start, first + stop
        for side, rows in enumerate((x, y)):
            origin = np.zeros(rows.shape[1])
            own = RowSlice(np.ascontiguousarray(rows[start:stop]), span[0], Location(origin, origin))
            sums = statistic.side_sums(own, span, plan, side, n_threads=n_threads)
            both = np.concatenate([np.zeros_like(sums), sums])
            total = both if total is None else carried(total + both)
    assert total is not None, "there are rows"
    return carried(total)


def level_summaries(sums: Array, plan: Plan, number: int) -> tuple[Summary, ...]:
    """Return the summary of each level of sums (2 g, levels, 2 f), as part ``number``."""
    span, nodes = np.array([[0, 1]], dtype=np.int64), np.array([[0, 0]], dtype=np.int64)
    return tuple(
        Summary((Part(number, plan, span, np.zeros(1), nodes, np.ascontiguousarray(sums[:, level])[None]),))
        for level in range(sums.shape[1])
    )
