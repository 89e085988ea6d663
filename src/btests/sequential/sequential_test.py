"""Sequential two-sample test of batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from btests._option_checks import check_alpha, corrects_keywords
from btests._text import brief
from btests.data.batches import Batches
from btests.kernels.kernel import Kernel
from btests.plan import Array, Plan
from btests.plot import plot_wealth
from btests.selection import Aggregate, MedianFamily, MedianHeuristic
from btests.selection.selector import Candidate
from btests.sequential.betting import Wealth, Witness
from btests.sequential.sequential_result import LEVELS, SequentialResult, pvalue_of
from btests.streaming.kernel_init import KernelInitializer
from btests.streaming.row_queue import Batch, PendingRows, feed

#: Default kernels: multiples of the median bandwidth of the first 32 pairs.
DEFAULT = Aggregate(MedianFamily([1 / 16, 1 / 4, 1.0, 4.0], n_rows=32))

# Pairs of a round. The first rounds are as long as all before them: 1, 1, 2, 4, 8.
_ROUND = 16

# Points of the wealth over time that are kept: every other one is dropped when there are more.
_MOST_POINTS = 4096

# Pairs on which kernels are checked before the first round.
_CHECK_PAIRS = 4


class SequentialTest:
    """Sequential two-sample test, which may be inspected and stopped at any time, for any reason.

    Rows are paired, the next of x with the next of y. Before each round of up to 16 pairs a witness function is
    estimated from the pairs before, which is large where x was denser than y; the round is a bet that this continues.
    If x and y have the same distribution such bets are fair, and the wealth ever reaches ``1 / alpha`` with a
    probability of at most ``alpha``, for any number of rounds and of inspections.

    The result does not depend on the sizes of batches, to the last bit. There are no random numbers, hence no seed.
    Pairs must be independent of one another; time series are not covered.

    Memory is that of 2 ``window_size`` rows and of pending rows; time for each row is proportional to ``window_size``.

    Parameters
    ----------
    kernel : Kernel, str, MedianHeuristic, Aggregate or None
        Kernel, its name, or a selector; the kernels of ``Aggregate(family)`` share the wealth. None is four Gaussians
        around the median distance. Bandwidths that depend on the data are computed from the first pairs, which are not
        bet on: 32 of them by default, 100 for a name.
    window_size : int
        Number of most recent pairs for the witness function. More of them detect smaller differences, as larger blocks
        do.

    See Also
    --------
    btests.Stream : Test of batches at a time that is fixed beforehand.

    References
    ----------
    S. Shekhar, A. Ramdas, "Nonparametric two-sample testing by betting", IEEE Transactions on Information Theory 70,
    2024; and, for payoffs that are fair by symmetry, A. Podkopaev, P. Bloebaum, S. P. Kasiviswanathan, A. Ramdas,
    "Sequential kernelized independence testing", ICML, 2023.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> test = btests.SequentialTest()
    >>> for day in range(100):
    ...     test.update(rng.normal(size=(30, 2)), rng.normal(0.5, 1.0, size=(30, 2)))
    ...     if test.result().rejects(0.01):
    ...         break
    >>> day  # counted from 0
    3
    """

    @corrects_keywords
    def __init__(
        self, kernel: Kernel | MedianHeuristic | Aggregate | str | None = None, *, window_size: int = 256
    ) -> None:
        if (
            isinstance(window_size, bool)
            or not isinstance(window_size, (int, np.integer))
            or not (1 <= window_size <= 2**20)
        ):
            raise ValueError(f"window_size must be a whole number between 1 and 2^20, got {brief(window_size)}")
        self._initializer = KernelInitializer.of(DEFAULT if kernel is None else kernel, "float64")
        self._window_size = int(window_size)
        self._n_train = self._initializer.n_rows if self._initializer.depends_on_rows else 0
        self._pending = PendingRows()
        self._n_pairs = 0
        self._witness: Witness | None = None
        self._wealth: Wealth | None = None
        self._log_wealth = self._log_max_wealth = 0.0
        self._rejected_at: dict[float, int] = {}
        self._history: list[tuple[int, float]] = []

    def __repr__(self) -> str:
        options, pending = f"{self._initializer.kernel!r}, window_size={self._window_size}", self.n_pending
        return f"SequentialTest({options}: {self._n_pairs} pairs, {pending[0]} and {pending[1]} rows pending)"

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y so far."""
        n_x, n_y = self.n_pending
        return self._n_pairs + n_x, self._n_pairs + n_y

    @property
    def n_full(self) -> tuple[int, int]:
        """Number of pairs that the rows of x fill, and those of y."""
        return self.n_rows

    @property
    def n_pending(self) -> tuple[int, int]:
        """Rows of x and of y without a partner, or whose round is not full."""
        return self._pending.n_rows

    def update(self, x: Any = None, y: Any = None, *, names: Sequence[str] | None = None) -> None:
        """Add rows of x, of y, or of both.

        If a kernel fails on a batch, the rounds before are complete, and the rest of the batch is not added.

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
        with self._pending.added(x, y):
            if self._witness is None and min(self.n_pending) >= max(_CHECK_PAIRS, self._n_train):
                self._begin()
            while self._witness is not None and min(self.n_pending) >= self._round_size():
                self._play(self._round_size())

    def consume(self, x: Iterable[Any], y: Iterable[Any]) -> SequentialTest:
        """Add the batches of two iterables, such as data loaders, until one of them ends, and return the test.

        See :meth:`btests.Stream.consume`.
        """
        feed(self, Batches(x, "x"), Batches(y, "y"))
        return self

    def result(self) -> SequentialResult:
        """Return the evidence so far; it may be computed, and acted upon, at any time."""
        candidates: tuple[Candidate, ...] = ()
        kernel = None
        if self._witness is not None and self._wealth is not None:
            log_wealths = self._wealth.log_by_kernel()
            of_each = zip(self._witness.kernels, log_wealths.tolist(), self._wealth.weights.tolist(), strict=True)
            candidates = tuple(Candidate(*one) for one in of_each)
            kernel = self._witness.kernels[int(np.argmax(log_wealths))]
        return SequentialResult(
            self._log_wealth,
            self._log_max_wealth,
            *self.n_rows,
            self._n_pairs,
            min(self._n_pairs, self._n_train),
            self.n_pending,
            tuple((level, self._rejected_at.get(level)) for level in LEVELS),
            kernel,
            candidates,
        )

    def plot(self, ax: Any = None, *, alpha: float = 0.05) -> Any:
        """Plot the wealth over pairs of rows, with the wealth that rejects, in matplotlib, and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in; those of a new figure by default.
        alpha : float, default: 0.05
            Level at which the test rejects.
        """
        points = np.array([(0, 0.0), *self._history], dtype=np.float64)
        return plot_wealth(points[:, 0], points[:, 1], ax, alpha=check_alpha(alpha))

    def _begin(self) -> None:
        """Select the kernels from the first pairs, and share the wealth among them."""
        n = max(_CHECK_PAIRS, self._n_train)
        x, y = self._first(n)
        kernels = self._initializer.kernels_for(x, y, Plan(n, n, 1)).kernels
        weights = self._initializer.aggregate.weights or [1.0] * len(kernels)
        if len(weights) != len(kernels):
            raise ValueError(f"one weight per kernel: got {len(weights)} weights, {len(kernels)} kernels")
        self._wealth = Wealth.start(np.array(weights, dtype=np.float64))
        self._witness = Witness.start(kernels, self._window_size, x.shape[1])

    def _round_size(self) -> int:
        """Return the number of pairs of the next round; no round has both training pairs and others."""
        n = self._n_pairs
        size = min(_ROUND, max(1, n))
        return min(size, self._n_train - n) if n < self._n_train else size

    def _play(self, n: int) -> None:
        """Bet on the next n pairs with the witness function of those before, then add them to it."""
        assert self._witness is not None
        assert self._wealth is not None
        x, y = self._first(n)
        values = self._witness.value(x, y)  # only this may fail, before anything has changed
        if self._n_pairs >= self._n_train:
            self._wealth, path = self._wealth.bet(self._witness.payoffs(values))
            self._record(path)
        self._witness = self._witness.after(x, y, values)
        self._pending.drop(n, n)
        self._n_pairs += n

    def _first(self, n: int) -> tuple[Array, Array]:
        """Return the first n pending pairs: (n, d) and (n, d) of float64."""
        x, y = self._pending.first(n, n)
        return x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)

    def _record(self, path: Array) -> None:
        """Record the logarithm of the wealth after each pair of a round (m,), and the levels that it rejects."""
        largest = np.maximum.accumulate(np.append(self._log_max_wealth, path))[1:]
        for level in LEVELS:
            if level not in self._rejected_at and pvalue_of(largest[-1]) <= level:
                first = next(i for i, log in enumerate(largest.tolist()) if pvalue_of(log) <= level)
                self._rejected_at[level] = self._n_pairs + first + 1
        self._log_wealth, self._log_max_wealth = float(path[-1]), float(largest[-1])
        self._history.append((self._n_pairs + len(path), self._log_wealth))
        if len(self._history) > _MOST_POINTS:
            del self._history[:-1:2]
