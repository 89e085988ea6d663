"""Aggregated test with all kernels of a family on all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from btests._option_checks import is_one_of
from btests._text import brief
from btests.block_size import FEATURES
from btests.data.sample import AnySample
from btests.kernels.kernel import require_positive
from btests.nulls.aggregation import AggregatedOutcome, largest_score, smallest_rank
from btests.nulls.sign_flip import SignFlip
from btests.selection.families import (
    AnyFamily,
    MakesKernels,
    bandwidths,
    check_family,
    default_family,
    kernels_of,
    margin_kernels,
    shown,
)
from btests.selection.fisher import discriminants_of, fisher_family
from btests.selection.selector import Candidate, Selection, Setting
from btests.summary import Summary
from btests.symmetries.pooled_rows import exchangeable, partners

_PAPER = bandwidths()

#: Sharpness of the soft maximum, per standard deviation.
SHARPNESS = 2.0


@dataclass(frozen=True, slots=True)
class Aggregate:
    r"""Test with every kernel of a family on all rows, corrected for multiple kernels.

    The statistics of all kernels are compared with their distribution under shared sign flips, so the p-value of the
    best one is exact and no rows are held out. The result has the strongest kernel, its MMD^2 as the statistic, and
    the corrected threshold on the same scale. The confidence interval for its MMD^2 is not corrected for the choice
    of the best kernel. Always in float64.

    Attributes
    ----------
    family : sequence of Kernel or MakesKernels
        Kernels; by default the paper's 26 bandwidths. A family that depends on the data, such as ``MedianFamily()``,
        must be invariant under swaps of x_a and y_a.
    correction : {"max", "soft", "rank", "pvalue"}
        ``"max"``: the largest MMD^2 over its own standard deviation. ``"soft"``: the soft maximum of these ratios, as
        in MMD-FUSE. ``"rank"``: the smallest p-value over its weight, p-values by ranks among the flips, the
        correction of MMDAgg. ``"pvalue"``: the same with p-values of Pearson III distributions with the variance and
        skewness of all flips, which resolve smaller p-values than ranks. docs/power.md compares them.
    weights : sequence of float, optional
        Share of the level per kernel, positive, for ``"rank"`` and ``"pvalue"``; by default equal.
    one_block : sequence of Kernel or MakesKernels, optional
        Further kernels where one block holds all rows, such as ``fisher_family()``.
    margins : bool
        Whether samples of different lengths that features compare have one more kernel, a sum over coordinates of
        Gaussians half as wide as the median bandwidth of each; for 2 to 32 coordinates.

    See Also
    --------
    MaxRatio, Weights : selection on held-out rows.

    References
    ----------
    F. Biggs, A. Schrab, A. Gretton, "MMD-FUSE: Learning and Combining Kernels for Two-Sample Testing Without Data
    Splitting", NeurIPS 2023.
    A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj, A. Gretton, "MMD Aggregated Two-Sample Test", JMLR 24, 2023.

    Examples
    --------
    >>> import numpy as np, btests
    >>> from btests.datasets import blobs
    >>> rng = np.random.default_rng(1)
    >>> x, y = blobs(1000, rng), blobs(1000, rng, rotated=False)
    >>> result = btests.btest(x, y, kernel=btests.Aggregate(), seed=0)
    >>> result.pvalue, result.kernel
    (0.0005, Gaussian(bandwidth=1.0))
    """

    family: AnyFamily = _PAPER
    correction: Literal["max", "soft", "rank", "pvalue"] = "max"
    weights: Sequence[float] | None = None
    one_block: AnyFamily | None = None
    margins: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        if self.one_block is not None:
            object.__setattr__(self, "one_block", check_family(self.one_block))
        if not isinstance(self.margins, bool):
            raise TypeError(f"margins must be True or False, got {brief(self.margins)}")
        if not is_one_of(self.correction, "max", "soft", "rank", "pvalue"):
            raise ValueError(f"correction must be 'max', 'soft', 'rank' or 'pvalue', got {brief(self.correction)}")
        if self.weights is None:
            return
        if self.correction not in ("pvalue", "rank"):
            raise ValueError(f"weights are for correction='pvalue' and 'rank'; {self.correction!r} takes none")
        if not isinstance(self.weights, (Sequence, np.ndarray)) or isinstance(self.weights, str):
            raise TypeError(f"weights must be a list, one for each kernel, got {brief(self.weights)}")
        for weight in self.weights:
            require_positive("the weight of a kernel", weight)
        object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return all kernels as candidates, with all rows."""
        kernels = kernels_of(self.family, x, y)
        size, rule = setting.block_size(x, y, kernels)
        if not x.is_numeric and len(x) != len(y) and rule == FEATURES and isinstance(self.family, MakesKernels):
            raise ValueError(
                "a family that depends on the rows needs an order of them, which objects do not have; name its kernels "
                "one by one, or take statistic='blocks'"
            )
        p, q = exchangeable(x, y) if rule == FEATURES and x.is_numeric else partners(x, y, size)
        if len(x) != len(y):  # pairing depends on the block size, which depends on the number of kernels
            kernels = kernels_of(self.family, p, q)
        if self.one_block is not None and rule == FEATURES:
            kernels += discriminants_of(self.one_block, p, q)
        elif self.one_block is not None and size == min(len(x), len(y)):
            kernels += kernels_of(self.one_block, p, q)
        if self.margins and rule == FEATURES and len(x) != len(y):
            kernels += margin_kernels(p, q)
        if self.weights is not None and len(self.weights) != len(kernels):
            raise ValueError(f"one weight per kernel: got {len(self.weights)} weights, {len(kernels)} kernels")
        return Selection(kernels[0], x, y, tuple(Candidate(kernel, 0.0, 0.0) for kernel in kernels))

    def conclude(
        self, summaries: Sequence[Summary], null: SignFlip, seed: int, n_threads: int | None = None
    ) -> AggregatedOutcome:
        """Return the strongest kernel and its null distribution."""
        if self.weights is not None and len(self.weights) != len(summaries):
            raise ValueError(
                f"one weight per member of the statistic: got {len(self.weights)} weights, {len(summaries)} members"
            )
        flips = summaries[0].draw(null.n_resamples, seed, n_threads)
        weights = np.array(self.weights or np.ones(len(summaries)))
        weights /= weights.sum()
        if self.correction == "rank":
            if null.ties != "conservative":
                raise ValueError(
                    f"correction='rank' counts ties conservatively: null must be SignFlip(), got {brief(null)}"
                )
            return smallest_rank(summaries, flips, weights)
        sharpness = SHARPNESS if self.correction == "soft" else math.inf
        used = weights if self.correction == "pvalue" else None
        return largest_score(summaries, flips, used, sharpness=sharpness, tie_weight=null.tie_weight(seed))

    def __repr__(self) -> str:
        weights = "" if self.weights is None else ", weights=..."
        correction = "" if self.correction == "max" else f", correction={self.correction!r}"
        more = "" if self.one_block is None else f", one_block={shown(self.one_block)}"
        margins = ", margins=True" if self.margins else ""
        return f"Aggregate({shown(self.family)}{correction}{weights}{more}{margins})"


def default_aggregate() -> Aggregate:
    """Return the default of ``btest``: :func:`default_family`, and in one block :func:`fisher_family` beside it.

    Samples of different lengths have a sum over margins as well. docs/power.md compares it with others.
    """
    return Aggregate(default_family(), one_block=fisher_family(), margins=True)
