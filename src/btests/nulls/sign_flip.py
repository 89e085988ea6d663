"""The exact null: swap x and y at random."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np

from btests.nulls.distributions import ResampledDistribution
from btests.summary import Summary


@dataclass(frozen=True, slots=True)
class SignFlip:
    r"""Exact at any number of rows and any block size: under the null hypothesis x and y may swap places.

    Swapping x_a and y_a multiplies h(z_a, z_b) by -1, so under the null hypothesis the statistic has one distribution
    for every choice of swaps. The rows of a group (see :class:`btests.plan.Plan`) swap together, which is a subgroup
    of all swaps and therefore as exact; the pairs inside a group do not move and shift all draws by a constant. The
    p-value is ``(1 + #{draws >= statistic}) / (n_resamples + 1)``: never 0, and exact when ``alpha (n_resamples + 1)``
    is whole. Where there are fewer sign patterns than ``n_resamples``, all of them are used.

    Draws that are equal to the statistic count against rejection. Where values repeat a lot, as in a rare yes or no,
    many do, and the level is below the nominal one; ``ties`` offers two others, to be named before the data are seen.

    For samples of different lengths the rows of the longer one that have no partner stay where they are. That is as
    exact, and costs power: the more, the more the lengths differ.

    Attributes
    ----------
    n_resamples : int
        Random sign flips.
    ties : {"conservative", "midp", "random"}
        What draws equal to the statistic count for. ``"conservative"``: all of them, the level is at most the nominal
        one. ``"midp"``: half of them (Lancaster 1961), the level is close to the nominal one and may exceed it.
        ``"random"``: a share drawn uniformly with the seed, the level is exactly the nominal one.
    """

    n_resamples: int = 1999
    ties: Literal["conservative", "midp", "random"] = "conservative"

    def __post_init__(self) -> None:
        if isinstance(self.n_resamples, bool) or not isinstance(self.n_resamples, Integral) or self.n_resamples < 1:
            raise ValueError(f"n_resamples must be a whole number of at least 1, got {self.n_resamples!r}")
        if self.ties not in ("conservative", "midp", "random"):
            raise ValueError(f"ties must be 'conservative', 'midp' or 'random', got {self.ties!r}")

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.estimate()

    def distribution(self, summary: Summary, seed: int) -> ResampledDistribution:
        """Return the distribution of the statistic under the null hypothesis."""
        draws = summary.draw(self.n_resamples, seed)
        values = np.sort(summary.drawn(draws))
        return ResampledDistribution(values, summary.tolerance(), draws.exhaustive, self.tie_weight(seed))

    def tie_weight(self, seed: int) -> float:
        """Return what a draw equal to the statistic counts for."""
        if self.ties == "random":
            return 1.0 - float(np.random.default_rng([seed, 0x71E5]).random())
        return 1.0 if self.ties == "conservative" else 0.5

    def __repr__(self) -> str:
        ties = "" if self.ties == "conservative" else f", ties={self.ties!r}"
        return f"SignFlip(n_resamples={self.n_resamples}{ties})"
