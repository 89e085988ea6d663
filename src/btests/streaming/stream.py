"""Two-sample test of batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from btests import _core
from btests._text import brief
from btests._validation import check_seed, check_threads
from btests.block_size import check_block_pair
from btests.conclude import OVERFLOWED
from btests.data.batches import Batches
from btests.data.sample import LOCATION_ROWS, Location, RowSlice, Sample
from btests.data.source import Rows
from btests.kernels.kernel import Kernel
from btests.nulls import Null
from btests.partial_result import PartialResult
from btests.plan import Plan
from btests.result import TestResult
from btests.selection import Aggregate, MedianHeuristic
from btests.statistics import (
    Accuracy,
    Statistic,
    StatisticFactory,
    is_statistic,
    plan_for,
    summarize_blocks,
    with_accuracy,
)
from btests.streaming.kernel_init import KernelInitializer
from btests.streaming.row_queue import Batch, Columns, PairedColumns, RowQueue, feed
from btests.summary import Summary

#: Default block size: the number of rows is unknown.
BLOCK_SIZE = 256


class Stream:
    """Two-sample test of batches of any size, in the memory of a few blocks.

    Rows are tested in their order: row i of a block of x with row i of the block of y. For kernels that do not depend
    on the data (``Gaussian(1.0)``, ``"energy"``, ``Aggregate`` of such), the result is that of ``btest(x, y,
    shuffle=False)`` with these blocks, to the last bit, for any sizes of batches. Others (the default, ``"gaussian"``,
    ``MedianHeuristic``) are chosen from the first rows here and from rows spread over all data there, and the results
    differ.

    Parameters
    ----------
    kernel : Kernel, str, MedianHeuristic, Aggregate, Statistic or None
        Kernel, its name, a selector or a statistic; None is ``Aggregate(default_family())``. Bandwidths that depend on
        the data are computed from the first 100 rows of each sample.
    block_size : int or (int, int)
        Rows of x and of y in a block; two numbers if they differ.
    seed : int, optional
        Seed of the null distribution.
    part : int
        Number of this stream among several whose partial results are added; each needs a number of its own.
    dtype, n_threads, statistic
        As in :func:`btests.btest`.

    See Also
    --------
    btests.SequentialTest : Test that may be stopped at any time.
    btests.PartialResult : Result of a part of the data, which adds to others.

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
        kernel: Kernel | MedianHeuristic | Aggregate | Statistic | str | None = None,
        block_size: int | tuple[int, int] = BLOCK_SIZE,
        *,
        seed: int | None = None,
        part: int = 0,
        dtype: str = "float64",
        n_threads: int | None = None,
        statistic: StatisticFactory | None = None,
    ) -> None:
        self._b = check_block_pair(block_size)
        if isinstance(part, bool) or not isinstance(part, (int, np.integer)) or not 0 <= part < 2**63:
            raise ValueError(f"part must be a whole number of at least 0 and below 2^63, got {brief(part)}")
        check_threads(n_threads)
        self._initializer = KernelInitializer.of(kernel, dtype, statistic)
        self._seed, self._part, self._n_threads = check_seed(seed), int(part), n_threads
        compares = not is_statistic(kernel) or kernel.design.compares_columns
        self._columns: Columns | PairedColumns = Columns() if compares else PairedColumns()
        self._queues = RowQueue(), RowQueue()
        self._n_done = 0
        self._statistic: Statistic | None = None
        self._location: Location | None = None
        self._accuracy: Sequence[Accuracy] = ()
        # Of consecutive blocks, each of more blocks than the next.
        self._summaries: list[tuple[Summary, ...]] = []

    def __repr__(self) -> str:
        size = self._b[0] if self._b[0] == self._b[1] else self._b
        options = f"{self._initializer.kernel!r}, block_size={size}, seed={self._seed}"
        n, pending = self.n_blocks, self.n_pending
        return f"Stream({options}: {n} block{'s' * (n != 1)}, {pending[0]} and {pending[1]} rows pending)"

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y so far."""
        x, y = self._queues
        return self._n_done * self._b[0] + x.n_rows, self._n_done * self._b[1] + y.n_rows

    @property
    def n_full(self) -> tuple[int, int]:
        """Number of blocks that the rows of x fill, and those of y."""
        n_x, n_y = self.n_rows
        return n_x // self._b[0], n_y // self._b[1]

    @property
    def n_blocks(self) -> int:
        """Number of full blocks."""
        return min(self.n_full)

    @property
    def n_pending(self) -> tuple[int, int]:
        """Rows of x and of y that fill no block yet."""
        (n_x, n_y), n = self.n_rows, self.n_blocks
        return n_x - n * self._b[0], n_y - n * self._b[1]

    def update(self, x: Any = None, y: Any = None, *, names: Sequence[str] | None = None) -> None:
        """Add rows of x, of y, or of both. A batch on which a kernel fails is not added.

        Parameters
        ----------
        x, y : array (m, d), array (m,), data frame of numbers or None
            Batches; they may be empty, and of different lengths.
        names : sequence of str, optional
            Names of the columns of arrays. Columns that have names are matched by name.
        """
        self.update_checked(Batch.of("x", x, names), Batch.of("y", y, names))

    def update_checked(self, x: Batch | None, y: Batch | None) -> None:
        """Add rows that were checked already, as :meth:`update` does."""
        columns, statistic = deepcopy(self._columns), self._statistic
        matched = zip(self._queues, self._columns.match(x, y), strict=True)
        added = [(queue, rows) for queue, rows in matched if rows is not None]
        for queue, rows in added:
            queue.put(rows)
        try:
            if self._statistic is None and self._can_begin():
                self._begin()
            if self._statistic is not None:
                self._advance()
        except Exception:
            self._columns, self._statistic = columns, statistic
            for queue, _ in added:
                queue.take_back()
            raise
        for queue, _ in added:
            queue.detach()

    def consume(self, x: Iterable[Any], y: Iterable[Any]) -> Stream:
        """Add the batches of two iterables, such as data loaders, until one of them ends, and return the stream.

        A batch is an array (m, d), a tensor, a data frame, or a tuple or list whose first entry is one of these. The
        sample that has filled fewer blocks is read next, so that few rows are pending if the lengths differ. After an
        exception ``result()`` is the test of the batches before it.

        Examples
        --------
        >>> import numpy as np, btests
        >>> rng = np.random.default_rng(0)
        >>> batches = (rng.normal(size=(64, 2)) for _ in range(100))
        >>> others = (rng.normal(size=(40, 2)) for _ in range(100))
        >>> btests.Stream(block_size=50, seed=1).consume(batches, others)
        Stream(Aggregate(default_family()), block_size=50, seed=1: 80 blocks, 160 and 0 rows pending)
        """
        feed(self, Batches(x, "x"), Batches(y, "y"))
        return self

    def partial(self) -> PartialResult:
        """Return the summary of all blocks so far: it adds to those of other streams, and can be saved."""
        n = self.n_blocks
        if n == 0:
            (n_x, n_y), (b_x, b_y) = self.n_rows, self._b
            raise ValueError(f"no block is full yet: {n_x} and {n_y} rows came, and a block takes {b_x} and {b_y}")
        statistic, summaries = self._summarized(n)
        aggregate = self._initializer.aggregate
        return PartialResult(
            statistic.kernels,
            summaries,
            self._seed,
            aggregate.correction,
            None if aggregate.weights is None else tuple(aggregate.weights),
            engine=statistic.engine(Sample(np.zeros((1, 1)))),
            n_pending=self.n_pending,
            width=self._columns.width,
            dtype=getattr(statistic, "dtype", "float64"),
        )

    def result(self, null: Null | str | None = None) -> TestResult:
        """Return the test of all blocks so far.

        Stopping at the first small p-value is not a test at that level: see :class:`btests.SequentialTest`.
        """
        return self.partial().result(null, self._n_threads)

    def _plan(self, n_blocks: int, statistic: Statistic | None = None) -> Plan:
        n_x, n_y = (n_blocks * b for b in self._b)
        return Plan(n_x, n_y, n_blocks) if statistic is None else plan_for(statistic, n_x, n_y, min(self._b))

    def _open_plan(self, n_blocks: int, statistic: Statistic) -> Plan:
        """Return a plan whose last stratum is full: sums over the last of ``n_blocks`` blocks stay open for others."""
        level = self._plan(n_blocks, statistic).stratum_level
        return self._plan(-(-n_blocks >> level) << level, statistic)

    def _can_begin(self) -> bool:
        """Return whether there are enough rows for the kernels, and enough blocks to know how they are computed."""
        if min(self.n_rows) < LOCATION_ROWS or self.n_blocks * min(self._b) < self._initializer.n_rows:
            return False
        assert self._columns.width is not None
        # For one kernel and for a family: the kernels are not selected yet.
        plan, width = self._plan(self.n_blocks), self._columns.width
        return all(
            _core.lanes_are_blocks(plan, width, n) == _core.lanes_are_blocks(plan, width, n, endless=True)
            for n in (1, 2)
        )

    def _begin(self) -> None:
        """Select the kernels from the first rows."""
        n = -(-self._initializer.n_rows // min(self._b))  # blocks
        x, y = (queue.first(max(LOCATION_ROWS, n * b)) for queue, b in zip(self._queues, self._b, strict=True))
        self._statistic = self._initializer.kernels_for(x, y, self._plan(n), self._columns.names)
        samples = Sample(x), Sample(y)
        self._location = samples[0].location
        self._accuracy = self._statistic.accuracy(*samples)
        self._statistic = self._statistic.prepare(*samples)

    def _advance(self) -> None:
        """Summarize the blocks that are full, and remove their rows."""
        n = self.n_blocks
        if n == self._n_done:
            return
        assert self._statistic is not None
        assert self._location is not None
        plan = self._open_plan(n, self._statistic)
        x, y = self._first(n - self._n_done)
        window_x = RowSlice(x, self._n_done * self._b[0], self._location)
        window_y = RowSlice(y, self._n_done * self._b[1], self._location)
        found = summarize_blocks(
            self._statistic, window_x, window_y, plan, (self._n_done, n), n_threads=self._n_threads, goes_on=True
        )
        if not all(np.isfinite(summary.values).all() and np.isfinite(summary.moments).all() for summary in found):
            raise ValueError(OVERFLOWED)
        self._append(found, plan)
        for queue, b in zip(self._queues, self._b, strict=True):
            queue.drop((n - self._n_done) * b)
        self._n_done = n

    def _first(self, n: int) -> tuple[Rows, Rows]:
        """Return the rows of the first n blocks in the queues, of one type: (n b_x, d) and (n b_y, d)."""
        x, y = (queue.first(n * b) for queue, b in zip(self._queues, self._b, strict=True))
        return (x, y) if x.dtype == y.dtype else (x.astype(np.float64), y.astype(np.float64))

    def _append(self, found: tuple[Summary, ...], plan: Plan) -> None:
        """Add the summaries of the next blocks; join those that are not longer than what follows.

        So there are a few for any number of updates, and a value is copied as many times at most.
        """
        self._summaries.append(found)
        while len(self._summaries) > 1 and self._summaries[-2][0].values.size <= self._summaries[-1][0].values.size:
            self._summaries.append(_join([self._summaries.pop() for _ in range(2)], plan))

    def _summarized(self, n: int) -> tuple[Statistic, tuple[Summary, ...]]:
        """Return the statistic and the summaries of all n blocks; before the first update of enough rows, from rows."""
        if self._statistic is not None:
            joined = _join(self._summaries, self._plan(n, self._statistic), self._part)
            return self._statistic, with_accuracy(joined, self._accuracy)
        x, y = self._first(n)
        statistic = self._initializer.kernels_for(x, y, self._plan(n), self._columns.names)
        samples, plan = (Sample(x), Sample(y)), self._plan(n, statistic)
        found = summarize_blocks(statistic.prepare(*samples), *samples, plan)
        return statistic, with_accuracy(_join([found], plan, self._part), statistic.accuracy(*samples))


def _join(summaries: Sequence[tuple[Summary, ...]], plan: Plan, number: int = 0) -> tuple[Summary, ...]:
    """Return the summaries of consecutive blocks as one for each kernel, as part ``number`` of a plan."""
    return tuple(
        Summary.join(replace(one, parts=(replace(one.parts[0], plan=plan, number=number),)) for one in of_one)
        for of_one in zip(*summaries, strict=True)
    )
