"""Protocol of null distributions and helpers shared by several of them."""

from __future__ import annotations

from typing import Any, Protocol

from btests._warnings import FewBlocksWarning, warn
from btests.nulls.distributions import NullDistribution


class Null(Protocol):
    """Estimator of the null distribution of a statistic.

    Its argument ``evidence`` is the :class:`btests.summary.Summary` of all blocks. Nulls of the quadratic-time tests
    have ``wants_gram = True`` and take the :class:`btests.statistics.Gram` matrix of both samples. Further attributes
    that a null may have: ``many_blocks`` (bool), whether the default is many small blocks; ``check_sizes(n_x, n_y)``,
    which raises for samples that it does not support; ``label``, the name of its statistic in results.
    """

    def statistic(self, evidence: Any) -> float:
        """Return the test statistic of this null."""
        ...

    def distribution(self, evidence: Any, seed: int, n_threads: int | None = None) -> NullDistribution:
        """Return the null distribution of the statistic, computed by so many threads; None is all cores."""
        ...


def wants_gram(null: Null) -> bool:
    """Return whether a null is estimated from the Gram matrix of all rows instead of blocks."""
    return bool(getattr(null, "wants_gram", False))


def kinds_of_blocks(null: Null) -> dict[str, bool]:
    """Return the keyword arguments of ``check_block_rule`` for a null: whether it takes many blocks, or all rows."""
    return {"many_blocks": bool(getattr(null, "many_blocks", False)), "all_rows": wants_gram(null)}


def check_sizes(null: Null, n_x: int, n_y: int) -> None:
    """Raise if a null does not support samples of these lengths or their memory, before anything is computed."""
    check = getattr(null, "check_sizes", None)
    if check is not None:
        check(n_x, n_y)


def warn_if_few_blocks(null: str, n_blocks: int, wanted: int) -> None:
    """Warn that the approximation by ``null`` is inaccurate if there are fewer blocks than ``wanted``."""
    if n_blocks < wanted:
        warn(
            f"{null} is an approximation for many blocks or rows; it wants {wanted} or more and has {n_blocks}: "
            "its p-value may be off; null=SignFlip() holds its level with any number",
            FewBlocksWarning,
        )
