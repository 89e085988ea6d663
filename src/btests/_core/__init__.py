"""The compiled loops: block values and moments of MMD and HSIC, sums of features, and sign flips. See README.md.

Each function here has a numpy version in ``btests.statistics.numpy_backend``, ``btests.statistics.walsh_tiles``,
``btests.statistics.fourier`` or ``btests.symmetries.swap_groups``, which callers use if ``is_available()`` is False.
"""

from btests._core.bandwidth_chain import belong_together
from btests._core.block_sums import summarize
from btests._core.fourier_sums import RowGroups, fourier_sums
from btests._core.hsic_blocks import Side, hsic
from btests._core.layout import lanes_are_blocks
from btests._core.library import instruction_set, is_available, use_instruction_set
from btests._core.sign_flips import flip

__all__ = [
    "RowGroups",
    "Side",
    "belong_together",
    "flip",
    "fourier_sums",
    "hsic",
    "instruction_set",
    "is_available",
    "lanes_are_blocks",
    "summarize",
    "use_instruction_set",
]
