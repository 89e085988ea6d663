"""Batches of rows, one after another, with no end in sight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from btests import fast, tree
from btests.blocks import Array, Blocks, Index
from btests.fast.pool import limit_threads
from btests.kernels.protocol import Kernel
from btests.nulls import Null
from btests.result import TestResult
from btests.selection import Aggregate, MedianFamily
from btests.selection.family import kernels_of
from btests.statistics import Family, Sample
from btests.statistics.checks import check_kernel
from btests.statistics.plain import typical_sizes
from btests.statistics.sample import ORIGIN_ROWS
from btests.statistics.window import Window
from btests.summary import Part, Summary
from btests.tally import Tally
from btests.validation import check_batch, check_seed

Rows = npt.NDArray[Any]

# More blocks than any stream will see: a plan without an end.
_ENDLESS = 2**40

# Rows of each sample that a kernel or a family which depends on the data is learned from, as `MedianFamily` does.
_LEARNING_ROWS = 100


class Stream:
    """A two-sample test of batches that come one after another, of any size, with the memory of a few blocks.

    Rows are tested in the order in which they come: row i of a block of x with row i of the block of y. The answer is
    that of ``btest(x, y, shuffle=False)`` on all rows that fill blocks, to the last bit, however they were batched.

    Parameters
    ----------
    kernel
        A kernel; ``Aggregate(family)``; or None for ``Aggregate(MedianFamily())``, whose bandwidths come from the first
        100 rows of each sample.
    block_size
        Rows of x and of y in a block; two numbers where they differ.
    seed
        For the null.
    part
        The number of this stream among several whose tallies will be added; each needs a number of its own.
    dtype, n_threads
        As in :func:`btests.btest`.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> stream = btests.Stream(btests.Gaussian(1.0), block_size=50, seed=1)
    >>> for day in range(10):
    ...     stream.update(rng.normal(size=(130, 2)), rng.normal(0.2, 1.0, size=(130, 2)))
    >>> stream.result().pvalue, stream.n_waiting
    (0.0005, (0, 0))
    """

    def __init__(
        self,
        kernel: Kernel | Aggregate | None = None,
        block_size: int | tuple[int, int] = 256,
        *,
        seed: int | None = None,
        part: int = 0,
        dtype: str = "float64",
        n_threads: int | None = None,
    ) -> None:
        self._b = _sizes(block_size)
        if isinstance(part, bool) or not isinstance(part, (int, np.integer)) or part < 0:
            raise ValueError(f"part must be a whole number of at least 0, got {part!r}")
        if (
            kernel is not None
            and not isinstance(kernel, Aggregate)
            and (isinstance(kernel, type) or not callable(kernel))
        ):
            raise TypeError(f"kernel must be a kernel or an Aggregate, got {kernel!r}")
        if dtype not in ("float64", "float32"):
            raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
        self._kernel: Kernel | Aggregate = Aggregate(MedianFamily()) if kernel is None else kernel
        self._seed, self._part, self._dtype, self._n_threads = check_seed(seed), int(part), dtype, n_threads
        self._width: int | None = None
        self._rows: tuple[list[Rows], list[Rows]] = ([], [])  # that wait for a block
        self._n_rows = [0, 0]
        self._n_done = 0
        self._family: Family | None = None
        self._origin: Array | None = None
        self._typical: list[float] = []
        self._lanes = False
        self._values: list[list[Array]] = []
        self._nodes: Index = np.empty((0, 2), dtype=np.int64)
        self._cores: list[Array] = []

    @property
    def n_blocks(self) -> int:
        """Blocks that are full."""
        return min(n // b for n, b in zip(self._n_rows, self._b, strict=True))

    @property
    def n_waiting(self) -> tuple[int, int]:
        """Rows of x and of y that fill no block yet."""
        n = self.n_blocks
        return self._n_rows[0] - n * self._b[0], self._n_rows[1] - n * self._b[1]

    def update(self, x: Any = None, y: Any = None) -> None:
        """Take more rows: arrays (m, d), vectors (m,) or data frames of numbers; None or no rows of one are fine."""
        batches = [None if batch is None else self._checked(name, batch) for name, batch in (("x", x), ("y", y))]
        for side, batch in enumerate(batches):  # both are right: now they count
            if batch is not None and len(batch):
                self._width = batch.shape[1]
                self._rows[side].append(batch)
                self._n_rows[side] += len(batch)
        if self._family is None and self._can_begin():
            self._begin()
        if self._family is not None:
            self._advance()

    def consume(self, x: Iterable[Any], y: Iterable[Any]) -> Stream:
        """Take all batches of two iterables, such as data loaders, and return the stream."""
        for batch_x, batch_y in zip_longest(x, y):
            self.update(batch_x, batch_y)
        return self

    def tally(self) -> Tally:
        """Return the summary of all blocks so far: it adds to those of other streams, and can be saved."""
        n = self.n_blocks
        if n == 0:
            raise ValueError(
                f"no block is full yet: {self._n_rows[0]} and {self._n_rows[1]} rows came, and a block takes "
                f"{self._b[0]} and {self._b[1]}"
            )
        family, summaries = self._so_far(n)
        engine = "numpy"
        if fast.is_available() and all(getattr(k, "terms", lambda: None)() is not None for k in family.kernels):
            engine = f"compiled ({fast.instruction_set()})"
        aggregate = self._kernel if isinstance(self._kernel, Aggregate) else Aggregate()
        return Tally(
            family.kernels,
            summaries,
            self._seed,
            aggregate.correction,
            None if aggregate.weights is None else tuple(aggregate.weights),
            engine=engine,
            n_waiting=self.n_waiting,
        )

    def result(self, null: Null | None = None) -> TestResult:
        """Return the test of all blocks so far. To stop at the first small p-value is not a test at that level."""
        return self.tally().result(null)

    def _checked(self, name: str, batch: Any) -> Rows:
        rows = check_batch(name, batch)
        if len(rows) and self._width is not None and rows.shape[1] != self._width:
            raise ValueError(f"this batch of {name} has {rows.shape[1]} columns, and those before had {self._width}")
        return rows

    def _plan(self, n_blocks: int, n_kernels: int) -> Blocks:
        return Blocks(n_blocks * self._b[0], n_blocks * self._b[1], n_blocks, n_kernels)

    def _learned(self, x: Rows, y: Rows) -> Family:
        samples = Sample(x), Sample(y)
        kernels = kernels_of(self._kernel.family, *samples) if isinstance(self._kernel, Aggregate) else (self._kernel,)
        for kernel in kernels:
            check_kernel(kernel, *samples)
        # A family is in float64 always: its flat members are nothing but rounding in float32.
        return Family(kernels, self._dtype if len(kernels) == 1 else "float64")

    def _can_begin(self) -> bool:
        """Whether there are rows enough to learn from, and blocks enough to know how they will be computed."""
        if min(self._n_rows) < max(ORIGIN_ROWS, _LEARNING_ROWS) or self.n_blocks == 0:
            return False
        assert self._width is not None
        endless, now = (fast.lanes_are_blocks(self._plan(n, 1), self._width) for n in (_ENDLESS, self.n_blocks))
        return endless == now

    def _begin(self) -> None:
        x, y = (_first(rows, max(ORIGIN_ROWS, _LEARNING_ROWS)) for rows in self._rows)
        self._family = self._learned(x[:_LEARNING_ROWS], y[:_LEARNING_ROWS])
        samples = Sample(x), Sample(y)
        self._origin = samples[0].origin
        self._typical = typical_sizes(self._family.kernels, *samples)
        self._lanes = fast.lanes_are_blocks(self._plan(_ENDLESS, 1), x.shape[1])
        self._values = [[] for _ in self._family.kernels]

    def _advance(self) -> None:
        """Compute the blocks that are full, and let their rows go."""
        n = self.n_blocks
        if n == self._n_done:
            return
        assert self._family is not None
        assert self._origin is not None
        plan = self._plan(n, len(self._family.kernels))
        windows = []
        for rows, b in zip(self._rows, self._b, strict=True):
            together = rows[0] if len(rows) == 1 else np.concatenate(rows)
            n_used = (n - self._n_done) * b
            rows[:] = [together[n_used:].copy()] if len(together) > n_used else []
            windows.append(Window(np.ascontiguousarray(together[:n_used]), self._n_done * b, self._origin))
        if windows[0].rows.dtype != windows[1].rows.dtype:
            windows = [replace(window, rows=window.rows.astype(np.float64)) for window in windows]
        with limit_threads(self._n_threads):
            found = self._family.summarize(
                windows[0],
                windows[1],
                plan,
                self._n_done,
                n,
                n_threads=None,
                lanes_are_blocks=self._lanes,
                goes_on=True,
            )
        nodes = np.concatenate([self._nodes, found[0].parts[0].nodes])
        cores = []
        for j, summary in enumerate(found):
            part = summary.parts[0]
            self._values[j].append(part.values)
            before = [self._cores[j]] if self._cores else []
            merged, core = tree.merge(nodes, np.concatenate([*before, part.cores]), n + 1, plan.fold_level)
            cores.append(core)
        self._nodes, self._cores, self._n_done = merged, cores, n

    def _so_far(self, n: int) -> tuple[Family, tuple[Summary, ...]]:
        spans = np.array([[0, n]], dtype=np.int64)
        if self._family is None:  # all rows are still here, as they would be in memory
            x, y = (_first(rows, n * b) for rows, b in zip(self._rows, self._b, strict=True))
            if x.dtype != y.dtype:
                x, y = x.astype(np.float64), y.astype(np.float64)
            family = self._learned(x[:_LEARNING_ROWS], y[:_LEARNING_ROWS])
            samples = Sample(x), Sample(y)
            blocks = self._plan(n, len(family.kernels))
            typical = typical_sizes(family.kernels, *samples)
            found = family.summarize(*samples, blocks)
            parts = [replace(summary.parts[0], number=self._part) for summary in found]
        else:
            family, typical = self._family, self._typical
            blocks = self._plan(n, len(family.kernels))
            parts = []
            for values, cores in zip(self._values, self._cores, strict=True):
                values[:] = [np.concatenate(values)]
                nodes, folded = tree.merge(self._nodes, cores, n, blocks.fold_level)
                parts.append(Part(self._part, blocks, spans, values[0], nodes, folded))
        return family, tuple(Summary((part,), size) for part, size in zip(parts, typical, strict=True))


def _first(rows: list[Rows], n_rows: int) -> Rows:
    """Return the first ``n_rows`` rows of some batches."""
    found, n = [], 0
    for batch in rows:
        found.append(batch[: n_rows - n])
        n += len(found[-1])
        if n >= n_rows:
            break
    return np.ascontiguousarray(np.concatenate(found))


def _sizes(block_size: object) -> tuple[int, int]:
    sizes = block_size if isinstance(block_size, tuple) else (block_size, block_size)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 2 <= size <= 2**20:
            raise ValueError(
                f"block_size must be a whole number between 2 and 2^20, or two of them for x and y, got {block_size!r}"
            )
    if len(sizes) != 2:
        raise ValueError(f"block_size must be one number or two, got {block_size!r}")
    return int(sizes[0]), int(sizes[1])
