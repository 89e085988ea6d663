"""The paper's tests on the paper's blobs: draws that repeat, and the three ways to choose a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from btests._warnings import BTestWarning
from btests.block_size import BlockRule
from btests.conclude import BlockSummaries, conclude
from btests.data.sample import Sample
from btests.datasets import blobs
from btests.kernels import Gaussian, Kernel
from btests.nulls import Normal, Null
from btests.plan import Array, Plan
from btests.selection import MedianHeuristic, Selection, Selector, Setting, Weights, choose
from btests.selection.families import kernels_of
from btests.selection.training import argmax_within, block_statistics_of, combine, split
from btests.selection.weights import best_weights
from btests.statistics import MMD, summarize_all, summarize_blocks
from studies.harness.counts import Row
from studies.harness.experiment import Task

LEVEL = 0.05

#: The paper's choices of the kernel. Its "sigma = 1" is exp(-d^2 / 8), a bandwidth of 2. Its median is over 100 pooled
#: points, here 50 of each sample. Its combination is of 26 bandwidths, learned on half of the rows.
STRATEGIES: dict[str, Kernel | Selector] = {
    "sigma": Gaussian(2.0),
    "median": MedianHeuristic(n_rows=50),
    "multiple": Weights(ask_all=True),
}

#: What they are called in tables and figures.
LABELS = {"sigma": "sigma = 1", "median": "sigma = median", "multiple": "multiple kernels"}

#: What all captions say of the tests.
TESTS = """
The tests are the paper's: the average of the block MMD^2 over its standard error, the sample deviation of the blocks
over the square root of their number, against the normal table (`Normal()`). Its "sigma = 1" is exp(-d^2 / 8), which is
a bandwidth of 2 here: only with that do the published sample sizes come out. The median is over 100 pooled points.
Multiple kernels: 26 bandwidths, weights learned on half of the rows with regulariser 1e-3, the other half tested
(`Weights(ask_all=True)`). Where B does not divide the number of rows the paper drops the remainder; here some blocks
hold one row more.
"""


def draw(n: int, key: Sequence[int], *, is_null: bool) -> tuple[Array, Array]:
    """Return two samples of the blobs: (n, 2) both, of P and P, or of P and Q."""
    rng = np.random.default_rng(key)
    return blobs(n, rng), blobs(n, rng, rotated=is_null)


def selections(strategy: str, x: Sample, y: Sample, sizes: Sequence[int]) -> Iterator[tuple[int, Selection]]:
    """Yield for each block size the kernel that a strategy chooses, and the rows to test."""
    selector = STRATEGIES[strategy]
    if isinstance(selector, Weights):  # weights are learned on blocks of that size; the others do not use blocks
        yield from ((block_size, distribution(selector, x, y, block_size)) for block_size in sizes)
    else:
        selection = choose(selector, x, y)
        yield from ((block_size, selection) for block_size in sizes)


def distribution(selector: Weights, x: Sample, y: Sample, block_size: int) -> Selection:
    """Return the selection of ``selector.select`` without its checks of data and kernels, half of the time."""
    setting = Setting(BlockRule(block_size))
    parts = split(x, y, selector.fraction, setting)
    family = selector.family  # a tuple has been checked already
    kernels = family if isinstance(family, tuple) else kernels_of(family, parts.choice_x, parts.choice_y)
    n = len(parts.choice_x)
    # Blocks as `selection.block_statistics.gather` makes them: at least eight.
    blocks = Plan.of_size(n, n, min(block_size, max(2, n // 8)), len(kernels))
    choice_x, choice_y = cast(Sample, parts.choice_x), cast(Sample, parts.choice_y)
    statistics = block_statistics_of(
        summarize_all(MMD(kernels), choice_x, choice_y, blocks, 1), ask_all=selector.ask_all
    )
    weights = best_weights(statistics, selector.regulariser)
    if weights is None:  # under H0 often no kernel finds a difference: then the one that comes closest
        best = argmax_within(
            statistics.ratios(selector.regulariser), statistics.is_nonzero, statistics.slack(selector.regulariser)
        )
        weights = (np.arange(len(kernels)) == best).astype(np.float64)
    return combine(kernels, weights, weights, parts)


def rejects(selection: Selection, block_size: int, null: Null | None = None, seed: int = 0) -> bool:
    """Whether the test on blocks rejects at ``LEVEL``. Fresh rows are in random order already: no shuffle."""
    x, y = cast(Sample, selection.x), cast(Sample, selection.y)
    blocks = Plan.of_size(len(x), len(y), block_size)
    summary = summarize_blocks(MMD(selection.kernel), x, y, blocks)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)  # few blocks: that is what is measured
        return conclude(BlockSummaries((selection.kernel,), (summary,)), null or Normal(), seed).rejects(LEVEL)


def tasks_by_strategy(
    count: Callable[[int, str, int, int], Sequence[Row]],
    seed: int,
    trials: int,
    size: int,
    seconds: Mapping[str, float],
) -> list[Task]:
    """Return tasks of ``size`` trials of each strategy; ``seconds`` are those of one trial."""
    return [
        Task(f"{strategy}.{first}", count, (seed, strategy, first, first + size), seconds[strategy] * size)
        for strategy in LABELS
        for first in range(0, trials, size)
    ]
