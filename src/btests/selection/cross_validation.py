"""Kernel selection by cross-validation of the witness function."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from btests._text import brief
from btests.data.sample import AnySample
from btests.plan import MAX_GROUPS, Array, Plan, group_sizes
from btests.selection.families import AnyFamily, bandwidths, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.training import (
    check_fraction,
    has_enough_pairs,
    split,
    summarize_as_tested,
    summarize_checked,
    take_best,
)
from btests.summary import MIN_SNR, Summary


@dataclass(frozen=True, slots=True)
class CrossValidation:
    r"""Select the kernel with the smallest linear loss in cross-validation on held-out rows.

    The witness ``f(z) = mean_x k(x, z) - mean_y k(y, z)`` is estimated on all folds but one. Its score on that fold is
    ``mean f(x) - mean f(y)``, the negative loss, and the score of a kernel is the average over folds. It is an unbiased
    MMD^2 over the pairs in different folds, so the choice is close to that of ``MaxMMD``, in quadratic time. Provided
    for comparison, as in the reference.

    Attributes
    ----------
    family : sequence of Kernel or MakesKernels
        Kernels, or a family that depends on the training rows, such as ``MedianFamily()``.
    n_folds : int
        Number of folds, 2 to 32; at most the number of rows.
    fraction : float
        Share of the rows of the shorter sample used for selection. As many rows of the longer one are used; all others
        are tested.

    References
    ----------
    A. Gretton et al., "Optimal kernel choice for large-scale two-sample tests", NIPS 2012.
    """

    family: AnyFamily = field(default_factory=bandwidths)
    n_folds: int = 5
    fraction: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        n = self.n_folds
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 2 <= n <= MAX_GROUPS:
            raise ValueError(f"n_folds must be a whole number between 2 and {MAX_GROUPS}, got {brief(n)}")
        check_fraction(self.fraction)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the selected kernel and the test rows."""
        parts = split(x, y, self.fraction, setting, as_many=True)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        n = len(parts.choice_x)
        summaries = summarize_checked(kernels, parts.choice_x, parts.choice_y, Plan(n, n, 1), setting)
        scores = np.array([held_out_score(summary, self.n_folds) for summary in summaries])
        noise = np.array([summary.rounding for summary in summaries])
        sizes = np.array([size_between_folds(summary, self.n_folds) for summary in summaries])
        # The score uses all pairs of rows, the test only those within blocks: a kernel needs enough of the latter.
        seen = summarize_as_tested(kernels, parts.choice_x, parts.choice_y, setting)
        # Ignored kernels are 0 or within rounding on all pairs of different folds. (A score of 0 alone may be chance.)
        is_eligible = has_enough_pairs(sizes > MIN_SNR * noise, seen)
        return take_best(kernels, scores, is_eligible, parts, slack=noise)

    def __repr__(self) -> str:
        return f"CrossValidation({shown(self.family)}, n_folds={self.n_folds}, fraction={self.fraction:g})"


def folds_of_groups(n_rows: int, n_folds: int) -> Array:
    """Return the indicator of groups of rows in folds: (n_folds, g). Row r of the block is in group r mod g."""
    n_groups = Plan(n_rows, n_rows, 1).n_groups
    n_folds = min(n_folds, n_groups)
    return np.asarray(np.arange(n_groups) * n_folds // n_groups == np.arange(n_folds)[:, None], dtype=np.float64)


def size_between_folds(summary: Summary, n_folds: int) -> float:
    """Return the standard deviation over all sign flips of the MMD^2 over pairs in different folds."""
    member = folds_of_groups(summary.plan.n_x, n_folds)
    part = summary.parts[0]
    return replace(summary, parts=(replace(part, moments=part.moments * (1.0 - member.T @ member)),)).deviation()


def held_out_score(summary: Summary, n_folds: int) -> float:
    """Return the cross-validation score from the summary of one block of all rows.

    The sign-flip matrix holds ``h(z_a, z_b) / (n (n - 1))``, summed over a in one group of rows and b in another. The
    witness of some rows, averaged over others, is an average of h between the two.
    """
    n = summary.plan.n_x
    member = folds_of_groups(n, n_folds)
    between = member @ summary.moments[0] @ (1.0 - member).T
    sizes = member @ group_sizes(n, member.shape[1])
    return float(np.mean(n * (n - 1.0) * np.diagonal(between) / (sizes * (n - sizes))))
