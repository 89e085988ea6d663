"""Protocol of a null distribution, and the warning that several share."""

from __future__ import annotations

from typing import Any, Protocol

from btests._warnings import FewBlocksWarning, warn
from btests.nulls.distributions import NullDistribution


class Null(Protocol):
    """Learns the distribution of a statistic under the null hypothesis from the evidence of all rows.

    The evidence is the :class:`btests.summary.Summary` of all blocks; for a null whose ``wants_gram`` is True, which
    is one of the quadratic-time tests, it is the :class:`btests.statistics.Gram` matrix of both samples.
    """

    def statistic(self, evidence: Any) -> float:
        """Return the statistic that this null is about."""
        ...

    def distribution(self, evidence: Any, seed: int) -> NullDistribution:
        """Return the distribution of that statistic under the null hypothesis."""
        ...


def wants_gram(null: Null) -> bool:
    """Whether a null learns from the Gram matrix of all rows and not from blocks."""
    return bool(getattr(null, "wants_gram", False))


def kinds_of_blocks(null: Null) -> dict[str, bool]:
    """Return whether a null distribution takes many blocks, or all rows: see ``check_block_rule``."""
    return {"many_blocks": bool(getattr(null, "many_blocks", False)), "all_rows": wants_gram(null)}


def check_sizes(null: Null, n_x: int, n_y: int) -> None:
    """Let a null refuse samples of such lengths, or the memory that they would take, before anything is computed."""
    check = getattr(null, "check_sizes", None)
    if check is not None:
        check(n_x, n_y)


def warn_if_few_blocks(null: str, n_blocks: int, wanted: int) -> None:
    """Warn that the level of ``null`` is not what it says with so few blocks."""
    if n_blocks < wanted:
        warn(
            f"{null} is an approximation for many blocks or rows; it wants {wanted} or more and has {n_blocks}: "
            "its p-value may be off; null=SignFlip() holds its level with any number",
            FewBlocksWarning,
        )
