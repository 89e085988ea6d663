"""Exact null distribution from random swaps of x and y (sign flips)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from btests._option_checks import is_one_of, whole_number
from btests._text import brief
from btests.nulls.distributions import ResampledDistribution
from btests.summary import Summary


@dataclass(frozen=True, slots=True)
class SignFlip:
    r"""Random swaps of x_a and y_a: exact for any number of rows and any block size.

    Swapping x_a and y_a multiplies h(z_a, z_b) by -1, so the null distribution of the statistic is invariant under
    swaps. The rows of a group (see :class:`btests.plan.Plan`) are swapped together. These swaps form a subgroup, so the
    test remains exact; pairs inside a group do not change and shift all draws by a constant. The p-value is
    ``(1 + #{draws >= statistic}) / (n_resamples + 1)``: never 0, and exact if ``alpha (n_resamples + 1)`` is an
    integer. If there are at most ``n_resamples + 1`` sign patterns, all of them are used.

    Draws equal to the statistic count against rejection. With many repeated values, such as a rare binary outcome, the
    level is then below the nominal one; ``ties`` offers two alternatives, to be fixed before the data are seen.

    For samples of different lengths, rows of the longer one without a partner are not swapped. The test remains exact
    and loses power as the lengths differ more.

    Attributes
    ----------
    n_resamples : int
        Number of random sign flips.
    ties : {"conservative", "midp", "random"}
        Weight of draws equal to the statistic. ``"conservative"``: 1, the level is at most the nominal one.
        ``"midp"``: 1/2 (Lancaster 1961), the level is close to the nominal one and may exceed it. ``"random"``:
        uniform, drawn with the seed; the level is exactly the nominal one.

    See Also
    --------
    Permutation : all relabellings, in quadratic time.
    ThirdCumulant : closed-form approximation of the same distribution.
    """

    n_resamples: int = 1999
    ties: Literal["conservative", "midp", "random"] = "conservative"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_resamples", whole_number("n_resamples", self.n_resamples, 1))
        if not is_one_of(self.ties, "conservative", "midp", "random"):
            raise ValueError(f"ties must be 'conservative', 'midp' or 'random', got {brief(self.ties)}")

    def statistic(self, summary: Summary) -> float:
        """Return the average of the block values."""
        return summary.estimate()

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> ResampledDistribution:
        """Return the null distribution of the statistic."""
        draws = summary.draw(self.n_resamples, seed, n_threads)
        values = np.sort(summary.drawn(draws))
        return ResampledDistribution(values, summary.tolerance(), draws.exhaustive, self.tie_weight(seed))

    def tie_weight(self, seed: int) -> float:
        """Return the weight of a draw equal to the statistic, in (0, 1]."""
        if self.ties == "random":
            return 1.0 - float(np.random.default_rng([seed, 0x71E5]).random())
        return 1.0 if self.ties == "conservative" else 0.5

    def __repr__(self) -> str:
        ties = "" if self.ties == "conservative" else f", ties={self.ties!r}"
        return f"SignFlip(n_resamples={self.n_resamples}{ties})"
