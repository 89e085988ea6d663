"""What the rows for the choice say about each kernel of a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from btests.data.sample import AnySample
from btests.kernels.kernel import Kernel
from btests.plan import Array, Plan
from btests.selection.selector import Setting
from btests.statistics import MMD, Executor, summarize_all
from btests.statistics.checks import check_kernel
from btests.summary import MIN_SNR, Summary, sample_sd

# A spread from fewer blocks says little: blocks of the choice are made smaller where there would not be as many.
_LEAST_BLOCKS = 8

# Signs of four pairs are all positive in one of sixteen cases, of five in one of thirty-two: no fewer can tell samples
# apart at a level of 5 %.
_FEWEST_PAIRS = 5.0


@dataclass(frozen=True, slots=True)
class Evidence:
    r"""Block values of each kernel on the same blocks.

    Means and spreads are those of the sums over the pairs a < b of a block, ``B (B - 1) / 2`` times its MMD^2. That is
    the scale of the paper's experiments, and the one on which its regulariser of 1e-3 acts: the null variance of such a
    sum is ``2 B (B - 1) sum(lambda^2)``, so for kernels with values up to 1 the regulariser is felt by those that are
    nearly 0 or nearly constant on the data, and by no others. (Kernels without such a scale, Linear or Distance on tiny
    or huge data, want a regulariser of their own.)

    Attributes
    ----------
    values
        The unbiased MMD^2 of each of m blocks for each of J kernels: (J, m).
    n_pairs
        Pairs a < b in a block.
    noise
        How well the means are known: (J,), or one number for all.
    """

    values: Array
    n_pairs: float
    noise: Array | float = 0.0

    @property
    def is_alive(self) -> npt.NDArray[np.bool_]:
        """Whether a kernel tells any rows apart, or is 0 or constant as far as floats can say: (J,)."""
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
        """Return how well the ratios are known: (J,)."""
        return np.asarray(self.n_pairs * self.noise / self.spreads(regulariser))

    def correlations(self, regulariser: float) -> Array:
        """Return ``Q + regulariser I``, rows and columns divided by ``spreads``: (J, J), 1 on the diagonal."""
        # Divided before they are squared, so that no scale of a kernel leaves the range of floats.
        deviations = self.values - self.values[:, :1]
        deviations -= deviations.mean(axis=1, keepdims=True)
        deviations *= self.n_pairs / self.spreads(regulariser)[:, None]
        out = deviations @ deviations.T / (self.values.shape[1] - 1)
        np.fill_diagonal(out, 1.0)
        return np.asarray(out)


def gather(
    kernels: tuple[Kernel, ...], x: AnySample, y: AnySample, setting: Setting, *, ask_all: bool = False
) -> Evidence:
    """Return the evidence of all blocks of two samples, of the size that the test has, or smaller.

    Kernels that are not ``worth_asking`` are given zeros, unless all that are heard are to be asked.
    """
    return evidence_of(summarize_as_tested(kernels, x, y, setting), ask_all=ask_all)


def evidence_of(summaries: Sequence[Summary], *, ask_all: bool = False) -> Evidence:
    """Return the evidence of summaries, one per kernel, of the same blocks."""
    b = summaries[0].plan.block_size
    values = np.stack([summary.values for summary in summaries])
    noise = np.array([summary.rounding for summary in summaries])
    is_resolved = _sizes(values) > MIN_SNR * noise
    values[~(is_resolved if ask_all else worth_asking(is_resolved, summaries))] = 0.0
    return Evidence(values, b * (b - 1) / 2.0, noise)


def summarize_as_tested(
    kernels: tuple[Kernel, ...], x: AnySample, y: AnySample, setting: Setting
) -> tuple[Summary, ...]:
    """Return one summary per kernel, in blocks of the size that the test has, or smaller."""
    n = min(len(x), len(y))
    size = min(setting.rule.for_selection(n), max(2, n // _LEAST_BLOCKS))
    plan = Plan.of_size(len(x), len(y), size, len(kernels))
    return summarize_checked(kernels, x, y, plan, setting.executor)


def worth_asking(is_resolved: npt.NDArray[np.bool_], summaries: Sequence[Summary]) -> npt.NDArray[np.bool_]:
    """Return which kernels may be chosen: of those that are heard, the ones that see enough, or all if none does: (J,).

    A kernel so narrow that one pair of rows outweighs all others scores well by chance, sees as little in the rows of
    the test, and finds nothing there: with whatever null, and with those that are right in the limit it never would.
    """
    enough = is_resolved & np.array([summary.n_effective_pairs() >= _FEWEST_PAIRS for summary in summaries])
    return enough if enough.any() else is_resolved


def _sizes(values: Array) -> Array:
    """Return the root of the sum of squares over m: (J, m) to (J,), of values of any scale."""
    largest = np.abs(values).max(axis=1)
    units = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.sum((values / units[:, None]) ** 2, axis=1)) / values.shape[1])


def summarize_checked(
    kernels: tuple[Kernel, ...], x: AnySample, y: AnySample, plan: Plan, executor: Executor
) -> tuple[Summary, ...]:
    """Return one summary per kernel, or say which kernel does not suit the data."""
    for kernel in kernels:
        check_kernel(kernel, x, y)
    # In float64, whatever the test will run in: the flat members of a wide family are nothing but rounding in float32.
    summaries = summarize_all(MMD(kernels), x, y, plan, executor=executor)
    for kernel, summary in zip(kernels, summaries, strict=True):
        if not np.isfinite(summary.values).all():
            raise ValueError(
                f"{kernel!r} overflowed or gave NaN here; scale the data down or take it out of the family"
            )
    return summaries
