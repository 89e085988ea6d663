"""Options that all tests share: sizes of blocks, scale, order of rows, and where rows are read and computed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests._option_checks import check_callback, check_dtype, check_path, check_seed, check_shuffle, check_threads
from btests.block_size import check_block_rule
from btests.data.row_permutation import permutation_of
from btests.data.sample import Sample
from btests.nulls import Null
from btests.nulls.null import kinds_of_blocks
from btests.scaling import check_scale
from btests.selection import Setting


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """Options of :func:`btests.btest` that other tests have too, checked; and when the call began.

    Sizes of blocks are checked with the null distribution: see :meth:`setting`.
    """

    block_size: Any = None
    block_exponent: float | None = None
    budget: float | None = None
    scale: Any = None
    seed: int | None = None
    shuffle: bool | str = True
    n_threads: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    progress: Callable[[int, int], None] | None = None
    workers: Any = None
    dtype: str = "float64"
    began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        check_shuffle(self.shuffle)
        check_dtype(self.dtype)
        object.__setattr__(self, "n_threads", check_threads(self.n_threads))
        check_path("checkpoint", self.checkpoint)
        check_callback("progress", self.progress, "the rows done and the rows in all")
        object.__setattr__(self, "scale", check_scale(self.scale))
        object.__setattr__(self, "seed", None if self.seed is None else check_seed(self.seed))

    def setting(self, null: Null, features: bool | None) -> Setting:
        """Return how blocks are made and computed for a null; ``features`` is that of :class:`BlockRule`."""
        sizes = self.block_size, self.block_exponent, self.budget
        rule = check_block_rule(*sizes, **kinds_of_blocks(null), features=features)
        return Setting(rule, self.dtype, n_threads=self.n_threads)

    @property
    def order(self) -> str:
        """What is done to the order of rows in memory: see :attr:`btests.TestResult.order`."""
        return "exact" if self.shuffle else "as stored"

    def check_in_memory(self) -> None:
        """Raise ``ValueError`` for options of rows in files."""
        if self.checkpoint is not None or self.progress is not None:
            raise ValueError("checkpoint and progress are for rows in files, and these are in memory")
        if self.shuffle == "buffered":
            raise ValueError("shuffle='buffered' is for rows in files; those in memory are shuffled exactly")

    def samples(self, x: Any, y: Any, seed: int, streams: tuple[int, int]) -> tuple[Sample, Sample]:
        """Return rows in memory, (n, d) or n objects, as samples in the order of the test, one for each stream."""
        if not self.shuffle:
            return Sample(x), Sample(y)
        of_x = permutation_of(len(x), seed, streams[0]).rows(0, len(x))
        same = streams[0] == streams[1] and len(x) == len(y)
        return Sample(x, of_x), Sample(y, of_x if same else permutation_of(len(y), seed, streams[1]).rows(0, len(y)))


def are_arrays(*samples: object) -> bool:
    """Whether all are arrays in memory, lists or tuples; data frames, for example, may be in memory too."""
    return all(isinstance(own, (np.ndarray, list, tuple)) and not isinstance(own, np.memmap) for own in samples)
