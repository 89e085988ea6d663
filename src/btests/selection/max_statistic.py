"""Kernel selection by the largest MMD, or by its ratio to the standard deviation."""

from __future__ import annotations

from dataclasses import dataclass, field

from btests.data.sample import AnySample
from btests.kernels.kernel import require_positive
from btests.selection.families import AnyFamily, bandwidths, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.training import check_fraction, gather, split, take_best


@dataclass(frozen=True, slots=True)
class MaxMMD:
    """Select the kernel with the largest average block MMD^2 on held-out rows.

    It favours kernels with a large variance over those that separate the samples. Provided for comparison, as in the
    reference; ``MaxRatio`` has the same cost.

    Attributes
    ----------
    family : sequence of Kernel or MakesKernels
        Kernels, or a family that depends on the training rows, such as ``MedianFamily()``.
    fraction : float
        Share of the rows used for selection; they are not tested.

    See Also
    --------
    MaxRatio : takes the standard deviation into account.

    References
    ----------
    A. Gretton et al., "Optimal kernel choice for large-scale two-sample tests", NIPS 2012.
    """

    family: AnyFamily = field(default_factory=bandwidths)
    fraction: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        check_fraction(self.fraction)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the selected kernel and the test rows."""
        parts = split(x, y, self.fraction, setting)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        statistics = gather(kernels, parts.choice_x, parts.choice_y, setting)
        return take_best(kernels, statistics.means(), statistics.is_nonzero, parts, slack=statistics.noise)

    def __repr__(self) -> str:
        return f"MaxMMD({shown(self.family)}, fraction={self.fraction:g})"


@dataclass(frozen=True, slots=True)
class MaxRatio:
    r"""Select the kernel with the largest ``eta / sqrt(Q_jj + regulariser)`` on held-out rows.

    eta is the average and Q_jj the variance of the block statistics (sums over the pairs of a block, as in
    ``Weights``). For many blocks the power of the test increases with this ratio ([1]_; section 3 of [2]_). ``Weights``
    maximises it over combinations. Here and in the other selectors, kernels with fewer than five effective pairs of
    rows are ignored, unless all have fewer.

    Attributes
    ----------
    family : sequence of Kernel or MakesKernels
        Kernels, or a family that depends on the training rows, such as ``MedianFamily()``.
    regulariser : float
        Added to the variance, so that nearly constant kernels with a standard deviation close to 0 are not selected.
    fraction : float
        Share of the rows used for selection; they are not tested.

    See Also
    --------
    Weights : the best combination instead of a single kernel.
    Aggregate : all kernels on all rows.

    References
    ----------
    .. [1] A. Gretton et al., "Optimal kernel choice for large-scale two-sample tests", NIPS 2012.
    .. [2] W. Zaremba, A. Gretton, M. Blaschko, "B-tests: Low Variance Kernel Two-Sample Tests", NIPS 2013.
    """

    family: AnyFamily = field(default_factory=bandwidths)
    regulariser: float = 1e-3
    fraction: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        require_positive("regulariser", self.regulariser)
        check_fraction(self.fraction)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the selected kernel and the test rows."""
        parts = split(x, y, self.fraction, setting)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        statistics = gather(kernels, parts.choice_x, parts.choice_y, setting)
        ratios, slack = statistics.ratios(self.regulariser), statistics.slack(self.regulariser)
        return take_best(kernels, ratios, statistics.is_nonzero, parts, slack=slack)

    def __repr__(self) -> str:
        return f"MaxRatio({shown(self.family)}, regulariser={self.regulariser:g}, fraction={self.fraction:g})"
