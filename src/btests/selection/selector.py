"""Protocol of kernel selectors and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from btests.block_size import BlockRule, BlockSize
from btests.data.sample import AnySample
from btests.data.unit_sample import UnitSample
from btests.kernels.kernel import Kernel
from btests.kernels.random_fourier import has_features
from btests.statistics import Executor, in_memory
from btests.statistics.cost import prefers_features, seconds_of


class Candidate(NamedTuple):
    """Candidate kernel, its score (larger is better) and its weight in the selected kernel."""

    kernel: Kernel
    score: float
    weight: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected kernel and the rows that are valid for testing with it.

    Training rows are not included, so they cannot be tested by accident.

    Attributes
    ----------
    kernel : Kernel
        The selected kernel.
    x, y : AnySample
        Test rows: rows not used for selection, or all rows if the selection is swap-invariant.
    candidates : tuple of Candidate
        All kernels that were compared.
    note : str
        One sentence if the selection failed in some way (no kernel found a difference, ...), else empty.
    n_train : (int, int)
        Rows of x and of y used for selection.
    """

    kernel: Kernel
    x: AnySample
    y: AnySample
    candidates: tuple[Candidate, ...] = ()
    note: str = ""
    n_train: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Setting:
    """Options of a test that a selector needs.

    Attributes
    ----------
    rule : BlockRule
        Rule for the block size.
    dtype : str
        Arithmetic, ``"float32"`` or ``"float64"``.
    executor : Executor
        Computes summaries of blocks.
    n_threads : int, optional
        Threads of the loops over blocks and draws; None is all cores of this process.
    """

    rule: BlockRule = field(default_factory=BlockRule)
    dtype: str = "float64"
    executor: Executor = field(default=in_memory, repr=False, compare=False)
    n_threads: int | None = field(default=None, repr=False, compare=False)

    def block_size(self, x: AnySample, y: AnySample, kernels: Sequence[Kernel]) -> BlockSize:
        """Return the block size for testing two samples with these kernels."""
        suits = prefers_features(kernels, are_objects=not x.is_numeric, paired=len(x) == len(y))
        suits = suits and not isinstance(x, UnitSample)
        seconds, spectra = seconds_of(kernels, x, y), all(map(has_features, kernels))
        return self.rule.size_for(len(x), len(y), seconds, has_features=suits, has_spectra=spectra)


@runtime_checkable
class Selector(Protocol):
    """Protocol of selectors: choose a kernel on some of the rows and return the rows that are valid for testing."""

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the selected kernel and the test rows."""
        ...
