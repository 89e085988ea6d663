"""Block statistics of each kernel of a family on the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from btests.data.sample import AnySample
from btests.kernels.kernel import Kernel
from btests.plan import Array, Plan
from btests.selection.selector import Setting
from btests.statistics import MMD, summarize_all
from btests.statistics.checks import check_kernel, overflow_error
from btests.summary import MIN_SNR, Summary, sample_sd

# Minimum number of blocks for a standard deviation; blocks of the training rows are made smaller to reach it.
_LEAST_BLOCKS = 8

# The signs of four pairs are all positive with probability 1/16, of five with 1/32: five is the least for a level of
# 5 %.
_FEWEST_PAIRS = 5.0


@dataclass(frozen=True, slots=True)
class BlockStatistics:
    r"""Block values of each kernel on the same blocks.

    Means and spreads are those of the sums over the pairs a < b of a block, ``B (B - 1) / 2`` times its MMD^2. That is
    the scale of the paper's experiments and of its regulariser of 1e-3: the null variance of such a sum is
    ``2 B (B - 1) sum(lambda^2)``, so for kernels with values up to 1 the regulariser matters only for those that are
    nearly 0 or nearly constant on the data. Unbounded kernels (Linear, Energy) on tiny or huge data need another
    regulariser.

    Attributes
    ----------
    values : ndarray of shape (J, m)
        Unbiased MMD^2 of each of m blocks for each of J kernels.
    n_pairs : float
        Number of pairs a < b in a block.
    noise : ndarray of shape (J,) or float
        Rounding error of the means.
    """

    values: Array
    n_pairs: float
    noise: Array | float = 0.0

    @property
    def is_nonzero(self) -> npt.NDArray[np.bool_]:
        """Whether a kernel has a nonzero block value; False if it is 0 or constant up to rounding: (J,)."""
        return np.asarray((self.values != 0.0).any(axis=1))

    def means(self) -> Array:
        """Return the estimate of MMD^2, the paper's eta: (J,)."""
        return np.asarray(self.values.mean(axis=1))

    def spreads(self, regulariser: float) -> Array:
        """Return ``sqrt(Q_jj + regulariser)``, Q_jj the variance of the block sums: (J,)."""
        return np.hypot([self.n_pairs * sample_sd(row) for row in self.values], np.sqrt(regulariser))

    def ratios(self, regulariser: float) -> Array:
        """Return mean over spread of the block sums: (J,)."""
        return self.n_pairs * self.means() / self.spreads(regulariser)

    def slack(self, regulariser: float) -> Array:
        """Return the rounding error of the ratios: (J,)."""
        return np.asarray(self.n_pairs * self.noise / self.spreads(regulariser))

    def correlations(self, regulariser: float) -> Array:
        """Return ``Q + regulariser I``, rows and columns divided by ``spreads``: (J, J), 1 on the diagonal."""
        # Divide before squaring, to avoid overflow and underflow for any scale of a kernel.
        deviations = self.values - self.values[:, :1]
        deviations -= deviations.mean(axis=1, keepdims=True)
        deviations *= self.n_pairs / self.spreads(regulariser)[:, None]
        out = deviations @ deviations.T / (self.values.shape[1] - 1)
        np.fill_diagonal(out, 1.0)
        return np.asarray(out)


def gather(
    kernels: tuple[Kernel, ...], x: AnySample, y: AnySample, setting: Setting, *, ask_all: bool = False
) -> BlockStatistics:
    """Return block statistics of two samples, in blocks of the size of the test or smaller.

    Parameters
    ----------
    kernels : tuple of Kernel
        J kernels.
    x, y : AnySample
        Training rows.
    setting : Setting
        Options of the test.
    ask_all : bool
        Whether to keep kernels with few effective pairs; otherwise their values are set to 0, see `has_enough_pairs`.
    """
    return block_statistics_of(summarize_as_tested(kernels, x, y, setting), ask_all=ask_all)


def block_statistics_of(summaries: Sequence[Summary], *, ask_all: bool = False) -> BlockStatistics:
    """Return block statistics from summaries, one per kernel, of the same blocks."""
    b = summaries[0].plan.block_size
    values = np.stack([summary.values for summary in summaries])
    noise = np.array([summary.rounding for summary in summaries])
    is_resolved = _sizes(values) > MIN_SNR * noise
    values[~(is_resolved if ask_all else has_enough_pairs(is_resolved, summaries))] = 0.0
    return BlockStatistics(values, b * (b - 1) / 2.0, noise)


def summarize_as_tested(
    kernels: tuple[Kernel, ...], x: AnySample, y: AnySample, setting: Setting
) -> tuple[Summary, ...]:
    """Return one summary per kernel, in blocks of the size of the test or smaller."""
    n = min(len(x), len(y))
    size = min(setting.rule.for_selection(n), max(2, n // _LEAST_BLOCKS))
    plan = Plan.of_size(len(x), len(y), size, len(kernels))
    return summarize_checked(kernels, x, y, plan, setting)


def has_enough_pairs(is_resolved: npt.NDArray[np.bool_], summaries: Sequence[Summary]) -> npt.NDArray[np.bool_]:
    """Return a mask (J,) of the resolved kernels with enough effective pairs, or of all resolved ones if none has.

    A kernel so narrow that one pair of rows dominates scores well by chance. It has as few effective pairs in the test
    rows and no power there.
    """
    enough = is_resolved & np.array([summary.n_effective_pairs() >= _FEWEST_PAIRS for summary in summaries])
    return enough if enough.any() else is_resolved


def _sizes(values: Array) -> Array:
    """Return the root of the sum of squares over m, without overflow: (J, m) to (J,)."""
    largest = np.abs(values).max(axis=1)
    units = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.sum((values / units[:, None]) ** 2, axis=1)) / values.shape[1])


def summarize_checked(
    kernels: tuple[Kernel, ...], x: AnySample, y: AnySample, plan: Plan, setting: Setting
) -> tuple[Summary, ...]:
    """Return one summary per kernel; raise if a kernel does not suit the data."""
    for kernel in kernels:
        check_kernel(kernel, x, y)
    # Always in float64: wide kernels of a family are dominated by rounding in float32.
    summaries = summarize_all(MMD(kernels), x, y, plan, setting.n_threads, executor=setting.executor)
    for kernel, summary in zip(kernels, summaries, strict=True):
        if not np.isfinite(summary.values).all():
            raise overflow_error(kernel, in_family=True)
    return summaries
