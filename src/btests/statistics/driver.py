"""Summaries of all blocks, with the typical size of a kernel value and what it is known to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

from btests.data.sample import AnySample, Sample
from btests.kernels.protocol import Kernel
from btests.plan import Blocks
from btests.statistics.mmd import MMD
from btests.statistics.multi_kernel import Family, grains
from btests.statistics.numpy_backend import typical_sizes
from btests.summary import Summary


class Elsewhere(Protocol):
    """A sample whose rows are not here: it knows how to reach them."""

    def summarize(self, family: Family, y: Any, blocks: Blocks, n_threads: int | None = None) -> Sequence[Summary]:
        """Return the summary of all blocks of this sample and another of the same kind, for each kernel."""
        ...


def summarize(statistic: MMD, x: AnySample, y: AnySample, blocks: Blocks, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks, spread over threads where loops are compiled."""
    return summarize_family(statistic.family(), x, y, blocks, n_threads)[0]


def summarize_family(
    family: Family, x: AnySample, y: AnySample, blocks: Blocks, n_threads: int | None = None
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each kernel of a family, in their order."""
    typical = typical_sizes(family.kernels, x, y) if family.shares else []
    family = family.suited(typical) if typical else family
    if isinstance(x, Sample) and isinstance(y, Sample):
        found = family.summarize(x, y, blocks, n_threads=n_threads)
    else:
        found = tuple(cast(Elsewhere, x).summarize(family, y, blocks, n_threads))
    # Of kernels that share nothing afterwards: one that fails should fail on a block.
    return measured(found, family.kernels, typical or typical_sizes(family.kernels, x, y))


def measured(found: Sequence[Summary], kernels: tuple[Kernel, ...], typical: Sequence[float]) -> tuple[Summary, ...]:
    """Return the summaries of kernels with their typical sizes, and with what their values are known to."""
    return tuple(
        replace(summary, typical=size, grain=grain)
        for summary, size, grain in zip(found, typical, grains(kernels, typical), strict=True)
    )
