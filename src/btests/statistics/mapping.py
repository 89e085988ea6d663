"""Summaries of all blocks: folds spread over threads, and what they leave behind joined."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from btests.blocks import Blocks
from btests.fast.pool import map_ranges
from btests.statistics.family import Family
from btests.statistics.mmd import MMD
from btests.statistics.plain import typical_sizes
from btests.statistics.sample import Sample
from btests.summary import Summary


def summarize(statistic: MMD, x: Sample, y: Sample, blocks: Blocks, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks, folds spread over threads where the statistic allows it."""
    return summarize_family(statistic.family(), x, y, blocks, n_threads)[0]


def summarize_family(
    family: Family, x: Sample, y: Sample, blocks: Blocks, n_threads: int | None = None
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each kernel of a family, in their order."""
    d = x.rows.shape[1] if x.is_numeric else 1
    work = 2 * blocks.block_size * max(blocks.n_x, blocks.n_y) * (d + 20 + 4 * len(family.kernels)) // 20
    inside = family.cuts_blocks(x, blocks)
    parts = map_ranges(
        lambda first, last: family.summarize(x, y, blocks, first, last, n_threads=n_threads if inside else 1),
        blocks.n_folds,
        work,
        1 if inside or not family.is_compiled(x) else n_threads,
        # A range of few blocks fills the last of its vectors of blocks badly.
        ranges_per_thread=min(4, max(1, blocks.n_blocks // 128)),
    )
    joined = parts[0] if len(parts) == 1 else tuple(Summary.join(same) for same in zip(*parts, strict=True))
    # Sums over the pairs of a block, in float64, are off by this much of a kernel value (measured; B up to 20,000).
    largest = max(blocks.n_x, blocks.n_y) / blocks.n_blocks
    share = float(np.finfo(np.float64).eps) * (4.0 + largest / 64.0) / math.sqrt(blocks.n_blocks)
    return tuple(
        replace(summary, rounding=share * size)
        for size, summary in zip(typical_sizes(family.kernels, x, y), joined, strict=True)
    )
