"""A test of rows that come in batches and are read once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from btests.data.permuted import Dealt
from btests.data.protocol import Rows
from btests.execution.samples import dealt, is_elsewhere, names_of, source_of, weaker
from btests.kernels import Kernel
from btests.nulls import Null
from btests.result import TestResult
from btests.selection import Aggregate, Selector
from btests.selection.registry import KERNELS
from btests.streaming.feed import Batches, feed
from btests.streaming.stream import Stream

#: Rows of a block where nobody says: how many rows there will be is not known.
BLOCK_SIZE = 256

# Rows at a time of a sample beside the batches that is not one.
_STEP = 2**14


def is_batches(value: object) -> bool:
    """Whether this is an iterator of batches, or makes one, as a data loader does; not a sequence, a table, a set."""
    return (
        isinstance(value, Iterable)
        and not hasattr(value, "__getitem__")
        and not isinstance(value, (str, bytes, Mapping, set, frozenset))
        and not is_elsewhere(value)
    )


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """What is asked of two samples of which one or both come in batches.

    Attributes
    ----------
    kernel, null, seed, shuffle, dtype, n_threads
        As in :func:`btests.btest`.
    block_size
        Rows of a block, two numbers where they differ; None is 256.
    progress
        Called with the rows that have come, and 0: nobody knows how many there will be.
    began
        When the work began, on ``time.perf_counter``.
    """

    kernel: Kernel | Selector | Aggregate | str | None
    null: Null
    seed: int
    shuffle: bool | str
    block_size: Any = None
    dtype: str = "float64"
    n_threads: int | None = None
    progress: Callable[[int, int], None] | None = None
    began: float = field(default_factory=time.perf_counter)

    def of(self, x: Any, y: Any) -> TestResult:
        """Return the answer."""
        kernel: Any = KERNELS["gaussian"] if self.kernel is None else self.kernel
        size = BLOCK_SIZE if self.block_size is None else self.block_size
        stream = Stream(kernel, size, seed=self.seed, dtype=self.dtype, n_threads=self.n_threads)
        with closing(self._side("x", x, 1)) as side_x, closing(self._side("y", y, 2)) as side_y:
            feed(_Watched(stream, self.progress), side_x, side_y)
            order = weaker(side_x.how, side_y.how)
        if stream.n_blocks == 0:
            (n_x, n_y), sizes = stream.n_rows, f"block_size is {size}"
            raise ValueError(f"x has {n_x} rows and y has {n_y}, and {sizes}; name one that they fill")
        found = replace(stream.partial(), order=order).result(self.null)
        chosen_by = KERNELS[kernel] if isinstance(kernel, str) else kernel
        selector = chosen_by if isinstance(chosen_by, (Selector, Aggregate)) else None
        return replace(found, selector=selector, seconds=time.perf_counter() - self.began)

    def _side(self, label: str, value: Any, stream: int) -> Batches | _Ranges:
        if is_batches(value):
            return Batches(value, label, (self.seed, stream) if self.shuffle else None)
        source = source_of(label, value)
        return _Ranges(dealt(source, self.seed, stream, self.shuffle), names_of(value, source))


@dataclass(slots=True)
class _Ranges:
    """The rows of a sample that is not batches, in the order in which they are dealt, some at a time."""

    dealt: Dealt
    names: list[str] | None
    _rows: Iterator[Rows] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.dealt)
        self._rows = (self.dealt.window(first, min(n, first + _STEP)) for first in range(0, n, _STEP))

    def __next__(self) -> Rows:
        return next(self._rows)

    @property
    def how(self) -> str:
        """What was done to the order of the rows."""
        return self.dealt.how

    def close(self) -> None:
        """Let go of what was read ahead, and of temporary files."""
        self.dealt.close()


@dataclass(frozen=True, slots=True, repr=False)
class _Watched:
    """A stream, and somebody who is told how many rows have come."""

    stream: Stream
    progress: Callable[[int, int], None] | None

    @property
    def n_full(self) -> tuple[int, int]:
        return self.stream.n_full

    def update(self, x: Any = None, y: Any = None, *, names: Any = None) -> None:
        self.stream.update(x, y, names=names)
        if self.progress is not None:
            self.progress(sum(self.stream.n_rows), 0)

    def __repr__(self) -> str:
        return f"{self.stream!r}; a stream of your own keeps what it has"
