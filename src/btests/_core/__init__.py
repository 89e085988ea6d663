"""The compiled loops: block values and moments, and sign flips. See README.md beside this file.

Each function here has a numpy version in ``btests.statistics.numpy_backend`` or ``btests.nulls.sign_draws``, which
callers use if ``is_available()`` is False.
"""

from btests._core.bandwidth_chain import belong_together
from btests._core.block_sums import summarize
from btests._core.layout import lanes_are_blocks
from btests._core.library import instruction_set, is_available, use_instruction_set
from btests._core.sign_flips import flip

__all__ = [
    "belong_together",
    "flip",
    "instruction_set",
    "is_available",
    "lanes_are_blocks",
    "summarize",
    "use_instruction_set",
]
