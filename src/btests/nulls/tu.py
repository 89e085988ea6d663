"""The TU-statistic: products of the values of different blocks, after Ho and Shieh."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from btests._option_checks import is_one_of, whole_number
from btests._text import brief
from btests.nulls.distributions import NormalDistribution, NullDistribution, ResampledDistribution, clip
from btests.nulls.null import warn_if_few_blocks
from btests.plan import Array
from btests.summary import Summary, sample_sd
from btests.symmetries import SharedSwaps, SignDraws

# Squares of block values that are further from 1 are no floats.
_FAR = 1e150


@dataclass(frozen=True, slots=True)
class TU:
    r"""Average product of the values of two different blocks, with a chi-square distribution or sign flips.

    ``TU = [(sum eta_b)^2 - sum eta_b^2] / (m (m - 1))`` over m block values, whose expectation is 0 under the null
    hypothesis. With s^2 their sample variance, ``m TU / s^2 + 1`` is asymptotically chi-square with one degree of
    freedom. It equals ``t^2``, ``t = sqrt(m) mean(eta) / s``: the test is the two-sided form of :class:`btests.Normal`,
    and averages far below 0 count as evidence, although MMD^2 is never negative. It is here for comparison.

    With sign flips the test is exact. The products are then those of different strata: blocks whose rows share their
    signs (see :class:`btests.plan.Plan`; the strata are the blocks themselves if there are few) are added first.

    This is our interpretation of the TU-statistic of Ho and Shieh (2006), after section 5 of Zaremba et al. (2013).

    Attributes
    ----------
    method : {"chi-square", "sign-flip"}
        Null distribution.
    n_resamples : int
        Number of random sign flips.

    See Also
    --------
    SignFlip : exact, of the average itself.
    btests.WithReplacement : the other statistic of Ho and Shieh.

    References
    ----------
    H.-C. Ho, G. S. Shieh, "Two-stage U-statistics for hypothesis testing", Scandinavian Journal of Statistics 33, 2006.
    """

    method: Literal["chi-square", "sign-flip"] = "chi-square"
    n_resamples: int = 1999

    #: Products are of different blocks, so the default block size is the paper's.
    many_blocks: ClassVar[bool] = True
    label: ClassVar[str] = "TU"

    def __post_init__(self) -> None:
        if not is_one_of(self.method, "chi-square", "sign-flip"):
            raise ValueError(f"method must be 'chi-square' or 'sign-flip', got {brief(self.method)}")
        object.__setattr__(self, "n_resamples", whole_number("n_resamples", self.n_resamples, 1))

    def statistic(self, summary: Summary) -> float:
        """Return the average product of two different blocks, or of two different strata."""
        sums, sizes = self._sums(summary)
        return float((sums.sum() ** 2 - np.sum(sums**2)) / _n_products(sizes))

    def distribution(self, summary: Summary, seed: int, n_threads: int | None = None) -> NullDistribution:
        """Return the null distribution of the statistic."""
        sums, sizes = self._sums(summary)
        if self.method == "chi-square":
            warn_if_few_blocks(repr(self), sums.size, 30)
            return TwoSided(sample_sd(sums) / math.sqrt(sums.size))
        draws = summary.draw(self.n_resamples, seed, n_threads)
        if not isinstance(draws, SignDraws):
            raise ValueError(f"{self!r} flips the signs of one stratum at a time, which these blocks do not allow")
        total, squares = np.zeros(draws.n_draws), np.zeros(draws.n_draws)
        for f, own in enumerate(sums):
            moments, of_one = summary.moments[f : f + 1], replace(draws, words=draws.words[f : f + 1])
            flipped = own + of_one.values(moments) - summary.symmetry.observed(moments)
            total += flipped
            squares += flipped**2
        error = summary.tolerance() * summary.plan.n_blocks
        tolerance = error * (4.0 * float(np.abs(sums).sum()) + error) / _n_products(sizes)
        return ResampledDistribution(np.sort((total**2 - squares) / _n_products(sizes)), tolerance, draws.exhaustive)

    def _sums(self, summary: Summary) -> tuple[Array, Array]:
        """Return the values of blocks, or their sums over strata, and of how many blocks they are: two of (m,)."""
        if isinstance(summary.symmetry, SharedSwaps):
            raise ValueError(f"{self!r} multiplies the values of blocks that share no rows; take statistic=None")
        values, sizes = summary.values, np.ones(summary.values.size)
        if self.method == "sign-flip":
            sizes = summary.stratum_sizes()
            values = np.add.reduceat(values, np.append(0, np.cumsum(sizes)[:-1]).astype(np.int64))
        if values.size < 2:
            raise ValueError(f"{self!r} multiplies the values of different blocks and needs at least 2, got one block")
        largest = float(np.abs(values).max())
        if largest != 0.0 and not 1.0 / _FAR < largest < _FAR:
            raise ValueError(f"products of block values of {largest:.2g} are out of range; multiply the kernel")
        return values, sizes

    def __repr__(self) -> str:
        draws = "" if self.method == "chi-square" else f", n_resamples={self.n_resamples}"
        return f"TU({self.method!r}{draws})"


@dataclass(frozen=True, slots=True)
class TwoSided:
    """Distribution of ``sd^2 (X - 1)``, X chi-square with one degree of freedom."""

    sd: float

    def pvalue(self, statistic: float) -> float:
        """Return the upper tail."""
        if self.sd == 0.0:
            return clip(float(statistic <= 0.0))
        square = statistic / self.sd / self.sd + 1.0
        return clip(2.0 * NormalDistribution(1.0).pvalue(math.sqrt(max(0.0, square))))

    def threshold(self, alpha: float) -> float:
        """Return the upper quantile."""
        return self.sd**2 * (NormalDistribution(1.0).threshold(alpha / 2.0) ** 2 - 1.0)


def _n_products(sizes: Array) -> float:
    """Return the number of ordered pairs of blocks of different strata: sizes (s,) to a number."""
    return float(sizes.sum() ** 2 - np.sum(sizes**2))
