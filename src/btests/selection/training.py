"""Training rows of kernel selection: the split of all rows, and block statistics of each kernel on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from btests._text import brief
from btests._warnings import SelectionWarning, warn
from btests.data.sample import AnySample
from btests.kernels.combination import add, scale
from btests.kernels.kernel import Kernel
from btests.plan import Array, Plan
from btests.selection.selector import Candidate, Selection, Setting
from btests.statistics import MMD, summarize_all
from btests.statistics.checks import check_kernel, overflow_error
from btests.summary import MIN_SNR, Summary, sample_sd

# Two blocks of two rows: the least that have a standard deviation.
_LEAST_ROWS = 4

NO_DIFFERENCE = "no kernel found a difference on the rows of the choice"

# Minimum number of blocks for a standard deviation; blocks of the training rows are made smaller to reach it.
_LEAST_BLOCKS = 8

# The signs of four pairs are all positive with probability 1/16, of five with 1/32: five is the least for a level of
# 5 %.
_FEWEST_PAIRS = 5.0


class TrainTestRows(NamedTuple):
    """Training rows (``choice_x``, ``choice_y``) and test rows of both samples; disjoint."""

    choice_x: AnySample
    choice_y: AnySample
    test_x: AnySample
    test_y: AnySample


def check_fraction(fraction: object) -> None:
    """Raise unless ``fraction`` is strictly between 0 and 1."""
    number = isinstance(fraction, (int, float, np.floating)) and not isinstance(fraction, bool)
    if not (number and isinstance(fraction, (int, float, np.floating)) and 0.0 < fraction < 1.0):
        raise ValueError(f"fraction must be between 0 and 1, both excluded, got {brief(fraction)}")


def split(x: AnySample, y: AnySample, fraction: float, setting: Setting, *, as_many: bool = False) -> TrainTestRows:
    """Return a share of the rows for kernel selection and the others for the test.

    The first rows in their order are used for selection; the order is random unless shuffling is off. Samples of the
    same length remain so.

    Parameters
    ----------
    x, y : AnySample
        Both samples.
    fraction : float
        Share of the rows used for selection.
    setting : Setting
        Options of the test; a fixed block size must not exceed the number of test rows.
    as_many : bool
        Whether to take as many training rows from the longer sample as from the shorter one.
    """
    n_x, n_y = len(x), len(y)
    shorter = min(n_x, n_y)
    for_x, for_y = (int(fraction * (shorter if as_many else n)) for n in (n_x, n_y))
    n_choice, n_test = min(for_x, for_y), min(n_x - for_x, n_y - for_y)
    if min(n_choice, n_test) < _LEAST_ROWS:
        raise ValueError(
            f"fraction={fraction:g} of {shorter} rows leaves {n_choice} to choose the kernel and {n_test} to test; "
            f"each needs at least {_LEAST_ROWS}, so take more rows or name the kernel"
        )
    if setting.rule.size is not None and setting.rule.size > n_test:
        raise ValueError(
            f"block_size must be between 2 and {n_test}, the rows that are left for the test after the choice of the "
            f"kernel took fraction={fraction:g} of {shorter}, got {setting.rule.size}"
        )
    (choice_x, test_x), (choice_y, test_y) = x.split(for_x), y.split(for_y)
    return TrainTestRows(choice_x, choice_y, test_x, test_y)


def take_best(
    kernels: tuple[Kernel, ...],
    scores: Array,
    is_eligible: npt.NDArray[np.bool_],
    parts: TrainTestRows,
    *,
    note: str = "",
    slack: Array | float = 0.0,
) -> Selection:
    """Return the kernel with the largest score, the first one of ties within ``slack``.

    Kernels that are 0 or constant on the training rows have score 0, which exceeds negative scores; they are ignored.
    If all are, the average of all kernels is returned, with a warning: it has power against every difference that one
    of them detects.

    Parameters
    ----------
    kernels : tuple of Kernel
        J kernels.
    scores : ndarray of shape (J,)
        Scores, larger is better.
    is_eligible : ndarray of bool, shape (J,)
        Kernels that may be selected.
    parts : TrainTestRows
        Training and test rows.
    note : str
        Note of the result.
    slack : ndarray of shape (J,) or float
        Rounding error of the scores.
    """
    if not is_eligible.any():
        note = "no kernel tells any rows apart, so nothing can be chosen; taking all with the same weight"
        warn(note, SelectionWarning)
        return combine(kernels, scores, np.full(len(kernels), 1.0 / len(kernels)), parts, note)
    best = argmax_within(scores, is_eligible, slack)
    weights = (np.arange(len(kernels)) == best).astype(np.float64)
    return combine(kernels, scores, weights, parts, note or ("" if scores[best] > 0.0 else NO_DIFFERENCE))


def argmax_within(scores: Array, is_eligible: npt.NDArray[np.bool_], slack: Array | float) -> int:
    """Return the first index of ``is_eligible`` whose score is the largest up to ``slack``: (J,) to int."""
    return int(np.argmax(is_eligible & (scores + slack >= np.where(is_eligible, scores - slack, -np.inf).max())))


def combine(
    kernels: tuple[Kernel, ...], scores: Array, weights: Array, parts: TrainTestRows, note: str = ""
) -> Selection:
    """Return the weighted sum of the kernels, or the only one with positive weight, and the test rows."""
    candidates = tuple(
        Candidate(kernel, float(s), float(w)) for kernel, s, w in zip(kernels, scores, weights, strict=True)
    )
    taken = [c for c in candidates if c.weight > 0.0]
    chosen: Kernel = taken[0].kernel
    if len(taken) > 1:
        chosen = reduce(add, (scale(c.kernel, c.weight) for c in taken))
    spent = (len(parts.choice_x), len(parts.choice_y))
    return Selection(chosen, parts.test_x, parts.test_y, candidates, note, spent)


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
