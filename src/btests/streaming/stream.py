"""Two-sample test of batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from btests import _core
from btests._option_checks import check_dtype, check_seed, check_threads, corrects_keywords
from btests._text import brief
from btests.block_size import check_block_pair
from btests.data.batches import Batches
from btests.data.sample import LOCATION_ROWS, Sample
from btests.data.source import Rows
from btests.kernels.kernel import Kernel
from btests.nulls import Null
from btests.partial_result import PartialResult
from btests.plan import Plan
from btests.result import TestResult
from btests.selection import Aggregate, MedianHeuristic
from btests.statistics import Statistic, StatisticFactory, choose_statistic, is_statistic
from btests.statistics.feature_stream import RUN
from btests.streaming.accumulators import Accumulator, BlockSums, FeatureSums
from btests.streaming.kernel_init import KernelInitializer
from btests.streaming.row_queue import Batch, Columns, PairedColumns, PendingRows, feed

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
    block_size : int, (int, int) or None
        Rows of x and of y in a block; two numbers if they differ; None is 256.
    seed : int, optional
        Seed of the null distribution.
    part : int
        Number of this stream among several whose partial results are added; each needs a number of its own.
    dtype : {"float64", "float32"}
    n_threads : int, optional
        As in :func:`btests.btest`.
    statistic : {"blocks", "features"}, callable or None
        As in :func:`btests.btest`; None is ``"blocks"``. With ``"features"`` all pairs of rows count, by 128 random
        frequencies of each kernel, in constant memory: row i of x and row i of y are partners, which swap under the
        null hypothesis, and whole runs of 32 partners count. Two streams that are each sorted would differ by that.

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

    @corrects_keywords
    def __init__(
        self,
        kernel: Kernel | MedianHeuristic | Aggregate | Statistic | str | None = None,
        block_size: int | tuple[int, int] | None = None,
        *,
        seed: int | None = None,
        part: int = 0,
        dtype: str = "float64",
        n_threads: int | None = None,
        statistic: StatisticFactory | str | None = None,
    ) -> None:
        check_dtype(dtype)
        factory, features = choose_statistic(statistic, dtype)
        if features and dtype != "float64":
            raise ValueError(
                f"dtype={dtype!r} is for blocks; features of streams are in float64, of rows of either type"
            )
        if features and block_size is not None:
            raise ValueError("statistic='features' has no blocks: leave out block_size")
        if any(getattr(one, "adds_rows", False) for one in (kernel, factory)):
            raise ValueError(
                "FeatureMMD is for rows of a known number; a stream takes kernels, with statistic='features'"
            )
        self._by_features = bool(features)
        self._b = (RUN, RUN) if features else check_block_pair(BLOCK_SIZE if block_size is None else block_size)
        if isinstance(part, bool) or not isinstance(part, (int, np.integer)) or not 0 <= part < 2**63:
            raise ValueError(f"part must be a whole number of at least 0 and below 2^63, got {brief(part)}")
        n_threads = check_threads(n_threads)
        self._initializer = KernelInitializer.of(kernel, dtype, factory)
        if features:
            self._initializer.check_features()
        self._seed, self._part, self._n_threads = check_seed(seed), int(part), n_threads
        compares = not is_statistic(kernel) or kernel.design.compares_columns
        self._pending = PendingRows(Columns() if compares else PairedColumns())
        self._n_done = 0
        self._sums: Accumulator | None = None

    def __repr__(self) -> str:
        size = self._b[0] if self._b[0] == self._b[1] else self._b
        how = "statistic='features'" if self._by_features else f"block_size={size}"
        options = f"{self._initializer.kernel!r}, {how}, seed={self._seed}"
        n, pending = self.n_blocks, self.n_pending
        done = f"{n * RUN} partners" if self._by_features else f"{n} block{'s' * (n != 1)}"
        return f"Stream({options}: {done}, {pending[0]} and {pending[1]} rows pending)"

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y so far."""
        n_x, n_y = self._pending.n_rows
        return self._n_done * self._b[0] + n_x, self._n_done * self._b[1] + n_y

    @property
    def n_full(self) -> tuple[int, int]:
        """Number of blocks that the rows of x fill, and those of y; with features, of runs of 32 rows."""
        n_x, n_y = self.n_rows
        return n_x // self._b[0], n_y // self._b[1]

    @property
    def n_blocks(self) -> int:
        """Number of full blocks; with features, of runs of 32 rows of each sample."""
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
        sums = self._sums
        try:
            with self._pending.added(x, y):
                if sums is None and self._can_begin():
                    n = -(-self._initializer.n_rows // min(self._b))  # blocks
                    first = self._pending.first(*(max(LOCATION_ROWS, n * b) for b in self._b))
                    self._sums = self._begin(*first, n)
                if self._sums is not None:
                    self._advance(self._sums)
        except Exception:
            self._sums = sums
            raise

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
        sums = self._sums
        if sums is None:  # too few rows so far: all of them are in the queues
            x, y = self._first(n)
            sums = self._begin(x, y, n)
            sums.add(x, y, (0, n), self._n_threads, goes_on=False)
        aggregate, statistic = self._initializer.aggregate, sums.statistic
        return PartialResult(
            statistic.kernels,
            sums.summaries(n, self._part),
            self._seed,
            aggregate.correction,
            None if aggregate.weights is None else tuple(aggregate.weights),
            engine=_core.engine_name(statistic.engine(Sample(np.zeros((1, 1))))),
            n_pending=self.n_pending,
            width=self._pending.columns.width,
            dtype=getattr(statistic, "dtype", "float64"),
            features=sums.features,
        )

    def result(self, null: Null | str | None = None) -> TestResult:
        """Return the test of all blocks so far.

        Stopping at the first small p-value is not a test at that level: see :class:`btests.SequentialTest`.
        """
        return self.partial().result(null, self._n_threads)

    def _can_begin(self) -> bool:
        """Return whether there are enough rows for the kernels, and enough blocks to know how they are computed."""
        if min(self.n_rows) < LOCATION_ROWS or self.n_blocks * min(self._b) < self._initializer.n_rows:
            return False
        assert self._pending.columns.width is not None
        if self._by_features:
            return True
        # For one kernel and for a family: the kernels are not selected yet.
        plan, width = self._plan(self.n_blocks), self._pending.columns.width
        return all(
            _core.lanes_are_blocks(plan, width, n) == _core.lanes_are_blocks(plan, width, n, endless=True)
            for n in (1, 2)
        )

    def _plan(self, n_blocks: int) -> Plan:
        return Plan(n_blocks * self._b[0], n_blocks * self._b[1], n_blocks)

    def _begin(self, x: Rows, y: Rows, n: int) -> Accumulator:
        """Return an empty sum, for kernels that are selected from the first rows, those of n blocks."""
        statistic = self._initializer.kernels_for(x, y, self._plan(n), self._pending.columns.names)
        if not self._by_features:
            return BlockSums.of(statistic, self._b, x, y)
        # Sums of several streams add if they have one origin; those of kernels of their own do not in any case.
        fixed = not self._initializer.depends_on_rows
        origin = np.zeros(x.shape[1]) if fixed else Sample(x).location.origin
        return FeatureSums.of(statistic.kernels, origin, (self._seed, self._part))

    def _advance(self, sums: Accumulator) -> None:
        """Add the blocks that are full, and remove their rows."""
        n = self.n_blocks
        if n == self._n_done:
            return
        sums.add(*self._first(n - self._n_done), (self._n_done, n), self._n_threads)
        self._pending.drop(*((n - self._n_done) * b for b in self._b))
        self._n_done = n

    def _first(self, n: int) -> tuple[Rows, Rows]:
        """Return the rows of the first n blocks in the queues, of one type: (n b_x, d) and (n b_y, d)."""
        x, y = self._pending.first(*(n * b for b in self._b))
        return (x, y) if x.dtype == y.dtype else (x.astype(np.float64), y.astype(np.float64))
