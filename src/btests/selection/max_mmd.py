"""The kernel of the largest MMD."""

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
    """The kernel of the largest average block MMD^2 on some of the rows; the others are left for the test.

    It favours kernels whose MMD is large because they vary much, not because they tell the samples apart (Gretton et
    al. 2012b): here for comparison. ``MaxRatio`` costs the same.

    Attributes
    ----------
    family
        A list of kernels, or what makes one of the rows that the choice is made on, such as ``MedianFamily()``.
    fraction
        Share of the rows that the choice is made on, and that are not tested.
    """

    family: AnyFamily = field(default_factory=bandwidths)
    fraction: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        check_fraction(self.fraction)

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the kernel and the rows to test with it."""
        parts = split(x, y, self.fraction, setting)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        evidence = gather(kernels, parts.choice_x, parts.choice_y, setting)
        return take_best(kernels, evidence.means(), evidence.is_alive, parts, slack=evidence.noise)

    def __repr__(self) -> str:
        return f"MaxMMD({shown(self.family)}, fraction={self.fraction:g})"
