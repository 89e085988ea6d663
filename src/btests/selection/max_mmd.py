"""Kernel selection by the largest MMD."""

from __future__ import annotations

from dataclasses import dataclass, field

from btests.data.sample import AnySample
from btests.selection.bandwidth_families import bandwidths
from btests.selection.block_statistics import gather
from btests.selection.family import AnyFamily, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.train_test_split import check_fraction, split, take_best


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
