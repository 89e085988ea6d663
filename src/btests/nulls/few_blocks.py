"""The warning that several nulls share."""

from __future__ import annotations

from btests._warnings import FewBlocksWarning, warn


def warn_if_few_blocks(null: str, n_blocks: int, wanted: int) -> None:
    """Warn that the level of ``null`` is not what it says with so few blocks."""
    if n_blocks < wanted:
        warn(
            f"{null} is an approximation for many blocks or rows; it wants {wanted} or more and has {n_blocks}: "
            "its p-value may be off; null=SignFlip() holds its level with any number",
            FewBlocksWarning,
        )
