"""The compiled loops: values and moments of MMD and HSIC, sums of features, sign flips, relabelled bins. See README.md.

Each function here has a numpy version in ``btests.statistics.numpy_backend``, ``btests.statistics.walsh_tiles``,
``btests.statistics.fourier_features``, ``btests.symmetries.swap_groups`` or ``btests.symmetries.relabel_bins``, which
callers use if ``is_available()`` is False.
"""

from btests._core.bandwidth_chain import belong_together
from btests._core.block_sums import lanes_are_blocks, summarize
from btests._core.draws import flip, label_pairs
from btests._core.fourier_sums import RowGroups, fourier_sums
from btests._core.hsic_blocks import Side, hsic
from btests._core.library import engine_name, instruction_set, instruction_sets, is_available

__all__ = [
    "RowGroups",
    "Side",
    "belong_together",
    "engine_name",
    "flip",
    "fourier_sums",
    "hsic",
    "instruction_set",
    "instruction_sets",
    "is_available",
    "label_pairs",
    "lanes_are_blocks",
    "summarize",
]
