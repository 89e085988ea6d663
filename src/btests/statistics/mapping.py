"""Summaries of all blocks, with what rounding may have done to them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from btests.blocks import Blocks
from btests.statistics.family import Family
from btests.statistics.mmd import MMD
from btests.statistics.plain import typical_sizes
from btests.statistics.sample import Sample
from btests.summary import Summary


def summarize(statistic: MMD, x: Sample, y: Sample, blocks: Blocks, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks, folds spread over threads where loops are compiled."""
    return summarize_family(statistic.family(), x, y, blocks, n_threads)[0]


def summarize_family(
    family: Family, x: Sample, y: Sample, blocks: Blocks, n_threads: int | None = None
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each kernel of a family, in their order."""
    found = family.summarize(x, y, blocks, 0, blocks.n_folds, n_threads=n_threads)
    # Sums over the pairs of a block, in float64, are off by this much of a kernel value (measured; B up to 20,000).
    largest = max(blocks.n_x, blocks.n_y) / blocks.n_blocks
    share = float(np.finfo(np.float64).eps) * (4.0 + largest / 64.0) / math.sqrt(blocks.n_blocks)
    return tuple(
        replace(summary, rounding=share * size)
        for size, summary in zip(typical_sizes(family.kernels, x, y), found, strict=True)
    )
