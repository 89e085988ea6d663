"""The kernel test of all columns together, with its outcomes under every draw of signs."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests.api import btest
from btests.blocks import Array, Blocks
from btests.nulls import SignFlip
from btests.nulls.names import null_of
from btests.nulls.protocol import wants_gram
from btests.nulls.signs import Flips, draw_flips
from btests.result import TestResult
from btests.selection import Aggregate, Candidate, Median, MedianFamily, Setting
from btests.statistics import Family, Sample
from btests.summary import LOUD, Summary
from btests.tables.scores import Scored

#: Multiples of the median bandwidth. Rows of many coordinates are about as far apart from one another as the median is:
#: much narrower or wider kernels than these see nothing.
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: Largest default block. Time grows with it, and for tables of this length there is power to spare.
LARGEST_BLOCK = 128

# Blocks for the other looks alone are folded as if for so many kernels: some hundred signs are enough.
_SHARES = 8

# Rows of each side whose distances make the bandwidth of the effect, and draws of a null that nobody looks at.
_MEDIAN_ROWS = 500
_FEW_RESAMPLES = 19


@dataclass(frozen=True, slots=True)
class Together:
    """The kernel look: its result and its scores.

    ``scored`` is None where the null is another than sign flips, or rows were spent on the choice of the kernel; the
    flips are then for the other looks alone.
    """

    result: TestResult
    scored: Scored | None
    flips: Flips
    blocks: Blocks


def default_block_size(n: int) -> int:
    """Return the square root of n, 128 at most."""
    return max(2, min(n, LARGEST_BLOCK, round(math.sqrt(n))))


def look(x: Array, y: Array, *, kernel: Any, null: Any, block_size: int | None, seed: int) -> Together:
    """Test two tables of coordinates in the order of their rows: (n_x, d) and (n_y, d)."""
    n = min(len(x), len(y))
    size = default_block_size(n) if block_size is None else block_size
    null = null_of(null)
    if kernel is None and isinstance(null, SignFlip):
        return _aggregated(x, y, null, size, seed)
    own = None if wants_gram(null) else size  # all rows at once, whatever the blocks of the other looks
    result = btest(x, y, kernel=kernel, null=null, block_size=own, seed=seed, shuffle=False)
    blocks = blocks_of_others(len(x), len(y), size)
    if isinstance(result.null, SignFlip) and result.n_spent == (0, 0) and not isinstance(kernel, Aggregate):
        flips = draw_flips(result.summary, result.null.n_resamples, seed)
        return Together(result, _ratios((result.summary,), flips), flips, result.summary.blocks)
    return beside(result, blocks, seed)


def beside(result: TestResult, blocks: Blocks, seed: int) -> Together:
    """Return a kernel look whose signs, or rows, are not those of the other looks, which are made on ``blocks``."""
    return Together(result, None, draw_flips(_shape(blocks), SignFlip().n_resamples, seed), blocks)


def blocks_of_others(n_x: int, n_y: int, size: int) -> Blocks:
    """Return the blocks of looks that are made without the kernel's."""
    return Blocks.of_size(n_x, n_y, size, _SHARES)


def _aggregated(x: Array, y: Array, null: SignFlip, size: int, seed: int) -> Together:
    """Test with Gaussians of several bandwidths, as ``btest`` does, and keep what each draw gave."""
    began = time.perf_counter()
    aggregate = Aggregate(MedianFamily(FACTORS))
    a, b = Sample(x), Sample(y)
    selection, summaries = aggregate.summarize(a, b, Setting(size))
    verdict = aggregate.conclude(summaries, null, seed)
    rated = tuple(
        Candidate(candidate.kernel, float(score), float(j == verdict.spoke))
        for j, (candidate, score) in enumerate(zip(selection.candidates, verdict.scores, strict=True))
    )
    kernels = tuple(c.kernel for c in rated)
    engine = Family(kernels).engine(a)
    spoke = verdict.spoke
    result = TestResult.conclude(
        summaries[spoke],
        null,
        kernels[spoke],
        seed,
        engine=engine,
        began=began,
        law=verdict.law,
        selector=aggregate,
        selection=replace(selection, candidates=rated),
    )
    flips = draw_flips(summaries[0], null.n_resamples, seed)
    return Together(result, _ratios(summaries, flips), flips, summaries[0].blocks)


def measure(x: Array, y: Array, *, kernel: Any, block_size: int | None) -> TestResult:
    """Return the test whose MMD^2 is the effect: with one kernel, the Gaussian of median bandwidth unless one is named.

    (n_x, d) and (n_y, d), in an order that does not depend on the seed of the comparison.
    """
    size = default_block_size(min(len(x), len(y))) if block_size is None else block_size
    chosen = Median(n_rows=_MEDIAN_ROWS) if kernel is None else kernel
    return btest(x, y, kernel=chosen, null=SignFlip(_FEW_RESAMPLES), block_size=size, seed=0, shuffle=False)


def _ratios(summaries: tuple[Summary, ...], flips: Flips) -> Scored:
    """Return the largest ratio of MMD^2 to its deviation under each draw, and last as observed (see largest_ratio)."""
    best = np.full(flips.n_draws + 1, -np.inf)
    for summary in summaries:
        unit = summary.deviation()
        if unit <= LOUD * summary.rounding or unit == 0.0:
            continue
        moving = float(summary.cores.sum()) / summary.blocks.n_blocks
        draws = flips.means(summary) - (summary.mean() - moving)
        np.maximum(best, np.append(draws, moving) / unit, out=best)
    return Scored(np.where(np.isfinite(best), best, 0.0)[None, :], flips.exhaustive)


def _shape(blocks: Blocks) -> Summary:
    """Return a summary that has the shape of the blocks and nothing in it, to draw signs for."""
    k = blocks.core_size
    return Summary.of(blocks, np.zeros(blocks.n_blocks), np.zeros((blocks.n_folds, k, k)))
