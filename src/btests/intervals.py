r"""Confidence intervals for MMD^2, corrected for skewness.

The estimate U of MMD^2 is an average of block values, and each of these a U-statistic of its rows. With V its variance,
A and B the two parts of its third cumulant (below), the studentised estimate has the expansion (Helmers 1991)

.. math:: P((U - \theta) / \hat\sigma \le z) = \Phi(z) + \phi(z) \{(2 z^2 + 1) A + (z^2 + 1) B\} / (6 V^{3/2}) + ...

Away from the null hypothesis B > 0: the variance grows with MMD^2, an estimate that is too small has a standard error
that is too small, and a symmetric interval misses on the upper side. The interval here is the set of theta with

.. math:: (U - \theta)^2 \le t^2 \{V + 2 \kappa (\theta - U)\}, \quad \kappa = (c_A A + c_B B) / (6 V),

as for a variance that is linear in theta (Wilson's interval of a proportion has the same form). Its shift agrees with
the expansion at z = 1.96. The interval holds the estimate, and intervals of several levels are nested.

References
----------
R. Helmers, "On the Edgeworth expansion and the bootstrap approximation for a Studentized U-statistic",
Annals of Statistics 19(1), 1991. P. Hall, "On the removal of skewness by transformation", JRSS B 54(1), 1992.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from btests.nulls.distributions import StudentDistribution
from btests.plan import Array
from btests.summary import ENOUGH_BLOCKS, Summary, sample_sd
from btests.symmetries import RelabelBins, SharedSwaps, SwapGroups

# Groups of rows in a block that its own variance is estimated from.
_ENOUGH_GROUPS = 8

# (2 z^2 + 1) / z^2 and (z^2 + 1) / z^2 at z = 1.96: the expansion and the interval agree there. Other levels keep these
# numbers, so that intervals of several levels are nested.
_LINEAR, _INTERACTION = 2.26, 1.26

# The variance as a linear function of theta is taken for no less than this share of its estimate: far from the estimate
# it would be negative.
_LEAST = 1.0 / 16.0


class ConfidenceInterval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of the estimate about MMD^2.

    Attributes
    ----------
    variance : float
        Variance of the estimate.
    skew : float
        kappa, half the slope of the variance in MMD^2; in units of the estimate.
    degrees : float
        Degrees of freedom of ``variance``.
    """

    variance: float
    skew: float
    degrees: float

    @classmethod
    def of(cls, variance: float, linear: float, interaction: float, degrees: float, unit: float = 1.0) -> Spread:
        """Return the spread for a variance and two parts of the third cumulant of the estimate in some unit."""
        if variance <= 0.0:
            return cls(0.0, 0.0, degrees)
        skew = (_LINEAR * linear + _INTERACTION * interaction) / (6.0 * variance)
        return cls(variance * unit * unit, skew * unit, degrees)

    @property
    def standard_error(self) -> float:
        """Standard error of the estimate."""
        return math.sqrt(self.variance)

    def quantile(self, probability: float) -> float:
        """Return theta - U such that this is the p-value of "MMD^2 is at most theta" for the estimate U."""
        t = -StudentDistribution(1.0, self.degrees).threshold(probability)
        bend = t * self.skew
        found = t * (bend + math.hypot(bend, self.standard_error))
        if self.variance + 2.0 * self.skew * found < _LEAST * self.variance:
            return t * math.sqrt(_LEAST) * self.standard_error
        return found

    def pvalue(self, difference: float) -> float:
        """Return the p-value of "MMD^2 is at most theta" for ``difference`` = theta - U; in (0, 1]."""
        variance = max(_LEAST * self.variance, self.variance + 2.0 * self.skew * difference)
        return StudentDistribution(math.sqrt(variance), self.degrees).pvalue(-difference)


def estimate_spread(summary: Summary) -> Spread:
    """Return the variance and the skewness of the estimate of MMD^2, valid under the alternative.

    From the values of the blocks where there are at least 40. Otherwise from the groups of rows inside the blocks, for
    samples of one length, or from single rows (see :func:`btests.statistics.row_moments.with_row_moments`).
    The formulas are in docs/method.md, Intervals.

    Raises
    ------
    ValueError
        For blocks that share rows, for one block of fewer than 8 rows, and for one block of different lengths
        whose rows are gone.
    """
    plan = summary.plan
    if isinstance(summary.symmetry, SharedSwaps):
        raise ValueError("blocks drawn with replacement share rows, and there is no interval from their values")
    if plan.n_blocks < ENOUGH_BLOCKS and isinstance(summary.symmetry, (SwapGroups, RelabelBins)):
        if plan.paired and plan.n_groups >= _ENOUGH_GROUPS:
            return _from_groups(summary)
        if summary.row_moments is not None:
            unit, variance, linear, interaction, degrees = summary.row_moments()
            m = plan.n_blocks
            return Spread.of(variance / m, linear / m**2, interaction / m**2, degrees, unit)
    if plan.n_blocks > 1:
        return _from_values(summary.values)
    if not isinstance(summary.symmetry, (SwapGroups, RelabelBins)):
        raise ValueError("an interval for this statistic needs at least 2 blocks, got one")
    if plan.paired or plan.block_size < _ENOUGH_GROUPS:
        raise ValueError(
            f"an interval for MMD^2 needs at least 2 blocks or {_ENOUGH_GROUPS} rows, "
            f"got one block of {plan.block_size} rows"
        )
    raise ValueError(
        "an interval for MMD^2 from one block of samples of different lengths needs their rows, which a sum of "
        "summaries does not keep; take a smaller block_size, or test all rows in one call of btest"
    )


def _from_values(values: Array) -> Spread:
    """Return the spread of the average of independent block values: (m,)."""
    m, sd = values.size, sample_sd(values)
    if sd == 0.0:
        return Spread(0.0, 0.0, m - 1)
    scaled = (values - values.mean()) / sd
    return Spread.of(1.0 / m, float(np.sum(scaled**3)) / m**3, 0.0, m - 1, sd)


def _from_groups(summary: Summary) -> Spread:
    r"""Return the spread of the estimate from pairs of groups of rows, samples of one length.

    With C the moments less their expectation for the estimate, scaled so that the estimate is the sum of all entries,
    and r its row sums, which are the projections: ``4 sum r^2`` counts the degenerate part of the variance,
    ``2 sum C^2``, twice. The rest is unbiased after division by the factor below, for any number of blocks. Blocks of
    one stratum have independent entries of mean zero, so that sums over strata have the same expectations.
    """
    plan = summary.plan
    unit = float(np.abs(summary.moments).max(initial=0.0))
    degrees = len(summary.moments) * plan.n_groups - 1
    if unit == 0.0:
        return Spread(0.0, 0.0, degrees)
    moments = summary.moments / unit
    weights = summary.stratum_sizes()[:, None, None] * plan.pair_weights()
    # The pairs inside a group are not in the moments: the others stand for them.
    centred = (moments - moments.sum() / weights.sum() * weights) / weights.sum()
    projections = centred.sum(axis=-1)
    n = plan.n_blocks * plan.n_groups
    degenerate = 2.0 * float(np.sum(centred**2))
    known = 1.0 - 4.0 / n + 2.0 / (n * (plan.n_groups - 1.0))
    variance = max(degenerate, (4.0 * float(np.sum(projections**2)) - degenerate) / known)
    linear = 8.0 * float(np.sum(projections**3))
    interaction = 24.0 * float(np.sum((centred @ projections[..., None])[..., 0] * projections))
    return Spread.of(variance, linear, interaction, degrees, unit)
