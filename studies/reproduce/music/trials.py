"""One trial: rows of the songs, and the paper's tests on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from btests._warnings import BTestWarning
from btests.block_size import BlockRule
from btests.conclude import BlockSummaries, conclude
from btests.data.sample import AnySample, Sample
from btests.kernels import Gaussian, Kernel
from btests.nulls import Normal
from btests.plan import Array, Plan
from btests.selection import MedianHeuristic, Selector, Setting, Weights, choose
from btests.statistics import MMD, summarize_all
from btests.summary import Summary
from studies.reproduce.music.songs import Song, load

LEVEL = 0.05

#: The choices of the kernel on all rows. The last is what the paper calls sigma = 1 on the blobs.
SINGLE: dict[str, Kernel | Selector] = {
    "sigma": Gaussian(1.0),
    "median": MedianHeuristic(n_rows=50),
    "wider": Gaussian(2.0),
}
MULTIPLE = Weights(ask_all=True)

#: What they are called in tables and figures.
LABELS = {
    "sigma": "sigma = 1",
    "median": "sigma = median",
    "multiple": "multiple kernels",
    "wider": "exp(-d^2 / 8)",
}

#: What captions say of the kernels and tests.
TESTS = """
The tests are the paper's: the average of the block MMD^2 over its standard error, the sample deviation of the blocks
over the square root of their number, against the normal table (`Normal()`). Where B does not divide the number of rows
the paper drops the remainder; here some blocks hold one row more. *sigma = 1* is exp(-d^2 / 2), `Gaussian(1)`: on
Debian's pair of songs that comes closer to the published errors than exp(-d^2 / 8), which is what the paper calls
sigma = 1 on the blobs. *sigma = median* is sqrt(median d^2 / 2) over 100 pooled rows. *Multiple kernels*: 26
bandwidths, weights learned on half of the rows, the other half tested (`Weights(ask_all=True)`).
"""

#: What captions say of the rows.
ROWS = """
A row is a window of 1000 samples, 8.33e-3 s of music, of the AM signal sin(2 pi f t) (2 + 0.3 song), f = 24 kHz, at
120 kHz; songs are mono, at 8 kHz, with mean 0 and standard deviation 1, and upsampled with a windowed sinc. Rows are
drawn without replacement, anew for each repetition: n of P and n of Q for the Type II error, 2n of P for the Type I
error.
"""


def draw(p: Song, q: Song, n: int, key: Sequence[int], *, is_null: bool, turned: bool = True) -> tuple[Array, Array]:
    """Return rows of P and of Q, or two samples of P that share no row: (n, 264) each, or (n, 1000).

    ``turned`` rows are in the 264 coordinates that they need: no distance changes, and no test of distances does.
    """
    rng = np.random.default_rng(key)
    one, other = load(p), load(p if is_null else q)
    if is_null:
        numbers = np.split(rng.choice(len(one), 2 * n, replace=False), 2)
    else:
        numbers = [rng.choice(len(windows), n, replace=False) for windows in (one, other)]
    made = [w.turned_rows(k) if turned else w.rows(k) for w, k in zip((one, other), numbers, strict=True)]
    return made[0], made[1]


@dataclass(frozen=True, slots=True)
class Batch:
    """Trials ``first .. last - 1`` of two songs: n rows each, under one hypothesis, each with its own generator."""

    p: Song
    q: Song
    n: int
    is_null: bool
    key: tuple[int, ...]
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{'null' if self.is_null else 'alternative'}.{self.first}"

    def samples(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield the number of each trial, and its rows: (n, 264) twice."""
        for trial in range(self.first, self.last):
            key = (*self.key, self.n, int(self.is_null), trial)
            yield trial, *draw(self.p, self.q, self.n, key, is_null=self.is_null)


def batches(
    songs: tuple[Song, Song], n: int, key: tuple[int, ...], *, is_null: bool, trials: int, size: int
) -> list[Batch]:
    """Return all trials in batches of one size."""
    return [Batch(*songs, n, is_null, key, first, min(first + size, trials)) for first in range(0, trials, size)]


def kernels(x: Sample, y: Sample, strategies: Sequence[str]) -> dict[str, Kernel]:
    """Return the kernels of strategies that test all rows; they do not depend on the block size."""
    return {name: choose(SINGLE[name], x, y, Setting(BlockRule(2))).kernel for name in strategies}


def rejects_single(x: AnySample, y: AnySample, kernels: dict[str, Kernel], block_size: int) -> dict[str, bool]:
    """Return for each kernel whether the test on blocks rejects; the kernels share their distances."""
    # Fresh rows are in random order already: no shuffle.
    blocks = Plan.of_size(len(x), len(y), block_size)
    summaries = summarize_all(MMD(tuple(kernels.values())), x, y, blocks, 1)
    return {
        name: is_significant(summary, kernel)
        for (name, kernel), summary in zip(kernels.items(), summaries, strict=True)
    }


def rejects_multiple(x: Sample, y: Sample, block_size: int) -> bool:
    """Whether the test with the combination that half of the rows suggest rejects on the other half."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)  # under H0 there often is no kernel that finds a difference
        selection = choose(MULTIPLE, x, y, Setting(BlockRule(block_size)))
    return rejects_single(selection.x, selection.y, {"multiple": selection.kernel}, block_size)["multiple"]


def is_significant(summary: Summary, kernel: Kernel) -> bool:
    """Whether the paper's test rejects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)  # few blocks: that is what is measured
        return conclude(BlockSummaries((kernel,), (summary,)), Normal(), 0).rejects(LEVEL)
