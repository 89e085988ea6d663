"""Batches of rows, watched all the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from btests.kernels.protocol import Kernel
from btests.plan import Array, Plan
from btests.selection import Aggregate, MedianFamily, MedianHeuristic
from btests.selection.protocol import Candidate
from btests.sequential.betting import Wealth
from btests.sequential.row_queue import Queue
from btests.sequential.sequential_result import LEVELS, SequentialResult, pvalue_of
from btests.sequential.witness_function import Witness
from btests.streaming.columns import Columns
from btests.streaming.feed import Batches, feed
from btests.streaming.kernel_init import KernelInitializer

#: Multiples of the median bandwidth that a watch bets with unless it is told otherwise, and the pairs of rows that the
#: median is taken over.
DEFAULT = Aggregate(MedianFamily([1 / 16, 1 / 4, 1.0, 4.0], n_rows=32))

# Pairs of a round. The first rounds are as long as all before them: 1, 1, 2, 4, 8.
_ROUND = 16

# Pairs that kernels are tried on before the first round.
_PROBE = 4


class SequentialTest:
    """A two-sample test that may be watched all the time, and stopped at any time because of what it shows.

    Rows come in pairs, the next of x with the next of y. Before each round of up to 16 pairs a function is learned from
    the pairs before, which is large where x was denser than y; in the round it is a bet that this goes on. If x and y
    have the same distribution nobody can win such bets on average, and the wealth ever reaches ``1 / alpha`` with a
    probability of at most ``alpha``, however long one plays and however often one looks.

    The answer does not depend on how rows were batched, to the last bit. Nothing is drawn at random: there is no seed.
    Pairs must be independent of one another; time series are not covered.

    Memory is that of 2 ``n_kept`` rows, and of rows that wait for a partner; time for a row grows like ``n_kept``.

    Parameters
    ----------
    kernel
        A kernel, its name, ``MedianHeuristic(...)``, or ``Aggregate(family)``, whose kernels each bet with a share of
        the wealth; None is four Gaussians around the median distance. Bandwidths that depend on the data come from the
        first pairs, which are not bet on: 32 of them by default, 100 for a name.
    n_kept
        Pairs of rows to learn from, the last ones. More of them see smaller differences, as larger blocks do.

    References
    ----------
    S. Shekhar, A. Ramdas, "Nonparametric two-sample testing by betting", IEEE Transactions on Information Theory 70,
    2024; and, for payoffs that are fair by symmetry, A. Podkopaev, P. Bloebaum, S. P. Kasiviswanathan, A. Ramdas,
    "Sequential kernelized independence testing", ICML, 2023.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> watch = btests.SequentialTest()
    >>> for day in range(100):
    ...     watch.update(rng.normal(size=(30, 2)), rng.normal(0.5, 1.0, size=(30, 2)))
    ...     if watch.result().rejects(0.01):
    ...         break
    >>> day  # counted from 0
    3
    """

    def __init__(self, kernel: Kernel | MedianHeuristic | Aggregate | str | None = None, *, n_kept: int = 256) -> None:
        if isinstance(n_kept, bool) or not isinstance(n_kept, (int, np.integer)) or not 1 <= n_kept <= 2**20:
            raise ValueError(f"n_kept must be a whole number between 1 and 2^20, got {n_kept!r}")
        self._initializer = KernelInitializer.of(DEFAULT if kernel is None else kernel, "float64")
        self._n_kept = int(n_kept)
        self._columns = Columns()
        self._n_spent = self._initializer.n_rows if self._initializer.depends_on_rows else 0
        self._x, self._y = Queue(), Queue()
        self._n_pairs = 0
        self._witness: Witness | None = None
        self._wealth: Wealth | None = None
        self._log_wealth = self._log_largest = 0.0
        self._rejected_at: dict[float, int] = {}

    def __repr__(self) -> str:
        told = f"{self._initializer.kernel!r}, n_kept={self._n_kept}"
        waiting = self.n_pending
        return f"SequentialTest({told}: {self._n_pairs} pairs, {waiting[0]} and {waiting[1]} rows wait)"

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y that have come."""
        return self._n_pairs + self._x.n_rows, self._n_pairs + self._y.n_rows

    @property
    def n_full(self) -> tuple[int, int]:
        """Pairs that the rows of x and those of y would fill."""
        return self.n_rows

    @property
    def n_pending(self) -> tuple[int, int]:
        """Rows of x and of y that wait for a partner, or for their round to be full."""
        return self._x.n_rows, self._y.n_rows

    def update(self, x: Any = None, y: Any = None, *, names: Sequence[str] | None = None) -> None:
        """Take more rows: arrays (m, d), vectors (m,) or data frames of numbers; None or no rows of one are fine.

        Columns of data frames are matched by name, and those of arrays where ``names`` tells them. Of a batch on which
        a kernel fails the rounds before are played, and the rest is not taken.
        """
        admitted = self._columns.admit(x, y, names)
        for queue, rows in zip((self._x, self._y), admitted, strict=True):
            if rows is not None:
                queue.put(rows)
        try:
            if self._witness is None and min(self.n_pending) >= max(_PROBE, self._n_spent):
                self._begin()
            while self._witness is not None and min(self.n_pending) >= self._round():
                self._play(self._round())
        except Exception:
            for queue, rows in zip((self._x, self._y), admitted, strict=True):
                if rows is not None and queue.n_rows:
                    queue.take_back()
            raise

    def consume(self, x: Iterable[Any], y: Iterable[Any]) -> SequentialTest:
        """Take the batches of two iterables, such as data loaders, until one of them ends, and return the watch.

        As :meth:`btests.Stream.consume` does.
        """
        feed(self, Batches(x, "x"), Batches(y, "y"))
        return self

    def result(self) -> SequentialResult:
        """Return the evidence so far; looking at it costs nothing, whatever is done because of it."""
        candidates: tuple[Candidate, ...] = ()
        kernel = None
        if self._witness is not None and self._wealth is not None:
            owned = self._wealth.players()
            shares = zip(self._witness.kernels, owned.tolist(), self._wealth.shares.tolist(), strict=True)
            candidates = tuple(Candidate(*share) for share in shares)
            kernel = self._witness.kernels[int(np.argmax(owned))]
        return SequentialResult(
            self._log_wealth,
            self._log_largest,
            *self.n_rows,
            self._n_pairs,
            min(self._n_pairs, self._n_spent),
            self.n_pending,
            tuple((level, self._rejected_at.get(level)) for level in LEVELS),
            kernel,
            candidates,
        )

    def _begin(self) -> None:
        """Learn kernels from the first pairs, and share the wealth among them."""
        n = max(_PROBE, self._n_spent)
        x, y = self._x.first(n), self._y.first(n)
        kernels = self._initializer.kernels_for(x, y, Plan(n, n, 1)).kernels
        weights = self._initializer.aggregate.weights or [1.0] * len(kernels)
        if len(weights) != len(kernels):
            raise ValueError(f"one weight per kernel: got {len(weights)} weights, {len(kernels)} kernels")
        self._wealth = Wealth.of(np.array(weights, dtype=np.float64))
        self._witness = Witness.of(kernels, self._n_kept, x.shape[1])

    def _round(self) -> int:
        """Return how many pairs the next round takes; none has both pairs that are bet on and pairs that are not."""
        n = self._n_pairs
        size = min(_ROUND, max(1, n))
        return min(size, self._n_spent - n) if n < self._n_spent else size

    def _play(self, n: int) -> None:
        """Bet on the next n pairs by what is known before them, and learn from them then."""
        assert self._witness is not None
        assert self._wealth is not None
        x, y = self._x.first(n), self._y.first(n)
        values = self._witness.value(x, y)  # whatever fails, fails here, before anything has changed
        if self._n_pairs >= self._n_spent:
            self._wealth, path = self._wealth.bet(self._witness.payoffs(values))
            self._note(path)
        self._witness = self._witness.after(x, y, values)
        self._x.drop(n)
        self._y.drop(n)
        self._n_pairs += n

    def _note(self, path: Array) -> None:
        """Remember what the wealth was, given its logarithm after each pair of a round: (m,)."""
        largest = np.maximum.accumulate(np.append(self._log_largest, path))[1:]
        for level in LEVELS:
            if level not in self._rejected_at and pvalue_of(largest[-1]) <= level:
                first = next(i for i, log in enumerate(largest.tolist()) if pvalue_of(log) <= level)
                self._rejected_at[level] = self._n_pairs + first + 1
        self._log_wealth, self._log_largest = float(path[-1]), float(largest[-1])
