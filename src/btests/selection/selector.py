"""Protocol of a selector of kernels, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from btests.block_size import BlockRule, BlockSize
from btests.data.sample import AnySample
from btests.kernels.kernel import Kernel
from btests.statistics import Executor, in_memory
from btests.statistics.cost import pair_seconds


class Candidate(NamedTuple):
    """A kernel that was looked at, what it scored (larger is better), and its weight in the choice."""

    kernel: Kernel
    score: float
    weight: float


@dataclass(frozen=True, slots=True)
class Selection:
    """A kernel, and the rows that are still valid for testing with it.

    The rows that the choice was made on are not in here, so that nobody can test on them by accident.

    Attributes
    ----------
    kernel
        The choice.
    x, y
        The rows that may be tested: those that the choice has not seen, or all where it cannot have spoilt them.
    candidates
        All kernels that were looked at.
    note
        One sentence where the choice is not what was hoped for (no kernel found a difference, ...), else empty.
    n_train
        Rows of x and of y that the choice used up.
    """

    kernel: Kernel
    x: AnySample
    y: AnySample
    candidates: tuple[Candidate, ...] = ()
    note: str = ""
    n_train: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Setting:
    """Options of a test that a selector needs: rule for the block size, arithmetic, and executor of the blocks."""

    rule: BlockRule = field(default_factory=BlockRule)
    dtype: str = "float64"
    executor: Executor = field(default=in_memory, repr=False, compare=False)

    def block_size(self, x: AnySample, y: AnySample, kernels: Sequence[Kernel]) -> BlockSize:
        """Return the block size for testing two samples with these kernels."""
        return self.rule.size_for(len(x), len(y), pair_seconds(kernels, x.width))


@runtime_checkable
class Selector(Protocol):
    """Chooses the kernel on some of the rows, and hands back those that are still valid for testing."""

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the kernel and the rows to test with it."""
        ...
