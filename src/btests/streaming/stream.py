"""Batches of rows, one after another, with no end in sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from btests import _core, pairwise_sum
from btests._core.threads import limit_threads
from btests._validation import check_seed, check_threads
from btests.conclude import OVERFLOWED
from btests.data.location import FRAME_ROWS, Frame
from btests.data.row_slice import Window
from btests.data.sample import Sample
from btests.kernels.protocol import Kernel, terms_of
from btests.nulls import Null
from btests.partial_result import PartialResult
from btests.plan import Array, Index, Plan
from btests.result import TestResult
from btests.selection import Aggregate, MedianHeuristic
from btests.statistics import Family, with_accuracy
from btests.statistics.multi_kernel import accuracies
from btests.statistics.numpy_backend import kernel_scales
from btests.streaming.columns import Columns
from btests.streaming.feed import Batches, feed
from btests.streaming.kernel_init import KernelInitializer
from btests.summary import Part, Summary

Rows = npt.NDArray[Any]


class Stream:
    """A two-sample test of batches that come one after another, of any size, with the memory of a few blocks.

    Rows are tested in the order in which they come: row i of a block of x with row i of the block of y. For kernels
    that need no data (``Gaussian(1.0)``, ``"energy"``, ``Aggregate`` of such), the answer is that of ``btest(x, y,
    shuffle=False)`` with these blocks, to the last bit, however rows were batched. Others (the default, ``"gaussian"``,
    ``MedianHeuristic``) use the first rows here and rows spread over all data there, and the answers differ.

    Parameters
    ----------
    kernel
        A kernel, its name, ``MedianHeuristic(...)``, or ``Aggregate(family)``; None is ``Aggregate(default_family())``.
        Bandwidths that depend on the data come from the first 100 rows of each sample.
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
    >>> stream.result().pvalue, stream.n_pending
    (0.0005, (0, 0))
    """

    def __init__(
        self,
        kernel: Kernel | MedianHeuristic | Aggregate | str | None = None,
        block_size: int | tuple[int, int] = 256,
        *,
        seed: int | None = None,
        part: int = 0,
        dtype: str = "float64",
        n_threads: int | None = None,
    ) -> None:
        self._b = _sizes(block_size)
        if isinstance(part, bool) or not isinstance(part, (int, np.integer)) or not 0 <= part < 2**63:
            raise ValueError(f"part must be a whole number of at least 0 and below 2^63, got {part!r}")
        check_threads(n_threads)
        self._initializer = KernelInitializer.of(kernel, dtype)
        self._seed, self._part, self._n_threads = check_seed(seed), int(part), n_threads
        self._columns = Columns()
        self._rows: tuple[list[Rows], list[Rows]] = ([], [])  # that wait for a block
        self._n_rows = [0, 0]
        self._n_done = 0
        self._family: Family | None = None
        self._frame: Frame | None = None
        self._kernel_scale: list[float] = []
        self._values: list[list[Array]] = []
        self._nodes: Index = np.empty((0, 2), dtype=np.int64)
        self._moments: list[Array] = []

    def __repr__(self) -> str:
        size = self._b[0] if self._b[0] == self._b[1] else self._b
        told = f"{self._initializer.kernel!r}, block_size={size}, seed={self._seed}"
        n, waiting = self.n_blocks, self.n_pending
        return f"Stream({told}: {n} block{'s' * (n != 1)}, {waiting[0]} and {waiting[1]} rows wait)"

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y that have come."""
        return self._n_rows[0], self._n_rows[1]

    @property
    def n_full(self) -> tuple[int, int]:
        """Blocks that the rows of x and those of y would fill."""
        return self._n_rows[0] // self._b[0], self._n_rows[1] // self._b[1]

    @property
    def n_blocks(self) -> int:
        """Blocks that are full."""
        return min(self.n_full)

    @property
    def n_pending(self) -> tuple[int, int]:
        """Rows of x and of y that fill no block yet."""
        n = self.n_blocks
        return self._n_rows[0] - n * self._b[0], self._n_rows[1] - n * self._b[1]

    def update(self, x: Any = None, y: Any = None, *, names: Sequence[str] | None = None) -> None:
        """Take more rows: arrays (m, d), vectors (m,) or data frames of numbers; None or no rows of one are fine.

        Columns of data frames are matched by name, and those of arrays where ``names`` tells them. A batch on which a
        kernel fails is not taken.
        """
        columns, family = replace(self._columns), self._family
        admitted = self._columns.admit(x, y, names)
        for side, rows in enumerate(admitted):
            if rows is not None:
                self._rows[side].append(rows)
                self._n_rows[side] += len(rows)
        try:
            if self._family is None and self._can_begin():
                self._begin()
            if self._family is not None:
                self._advance()
        except Exception:
            self._columns, self._family = columns, family
            for side, rows in enumerate(admitted):
                if rows is not None:
                    self._n_rows[side] -= len(self._rows[side].pop())
            raise

    def consume(self, x: Iterable[Any], y: Iterable[Any]) -> Stream:
        """Take the batches of two iterables, such as data loaders, until one of them ends, and return the stream.

        A batch is an array (m, d), a tensor, a data frame, or a tuple or list whose first entry is one of these.
        Whichever sample is behind is read next, so that few rows wait where the lengths differ. After an exception
        ``result()`` is the test of what came before it.

        Examples
        --------
        >>> import numpy as np, btests
        >>> rng = np.random.default_rng(0)
        >>> batches = (rng.normal(size=(64, 2)) for _ in range(100))
        >>> others = (rng.normal(size=(40, 2)) for _ in range(100))
        >>> btests.Stream(block_size=50, seed=1).consume(batches, others)
        Stream(Aggregate(default_family()), block_size=50, seed=1: 80 blocks, 160 and 0 rows wait)
        """
        feed(self, Batches(x, "x"), Batches(y, "y"))
        return self

    def partial(self) -> PartialResult:
        """Return the summary of all blocks so far: it adds to those of other streams, and can be saved."""
        n = self.n_blocks
        if n == 0:
            raise ValueError(
                f"no block is full yet: {self._n_rows[0]} and {self._n_rows[1]} rows came, and a block takes "
                f"{self._b[0]} and {self._b[1]}"
            )
        family, summaries = self._so_far(n)
        engine = "numpy"
        if _core.is_available() and all(terms_of(kernel) is not None for kernel in family.kernels):
            engine = f"compiled ({_core.instruction_set()})"
        aggregate = self._initializer.aggregate
        return PartialResult(
            family.kernels,
            summaries,
            self._seed,
            aggregate.correction,
            None if aggregate.weights is None else tuple(aggregate.weights),
            engine=engine,
            n_pending=self.n_pending,
            width=self._columns.width,
            dtype=family.dtype,
        )

    def result(self, null: Null | str | None = None) -> TestResult:
        """Return the test of all blocks so far.

        Stopping at the first small p-value is not a test at that level: see :class:`btests.SequentialTest`.
        """
        return self.partial().result(null)

    def _plan(self, n_blocks: int, n_kernels: int) -> Plan:
        return Plan(n_blocks * self._b[0], n_blocks * self._b[1], n_blocks, n_kernels)

    def _can_begin(self) -> bool:
        """Whether there are rows enough to learn from, and blocks enough to know how they will be computed."""
        if min(self._n_rows) < FRAME_ROWS or self.n_blocks * min(self._b) < self._initializer.n_rows:
            return False
        assert self._columns.width is not None
        # Of one kernel and of a family: what will be learned is not known yet.
        plan, width = self._plan(self.n_blocks, 1), self._columns.width
        return all(
            _core.lanes_are_blocks(plan, width, n) == _core.lanes_are_blocks(plan, width, n, endless=True)
            for n in (1, 2)
        )

    def _begin(self) -> None:
        n = -(-self._initializer.n_rows // min(self._b))  # blocks
        x, y = (_first(rows, max(FRAME_ROWS, n * b)) for rows, b in zip(self._rows, self._b, strict=True))
        self._family = self._initializer.kernels_for(x, y, self._plan(n, 1), self._columns.names)
        samples = Sample(x), Sample(y)
        self._frame = samples[0].frame
        self._kernel_scale = kernel_scales(self._family.kernels, *samples)
        self._family = self._family.suited(self._kernel_scale)
        self._values = [[] for _ in self._family.kernels]

    def _advance(self) -> None:
        """Compute the blocks that are full, and let their rows go."""
        n = self.n_blocks
        if n == self._n_done:
            return
        assert self._family is not None
        assert self._frame is not None
        plan = self._plan(n, len(self._family.kernels))
        windows, left = [], []
        for rows, b in zip(self._rows, self._b, strict=True):
            together = rows[0] if len(rows) == 1 else np.concatenate(rows)
            n_used = (n - self._n_done) * b
            left.append([together[n_used:].copy()] if len(together) > n_used else [])
            windows.append(Window(np.ascontiguousarray(together[:n_used]), self._n_done * b, self._frame))
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
                goes_on=True,
            )
        if not all(np.isfinite(summary.values).all() and np.isfinite(summary.moments).all() for summary in found):
            raise ValueError(OVERFLOWED)
        nodes = np.concatenate([self._nodes, found[0].parts[0].nodes])
        moments = []
        for j, summary in enumerate(found):
            part = summary.parts[0]
            self._values[j].append(part.values)
            before = [self._moments[j]] if self._moments else []
            merged, core = pairwise_sum.merge(nodes, np.concatenate([*before, part.moments]), n + 1, plan.stratum_level)
            moments.append(core)
        self._nodes, self._moments, self._n_done, self._rows = merged, moments, n, (left[0], left[1])

    def _so_far(self, n: int) -> tuple[Family, tuple[Summary, ...]]:
        spans = np.array([[0, n]], dtype=np.int64)
        if self._family is None:  # all rows are still here, as they would be in memory
            x, y = (_first(rows, n * b) for rows, b in zip(self._rows, self._b, strict=True))
            if x.dtype != y.dtype:
                x, y = x.astype(np.float64), y.astype(np.float64)
            family = self._initializer.kernels_for(x, y, self._plan(n, 1), self._columns.names)
            samples = Sample(x), Sample(y)
            plan = self._plan(n, len(family.kernels))
            kernel_scale = kernel_scales(family.kernels, *samples)
            found = family.suited(kernel_scale).summarize(*samples, plan)
            parts = [replace(summary.parts[0], number=self._part) for summary in found]
        else:
            family, kernel_scale = self._family, self._kernel_scale
            plan = self._plan(n, len(family.kernels))
            parts = []
            for values, moments in zip(self._values, self._moments, strict=True):
                values[:] = [np.concatenate(values)]
                nodes, folded = pairwise_sum.merge(self._nodes, moments, n, plan.stratum_level)
                parts.append(Part(self._part, plan, spans, values[0], nodes, folded))
        return family, with_accuracy([Summary((part,)) for part in parts], accuracies(family.kernels, kernel_scale))


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
