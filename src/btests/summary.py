"""Summary of blocks: their values, and the moments that a null distribution is drawn from; summaries add."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from btests import pairwise_sum
from btests.pairwise_sum import Part
from btests.plan import MOMENT_BUDGET, MOST_SHARES, Array, Plan
from btests.symmetries import Draws, SwapGroups, Symmetry

_EPS = float(np.finfo(np.float64).eps)

_SWAPS = SwapGroups()

#: Minimum ratio of the standard deviation over all draws to the rounding error; kernels below it are ignored.
MIN_SNR = 1e3

#: Intervals are from the values of the blocks where there are at least this many, and from groups of rows or single
#: rows otherwise: variance and skewness of fewer values are poor estimates.
ENOUGH_BLOCKS = 40


def check_block_sizes(plans: list[Plan]) -> None:
    """Raise unless all blocks of several plans have the same size, or their moments are sums over rows."""
    if len({(plan.adds_rows, plan.moment_shape if plan.adds_rows else None) for plan in plans}) > 1:
        raise ValueError("summaries of blocks and of features do not add")
    if plans[0].adds_rows:
        return
    sizes = {(plan.n_x / plan.n_blocks, plan.n_y / plan.n_blocks, plan.n_kernels) for plan in plans}
    if len(sizes) > 1 or any(plan.n_x % plan.n_blocks or plan.n_y % plan.n_blocks for plan in plans):
        raise ValueError("summaries of blocks of different sizes do not add")


def within_budget(moments: Array, plan: Plan) -> Array:
    """Add neighbours until the strata of many parts are as few as those of one may be: (s, ...)."""
    most = max(1, MOMENT_BUDGET // min(plan.n_kernels, MOST_SHARES) // plan.moment_numbers)
    while len(moments) > most:
        whole = len(moments) // 2 * 2
        moments = np.concatenate([moments[0:whole:2] + moments[1:whole:2], moments[whole:]])
    return moments


class RowMoments(NamedTuple):
    """Variance and third cumulant of one block value, estimated from rows.

    Attributes
    ----------
    unit : float
        Of block values, whose powers the other moments are in: squares of tiny numbers vanish.
    variance : float
        Variance of the value of one block.
    linear : float
        Part of its third cumulant that is due to the skewness of the projections.
    interaction : float
        Part of its third cumulant that is due to pairs of rows.
    degrees : float
        Degrees of freedom of ``variance``.
    """

    unit: float
    variance: float
    linear: float
    interaction: float
    degrees: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Values of blocks and moments of strata; ``a + b`` joins summaries of different blocks.

    Values are concatenated in the order of the blocks, and moments are summed along a fixed tree. The result does not
    depend, to the last bit, on chunking, order or workers.

    Attributes
    ----------
    parts : tuple of Part
        Blocks of one plan, or of several plans with blocks of one size, sorted by number.
    kernel_scale : float
        Root mean square of a kernel value; 0.0 if not estimated.
    abs_error : float
        Absolute error of kernel values; 0.0 if they are accurate to rounding.
    row_moments : callable, optional
        Estimates the moments of a block value from rows, for confidence intervals. Not part of sums and files.
    symmetry : Symmetry
        Group of rearrangements that leaves the null hypothesis invariant.
    plan : Plan
        Plan of all parts together.
    values : ndarray
        Value of each block: (m,).
    moments : ndarray
        Moments of each stratum: (s, *shape).
    """

    parts: tuple[Part, ...]
    kernel_scale: float = 0.0
    abs_error: float = 0.0
    row_moments: Callable[[], RowMoments] | None = None
    symmetry: Symmetry = _SWAPS
    plan: Plan = field(init=False)
    values: Array = field(init=False)
    moments: Array = field(init=False)

    def __post_init__(self) -> None:
        one = self.parts[0]
        plan, values, moments = one.plan, one.values, one.moments
        if len(self.parts) > 1:
            plans = [part.plan for part in self.parts]
            plan = replace(
                one.plan,
                n_x=sum(plan.n_x for plan in plans),
                n_y=sum(plan.n_y for plan in plans),
                n_blocks=sum(plan.n_blocks for plan in plans),
            )
            values = np.concatenate([part.values for part in self.parts])
            moments = within_budget(np.concatenate([part.moments for part in self.parts]), plan)
        for name, value in (("plan", plan), ("values", values), ("moments", moments)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, plan: Plan, values: Array, moments: Array, kernel_scale: float = 0.0) -> Summary:
        """Return the summary of all blocks of a plan: values (m,) of blocks, moments (s, *shape) of strata."""
        spans = np.array([[0, plan.n_blocks]], dtype=np.int64)
        nodes = pairwise_sum.cover(0, plan.n_blocks, plan.n_blocks, plan.stratum_level)
        return cls((Part(0, plan, spans, values, nodes, moments),), kernel_scale)

    def __add__(self, other: Summary) -> Summary:
        """Return the summary of both sets of blocks."""
        if not isinstance(other, Summary):
            return NotImplemented
        return Summary.join([self, other])

    @classmethod
    def join(cls, summaries: Iterable[Summary]) -> Summary:
        """Return the summary of all blocks of ``summaries``, which may come in any order."""
        summaries = list(summaries)
        of: dict[int, list[Part]] = {}
        for summary in summaries:
            for part in summary.parts:
                of.setdefault(part.number, []).append(part)
        parts = tuple(Part.join(of[number]) for number in sorted(of))
        if len(parts) > 1:
            check_block_sizes([part.plan for part in parts])
        kernel_scale = max(summary.kernel_scale for summary in summaries)
        abs_error = max(summary.abs_error for summary in summaries)
        return cls(parts, kernel_scale, abs_error, symmetry=summaries[0].symmetry)

    @property
    def is_complete(self) -> bool:
        """Whether every block is here."""
        return all(part.is_complete for part in self.parts)

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of ``mean()``; 0.0 if not estimated."""
        # Sums over the pairs of a block, in float64, are off by this much of a kernel value (measured; B up to 20,000).
        largest = max(self.plan.n_x, self.plan.n_y) / self.plan.n_blocks
        sums = _EPS * (4.0 + largest / 64.0) / math.sqrt(self.plan.n_blocks) * self.kernel_scale
        # A block averages over b (b - 1) / 2 pairs h, of four values each, whose errors are independent.
        b = self.plan.block_size
        return max(sums, self.abs_error * math.sqrt(8.0 / (b * (b - 1) * self.plan.n_blocks)))

    def draw(self, n_resamples: int, seed: int, n_threads: int | None = None) -> Draws:
        """Return ``n_resamples`` draws from the symmetry, or all its elements if they are no more."""
        return self.symmetry.draw(self.plan, self.moments.shape, n_resamples, seed, n_threads)

    def drawn(self, draws: Draws) -> Array:
        """Return the estimate that each draw gives: (n_draws,)."""
        if self.symmetry.is_pooled:
            return draws.values(self.moments)
        change = draws.values(self.moments) - self.symmetry.observed(self.moments)
        return np.asarray(change / self.plan.n_blocks + self.mean())

    def tolerance(self) -> float:
        """Return the distance up to which estimates of different draws count as equal.

        Their sums are made in another order, and moments are differences of larger numbers. The error of the sums is a
        hundred times smaller than this: draws that rounding could order either way are next to none.
        """
        moving = self.symmetry.magnitude(self.moments) / self._n_units
        return 1e-11 * moving + 4e-16 * abs(self.estimate()) + self.rounding

    def deviation(self) -> float:
        """Return the standard deviation of the estimate over all draws."""
        unit = self._unit()
        if unit == 0.0:
            return 0.0
        deviation = math.sqrt(self.symmetry.variance(self.moments / unit))
        return unit**2 * deviation if self.symmetry.is_pooled else unit * deviation / self._n_units

    def moving(self) -> float:
        """Return the part of the estimate that draws change."""
        return self.symmetry.observed(self.moments) / self._n_units

    def draw_skewness(self) -> float:
        """Return the skewness of the estimate over all draws; 0 for a kernel that no draw changes.

        Raises
        ------
        ValueError
            For a symmetry without a closed form.
        """
        unit = self._unit()
        if unit == 0.0:
            return 0.0
        moments = self.moments / unit  # cubes of tiny kernels underflow
        third = self.symmetry.third_cumulant(moments)
        if third is None:
            raise ValueError(f"{type(self.symmetry).__name__} has no closed-form third cumulant; take null=SignFlip()")
        return third / math.pow(self.symmetry.variance(moments), 1.5)

    def n_effective_pairs(self) -> float:
        """Return the number of pairs of rows, or of groups, that carry the statistic."""
        unit = self._unit()
        return self.symmetry.n_effective_pairs(self.moments / unit) if unit else 0.0

    def _unit(self) -> float:
        """Return the largest moment, 0 where it is not finite: powers of moments are taken in this unit."""
        unit = max(float(self.moments.max(initial=0.0)), -float(self.moments.min(initial=0.0)))
        return unit if math.isfinite(unit) else 0.0

    @property
    def _n_units(self) -> int:
        return 1 if self.symmetry.is_pooled else self.plan.n_blocks

    def resolved(self) -> Summary:
        """Return this summary, or zeros if rounding hides what the kernel distinguishes."""
        return self if self.abs_error == 0.0 or self.deviation() > MIN_SNR * self.rounding else self.zeroed()

    def zeroed(self) -> Summary:
        """Return the summary of a kernel that distinguishes nothing in these blocks: zeros."""
        return replace(
            self,
            row_moments=None if self.row_moments is None else _no_row_moments,
            parts=tuple(
                replace(part, values=np.zeros_like(part.values), moments=np.zeros_like(part.moments))
                for part in self.parts
            ),
        )

    def stratum_sizes(self) -> Array:
        """Return the number of blocks of each stratum of a complete summary: (s,)."""
        sizes = [np.diff(np.append(pairwise_sum.starts(part.nodes), part.plan.n_blocks)) for part in self.parts]
        joined = np.concatenate(sizes).astype(np.float64)
        return joined if len(self.parts) == 1 else within_budget(joined, self.plan)

    def estimate(self) -> float:
        """Return the statistic: the average of the block values, or the value of the pooled moments."""
        return self.symmetry.observed(self.moments) if self.symmetry.is_pooled else self.mean()

    def mean(self) -> float:
        """Return the average of the block values (Zaremba et al. 2013, eq. 4)."""
        return float(self.values.mean())

    def standard_deviation(self) -> float:
        """Return the sample standard deviation of the block values, of one block against the others."""
        return sample_sd(self.values)


def _no_row_moments() -> RowMoments:
    return RowMoments(0.0, 0.0, 0.0, 0.0, 1.0)


def sample_sd(values: Array) -> float:
    """Return the sample standard deviation: (m,) to a number, NaN for one value alone."""
    if values.size < 2:
        return float("nan")
    # From the first value: the mean of equal numbers may be rounded apart from them.
    deviations = values - values[0]
    deviations -= deviations.mean()
    # Squares of numbers beyond 1e154 overflow, and below 1e-154 vanish: measure in units of the largest.
    unit = float(np.abs(deviations).max())
    return 0.0 if unit == 0.0 else unit * float(np.sqrt(np.sum((deviations / unit) ** 2) / (values.size - 1)))
