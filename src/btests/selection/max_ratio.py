"""The kernel of the largest ratio of mean and standard deviation."""

from __future__ import annotations

from dataclasses import dataclass, field

from btests.data.sample import AnySample
from btests.kernels.kernel import require_positive
from btests.selection.bandwidth_families import bandwidths
from btests.selection.block_statistics import gather
from btests.selection.family import AnyFamily, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.train_test_split import check_fraction, split, take_best


@dataclass(frozen=True, slots=True)
class MaxRatio:
    r"""The one kernel of the largest ``eta / sqrt(Q_jj + regulariser)`` on some of the rows; the others are tested.

    eta is the average and Q_jj the variance of the block statistics (sums over the pairs of a block, as in
    ``Weights``). For many blocks the power of the test grows with this ratio (Gretton et al. 2012b; section 3 of
    Zaremba et al. 2013), and it is what ``Weights`` maximises over combinations. Here and in the other selectors a
    kernel whose score is carried by fewer than five pairs of rows is not asked, unless all are such.

    Attributes
    ----------
    family
        A list of kernels, or what makes one of the rows that the choice is made on, such as ``MedianFamily()``.
    regulariser
        Keeps kernels that are nearly 0 or nearly constant from winning by a spread that is nearly 0, and makes the
        ratio of a spread of 0 a number.
    fraction
        Share of the rows that the choice is made on, and that are not tested.
    """

    family: AnyFamily = field(default_factory=bandwidths)
    regulariser: float = 1e-3
    fraction: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        require_positive("regulariser", self.regulariser)
        check_fraction(self.fraction)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the kernel and the rows to test with it."""
        parts = split(x, y, self.fraction, setting)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        evidence = gather(kernels, parts.choice_x, parts.choice_y, setting)
        ratios, slack = evidence.ratios(self.regulariser), evidence.slack(self.regulariser)
        return take_best(kernels, ratios, evidence.is_alive, parts, slack=slack)

    def __repr__(self) -> str:
        return f"MaxRatio({shown(self.family)}, regulariser={self.regulariser:g}, fraction={self.fraction:g})"
