"""Summaries of all blocks of two samples, wherever their rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from btests.data.sample import AnySample, Sample
from btests.plan import Plan
from btests.statistics.mmd import MMD
from btests.statistics.protocol import Accuracy, Statistic, summarize_blocks
from btests.summary import Summary


class Executor(Protocol):
    """Computes the blocks of a statistic: in memory, chunk by chunk, or on a cluster."""

    def __call__(
        self, statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
    ) -> Sequence[Summary]:
        """Return the summary of all blocks for each member of the statistic."""
        ...


def in_memory(
    statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
) -> tuple[Summary, ...]:
    """Return the summary of all blocks of samples in memory, spread over threads where loops are compiled."""
    assert isinstance(x, Sample)
    assert isinstance(y, Sample)
    return summarize_blocks(statistic, x, y, plan, n_threads=n_threads)


def summarize_all(
    statistic: Statistic,
    x: AnySample,
    y: AnySample,
    plan: Plan,
    n_threads: int | None = None,
    *,
    executor: Executor = in_memory,
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each member of a statistic, with scale and error of its kernel."""
    found = executor(statistic.prepare(x, y), x, y, plan, n_threads)
    # Scales last: a kernel that fails should fail on a block.
    return with_accuracy(found, statistic.accuracy(x, y))


def with_accuracy(found: Sequence[Summary], accuracy: Sequence[Accuracy]) -> tuple[Summary, ...]:
    """Return summaries with scale and absolute error of their kernels."""
    return tuple(
        replace(summary, kernel_scale=scale, abs_error=error)
        for summary, (scale, error) in zip(found, accuracy, strict=True)
    )


def summarize(statistic: MMD, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks of two samples in memory for one kernel."""
    return summarize_all(statistic.family(), x, y, plan, n_threads=n_threads)[0]
