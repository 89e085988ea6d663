"""The kernel whose witness does best on rows that it has not learned from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from btests.data.sample import AnySample
from btests.plan import MAX_GROUPS, Array, Plan, group_sizes
from btests.selection.bandwidth_families import bandwidths
from btests.selection.block_statistics import summarize_as_tested, summarize_checked, worth_asking
from btests.selection.family import AnyFamily, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.train_test_split import check_fraction, split, take_best
from btests.summary import MIN_SNR, Summary


@dataclass(frozen=True, slots=True)
class CrossValidation:
    r"""The kernel with the smallest linear loss in cross-validation, on some of the rows; the others are tested.

    The witness ``f(z) = mean_x k(x, z) - mean_y k(y, z)`` is learned on all folds but one. Its score on the rows of
    that one is ``mean f(x) - mean f(y)``, the loss with its sign turned, and a kernel's score is the average over folds
    (Gretton et al. 2012b, who compare with it). It is an unbiased MMD^2 from the pairs in different folds alone, so the
    choice is much like that of ``MaxMMD``, in quadratic time: here for comparison.

    Attributes
    ----------
    family
        A list of kernels, or what makes one of the rows that the choice is made on, such as ``MedianFamily()``.
    n_folds
        Folds, 2 to 32; at most as many as there are rows.
    fraction
        Share of the rows of the shorter sample that the choice is made on. As many rows are taken from the longer one;
        all others are tested.
    """

    family: AnyFamily = field(default_factory=bandwidths)
    n_folds: int = 5
    fraction: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        n = self.n_folds
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 2 <= n <= MAX_GROUPS:
            raise ValueError(f"n_folds must be a whole number between 2 and {MAX_GROUPS}, got {n!r}")
        check_fraction(self.fraction)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the kernel and the rows to test with it."""
        parts = split(x, y, self.fraction, setting, as_many=True)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        n = len(parts.choice_x)
        summaries = summarize_checked(kernels, parts.choice_x, parts.choice_y, Plan(n, n, 1), setting.executor)
        scores = np.array([held_out_score(summary, self.n_folds) for summary in summaries])
        noise = np.array([summary.rounding for summary in summaries])
        sizes = np.array([size_between_folds(summary, self.n_folds) for summary in summaries])
        # All pairs of rows make the score, and those within blocks the test: a kernel must see enough of these.
        seen = summarize_as_tested(kernels, parts.choice_x, parts.choice_y, setting)
        # The others saw no two rows of different folds, or nothing but noise there. (A score of 0 may be a draw.)
        is_alive = worth_asking(sizes > MIN_SNR * noise, seen)
        return take_best(kernels, scores, is_alive, parts, slack=noise)

    def __repr__(self) -> str:
        return f"CrossValidation({shown(self.family)}, n_folds={self.n_folds}, fraction={self.fraction:g})"


def folds_of_groups(n_rows: int, n_folds: int) -> Array:
    """Return 1 where a group of rows belongs to a fold: (folds, groups). Row r of the block is in group r mod g."""
    n_groups = Plan(n_rows, n_rows, 1).n_groups
    n_folds = min(n_folds, n_groups)
    return np.asarray(np.arange(n_groups) * n_folds // n_groups == np.arange(n_folds)[:, None], dtype=np.float64)


def size_between_folds(summary: Summary, n_folds: int) -> float:
    """Return the deviation of MMD^2 over all sign flips, from the pairs in different folds alone."""
    member = folds_of_groups(summary.plan.n_x, n_folds)
    part = summary.parts[0]
    return replace(summary, parts=(replace(part, moments=part.moments * (1.0 - member.T @ member)),)).deviation()


def held_out_score(summary: Summary, n_folds: int) -> float:
    """Return the average over folds of what the witness of the other folds finds in one, from one block of all rows.

    The core holds ``h(z_a, z_b) / (n (n - 1))``, summed over a in one group of rows and b in another, and a witness of
    some rows, averaged over others, is an average of h between the two.
    """
    n = summary.plan.n_x
    member = folds_of_groups(n, n_folds)
    between = member @ summary.moments[0] @ (1.0 - member).T
    sizes = member @ group_sizes(n, member.shape[1])
    return float(np.mean(n * (n - 1.0) * np.diagonal(between) / (sizes * (n - sizes))))
