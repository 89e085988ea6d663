"""What a stream keeps of the rows that it has passed: summaries of blocks, or sums of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from btests.data.sample import Location, RowSlice, Sample
from btests.data.source import Rows
from btests.kernels.kernel import Kernel
from btests.plan import Array, Plan
from btests.statistics import Accuracy, FeatureMMD, Statistic, plan_for, summarize_blocks, with_accuracy
from btests.statistics.checks import overflow_error
from btests.statistics.feature_stream import N_FREQUENCIES, RUN, StreamedFeatures, carried, level_summaries, paired_sums
from btests.summary import Summary


class Accumulator(Protocol):
    """Rows of full blocks, or of full runs, as a value that grows."""

    @property
    def statistic(self) -> Statistic:
        """The statistic, with its kernels."""
        ...

    @property
    def features(self) -> StreamedFeatures | None:
        """Features whose sums are kept; None for blocks."""
        ...

    def add(self, x: Rows, y: Rows, numbers: tuple[int, int], n_threads: int | None, *, goes_on: bool = True) -> None:
        """Add blocks ``numbers[0] .. numbers[1] - 1``, which have these rows; nothing is added on an error.

        With ``goes_on``, others will follow.
        """
        ...

    def summaries(self, n: int, part: int) -> tuple[Summary, ...]:
        """Return the summaries of all n blocks, as a part of several."""
        ...


@dataclass(slots=True)
class BlockSums:
    """Summaries of consecutive blocks, each of more blocks than the next.

    Attributes
    ----------
    statistic : Statistic
        Values and moments of blocks.
    sizes : (int, int)
        Rows of x and of y in a block.
    location : Location
        Location and scale of the first rows.
    accuracy : sequence of Accuracy
        Scale and error of each kernel.
    """

    statistic: Statistic
    sizes: tuple[int, int]
    location: Location
    accuracy: Sequence[Accuracy]
    _found: list[tuple[Summary, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, statistic: Statistic, sizes: tuple[int, int], x: Rows, y: Rows) -> BlockSums:
        """Return no blocks, for a statistic that is prepared for the first rows."""
        samples = Sample(x), Sample(y)
        accuracy = statistic.accuracy(*samples)
        return cls(statistic.prepare(*samples), sizes, samples[0].location, accuracy)

    @property
    def features(self) -> None:
        """None: these are blocks."""
        return

    def add(self, x: Rows, y: Rows, numbers: tuple[int, int], n_threads: int | None, *, goes_on: bool = True) -> None:
        """Add summaries of blocks; join those that are not longer than what follows.

        So there are a few for any number of updates, and a value is copied as many times at most.
        """
        plan = self._open_plan(numbers[1]) if goes_on else self._plan(numbers[1])
        x_slice, y_slice = (
            RowSlice(rows, numbers[0] * b, self.location) for rows, b in zip((x, y), self.sizes, strict=True)
        )
        found = summarize_blocks(self.statistic, x_slice, y_slice, plan, numbers, n_threads=n_threads, goes_on=goes_on)
        if not all(np.isfinite(summary.values).all() and np.isfinite(summary.moments).all() for summary in found):
            raise overflow_error()
        self._found.append(found)
        while len(self._found) > 1 and self._found[-2][0].values.size <= self._found[-1][0].values.size:
            self._found.append(joined([self._found.pop() for _ in range(2)], plan))

    def summaries(self, n: int, part: int) -> tuple[Summary, ...]:
        """Return the summaries of all n blocks."""
        return with_accuracy(joined(self._found, self._plan(n), part), self.accuracy)

    def _plan(self, n_blocks: int) -> Plan:
        return plan_for(self.statistic, n_blocks * self.sizes[0], n_blocks * self.sizes[1], min(self.sizes))

    def _open_plan(self, n_blocks: int) -> Plan:
        """Return a plan whose last stratum is full: sums over the last of ``n_blocks`` blocks stay open for others."""
        level = self._plan(n_blocks).stratum_level
        return self._plan(-(-n_blocks >> level) << level)


@dataclass(slots=True)
class FeatureSums:
    """Sums of features over groups of rows; a block is a run of rows, one in each group.

    Attributes
    ----------
    statistic : FeatureMMD
        Prepared for the stream: see :meth:`StreamedFeatures.prepared`.
    features : StreamedFeatures
        Number of frequencies, and origin.
    """

    statistic: FeatureMMD
    features: StreamedFeatures
    _sums: Array | None = None

    @classmethod
    def of(cls, kernels: tuple[Kernel, ...], origin: Array, key: tuple[int, ...]) -> FeatureSums:
        """Return no sums, of features of some kernels about an origin, over groups of a key."""
        features = StreamedFeatures(N_FREQUENCIES, tuple(origin.tolist()))
        return cls(features.prepared(kernels, key), features)

    def add(self, x: Rows, y: Rows, numbers: tuple[int, int], n_threads: int | None, *, goes_on: bool = True) -> None:
        """Add the sums over rows of some runs."""
        found = paired_sums(self.statistic, x, y, numbers[0] * RUN, n_threads)
        self._sums = found if self._sums is None else carried(self._sums + found)

    def summaries(self, n: int, part: int) -> tuple[Summary, ...]:
        """Return the sums of each level of the frequencies over all n runs."""
        assert self._sums is not None
        return level_summaries(self._sums, self.features.plan(self.statistic.kernels, n * RUN), part)


def joined(summaries: Sequence[tuple[Summary, ...]], plan: Plan, number: int = 0) -> tuple[Summary, ...]:
    """Return the summaries of consecutive blocks as one for each kernel, as part ``number`` of a plan."""
    return tuple(
        Summary.join(replace(one, parts=(replace(one.parts[0], plan=plan, number=number),)) for one in of_one)
        for of_one in zip(*summaries, strict=True)
    )
