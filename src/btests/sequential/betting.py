"""Bets on a witness function, and the wealth process of the sequential test: a nonnegative martingale under H0."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from btests.kernels.kernel import Kernel
from btests.plan import Array
from btests.statistics.checks import kernel_matrix, overflow_error

#: Fractions of an account that are bet. The best one is the mean of the payoffs over their mean square, which is
#: unknown: there is an account for each of these, a factor of 2 apart, so that one of them is never far from it.
FRACTIONS = 0.9 / 2.0 ** np.arange(6)


@dataclass(frozen=True, slots=True)
class Witness:
    r"""Witness function ``f(z) = mean_i k(x_i, z) - mean_j k(y_j, z)`` of the most recent pairs, for each kernel.

    It is large where x has been denser than y. The value of a new pair is ``f(x) - f(y)``: positive on average if the
    new rows differ as the old ones did, and symmetric about 0 if x and y are exchangeable.

    The most recent pairs are used instead of a random sample of all: they adapt sooner to changes, and need no random
    numbers.

    Attributes
    ----------
    kernels : tuple of Kernel
        One or several (k).
    window_size : int
        Number of pairs.
    x, y : array (n, d)
        The most recent pairs.
    values : array (n, k)
        Values that these pairs had when they were new.
    """

    kernels: tuple[Kernel, ...]
    window_size: int
    x: Array
    y: Array
    values: Array

    @classmethod
    def start(cls, kernels: tuple[Kernel, ...], window_size: int, width: int) -> Witness:
        """Return the witness function before the first pair."""
        return cls(kernels, window_size, np.empty((0, width)), np.empty((0, width)), np.empty((0, len(kernels))))

    def value(self, x: Array, y: Array) -> Array:
        """Return values (m, k) of new pairs, rows (m, d) and (m, d); 0 before the first pair."""
        n = len(self.x)
        if n == 0:
            return np.zeros((len(x), len(self.kernels)))
        past = np.concatenate([self.x, self.y])
        found = np.empty((len(x), len(self.kernels)))
        for j, kernel in enumerate(self.kernels):
            # Two calls of the same shape, the past first: then the value of a row is the same to the last bit as x and
            # as y, and a swap changes the sign of the difference and nothing else.
            of_x, of_y = (kernel_matrix(kernel, past, rows) for rows in (x, y))
            with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite raise below
                found[:, j] = _contrast(of_x, n) - _contrast(of_y, n)
        if not np.isfinite(found).all():
            raise overflow_error()
        return found

    def payoffs(self, values: Array) -> Array:
        """Return payoffs (m, k) between -1 and 1, odd in the values (m, k), in units of the mean absolute old value."""
        if len(self.values) == 0:
            return np.zeros_like(values)
        with np.errstate(over="ignore"):
            scale = np.abs(self.values).mean(axis=0)
            scaled = np.divide(values, scale, out=np.zeros_like(values), where=scale > 0.0)
        return np.asarray(np.tanh(0.5 * scaled))

    def after(self, x: Array, y: Array, values: Array) -> Witness:
        """Return the witness function after more pairs: rows (m, d) and (m, d), values (m, k)."""
        return replace(self, x=self._last(self.x, x), y=self._last(self.y, y), values=self._last(self.values, values))

    def _last(self, old: Array, new: Array) -> Array:
        return np.concatenate([old, new])[-self.window_size :]


def _contrast(gram: Array, n: int) -> Array:
    """Return the mean over the first n rows less that over the others: (2 n, m) to (m,)."""
    return np.asarray(gram[:n].mean(axis=0, dtype=np.float64) - gram[n:].mean(axis=0, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Wealth:
    r"""Accounts, one for each kernel and betting fraction, and a reserve; their sum is 1 at the beginning.

    A payoff multiplies an account by ``1 + fraction * payoff``. If payoffs are between -1 and 1, with mean 0 given all
    that came before, the sum of all accounts is a nonnegative martingale, and ever reaches ``1 / alpha`` with a
    probability of at most ``alpha`` (Ville's inequality).

    A part of the reserve is added to the accounts in each round, ``1 / (r (r + 1))`` in round r, so one half in the
    first. So a difference that begins after a long time is found as well: what was lost until then is bounded.

    Attributes
    ----------
    weights : array (k,)
        Shares of the kernels in the reserve; their sum is 1.
    log_accounts : array (k, s)
        Logarithms of the accounts.
    n_rounds : int
        Rounds so far.
    """

    weights: Array
    log_accounts: Array
    n_rounds: int = 0

    @classmethod
    def start(cls, weights: Array) -> Wealth:
        """Return the wealth before the first round for weights (k,) of the kernels."""
        return cls(weights / weights.sum(), np.full((len(weights), len(FRACTIONS)), -math.inf))

    @property
    def reserve(self) -> float:
        """Part of the initial wealth that is in no account yet."""
        return 1.0 / (self.n_rounds + 1)

    def log_by_kernel(self) -> Array:
        """Return the logarithm of the wealth of each kernel, with its share of the reserve: (k,)."""
        accounts = np.logaddexp.reduce(self.log_accounts, axis=1)
        return np.asarray(np.logaddexp(accounts, np.log(self.weights * self.reserve)))

    def bet(self, payoffs: Array) -> tuple[Wealth, Array]:
        """Return the wealth after a round, and its logarithm after each bet: payoffs (m, k) to (m,)."""
        r = self.n_rounds + 1
        added = self.weights[:, None] / (len(FRACTIONS) * r * (r + 1))
        growth = np.cumsum(np.log1p(payoffs[:, :, None] * FRACTIONS), axis=0)  # (m, k, s)
        accounts = np.logaddexp(self.log_accounts, np.log(added)) + growth
        after = replace(self, log_accounts=accounts[-1], n_rounds=r)
        path = np.logaddexp.reduce(accounts.reshape(len(payoffs), -1), axis=1)
        return after, np.logaddexp(path, math.log(after.reserve))
