"""Summaries of all blocks, with the typical size of a kernel value."""

from __future__ import annotations

from dataclasses import replace

from btests.blocks import Blocks
from btests.statistics.family import Family
from btests.statistics.mmd import MMD
from btests.statistics.plain import typical_sizes
from btests.statistics.sample import Sample
from btests.summary import Summary


def summarize(statistic: MMD, x: Sample, y: Sample, blocks: Blocks, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks, spread over threads where loops are compiled."""
    return summarize_family(statistic.family(), x, y, blocks, n_threads)[0]


def summarize_family(
    family: Family, x: Sample, y: Sample, blocks: Blocks, n_threads: int | None = None
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each kernel of a family, in their order."""
    found = family.summarize(x, y, blocks, n_threads=n_threads)
    return tuple(
        replace(summary, typical=size) for size, summary in zip(typical_sizes(family.kernels, x, y), found, strict=True)
    )
