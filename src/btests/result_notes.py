"""What is said beside a result that may mislead: notes in it, and warnings."""

from __future__ import annotations

from btests._warnings import OrderWarning, PrecisionWarning, warn
from btests.diagnostics import serial_score
from btests.kernels.protocol import Kernel, properties_of
from btests.nulls.distributions import NullDistribution, ResampledDistribution
from btests.summary import Summary

# Blocks whose neighbours are more alike than this, in standard deviations, are not of rows in random order: of those,
# one test in ten million is.
_SERIAL = 5.2

# A spread over all swaps of fewer roundings than this is no spread to rely on.
_ROUNDINGS = 1e3

# Ties of more than this share of the draws make the level of a test visibly smaller than its nominal one.
_MANY_TIES = 0.05

# The level that a test should be able to reach.
_USUAL = 0.05


def note_on(summary: Summary, null_distribution: NullDistribution) -> str:
    """Return one sentence where the kernel sees nothing or rows are too few, else an empty one."""
    if not summary.values.any() and not summary.moments.any():
        return (
            "no swap of x and y changes anything for this kernel: the rows are all alike, or those of x and y are the "
            "same in the same order, or the kernel is much too wide or too narrow for them, or they are so far from 0 "
            "that rounding hides what differs"
        )
    if (
        isinstance(null_distribution, ResampledDistribution)
        and null_distribution.exhaustive
        and null_distribution.smallest() > _USUAL
    ):
        more = "" if summary.plan.n_blocks == 1 else " or larger blocks"
        return f"of so few rows no p-value here is below {null_distribution.smallest():.2g}: take more of them{more}"
    if (
        isinstance(null_distribution, ResampledDistribution)
        and null_distribution.tie_weight == 1.0
        and null_distribution.tied(summary.mean()) > _MANY_TIES
    ):
        return (
            f"{null_distribution.tied(summary.mean()):.0%} of the swaps give the same statistic and count against "
            "rejection: the "
            "p-value is conservative; SignFlip(ties='midp') or ties='random', named before the data are seen, is not"
        )
    return ""


def warn_of_rounding(summary: Summary, kernel: Kernel) -> None:
    """Warn where the values of a kernel are so large that what tells rows apart is in their last digits."""
    if not properties_of(kernel).centers_rows and 0.0 < summary.deviation() < _ROUNDINGS * summary.rounding:
        warn(
            "the values of this kernel are so large that rounding hides most of what tells rows apart; subtract a "
            "common offset from the data",
            PrecisionWarning,
        )


def warn_of_order(summary: Summary, order: str) -> None:
    """Warn where rows that were not put in random order do not look as if they were."""
    if order != "exact" and serial_score(summary.values) > _SERIAL:
        warn(
            "neighbouring blocks are alike: the rows are sorted, or depend on one another, or what differs changes "
            "along them, and then the p-value does not hold; shuffle=True deals sorted rows of arrays and files at "
            "random, and those of batches within a buffer",
            OrderWarning,
        )
