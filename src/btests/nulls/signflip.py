"""The exact null: swap x and y at random."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from btests import fast
from btests.blocks import Array
from btests.nulls.laws import DrawnLaw
from btests.nulls.signs import all_signs, flip_plain, random_words
from btests.summary import Summary


@dataclass(frozen=True, slots=True)
class SignFlip:
    r"""Exact at any number of rows and any block size: under the null hypothesis x and y may swap places.

    Swapping x_a and y_a multiplies h(z_a, z_b) by -1, so under the null hypothesis the statistic has one law for every
    choice of swaps. The rows of a group (see :class:`btests.blocks.Blocks`) swap together, which is a subgroup of all
    swaps and therefore as exact; the pairs inside a group do not move and shift all draws alike. The p-value is
    ``(1 + #{draws >= statistic}) / (n_resamples + 1)``: never 0, and exact when ``alpha (n_resamples + 1)`` is whole.
    Where there are fewer sign patterns than ``n_resamples``, all of them are used.

    For samples of different lengths the rows of the longer one that have no partner stay where they are. That is as
    exact, and costs power: the more, the more the lengths differ.
    """

    n_resamples: int = 1999

    def __post_init__(self) -> None:
        if isinstance(self.n_resamples, bool) or not isinstance(self.n_resamples, Integral) or self.n_resamples < 1:
            raise ValueError(f"n_resamples must be a whole number of at least 1, got {self.n_resamples!r}")

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.mean()

    def learn(self, summary: Summary, seed: int) -> DrawnLaw:
        """Return the law of the statistic under the null hypothesis."""
        cores, paired = summary.cores, summary.blocks.paired
        n_folds, n_groups = len(cores), cores.shape[-1] - (not paired)
        n_patterns = 2 ** min(n_folds * n_groups, 63)
        exhaustive = n_patterns <= self.n_resamples + 1
        if exhaustive:
            words, n_draws = all_signs(n_folds, n_groups), n_patterns
        else:
            words, n_draws = random_words(seed, n_folds, n_groups, self.n_resamples), self.n_resamples
        if not paired:  # what has no partner does not swap: its sign is always +1, its bits are 0
            words = np.pad(words, ((0, 0), (0, 1), (0, 0)))
        flip = fast.flip if fast.is_available() else flip_plain
        moving = float(cores.sum())
        draws: Array = np.sort(flip(cores, words, n_draws) - moving) / summary.blocks.n_blocks + summary.mean()
        # Additions in another order: sums that are equal on paper differ by this much at the most.
        tolerance = 1e-13 * float(np.abs(cores).sum()) / summary.blocks.n_blocks
        return DrawnLaw(draws, tolerance + 4e-16 * abs(summary.mean()), exhaustive)
