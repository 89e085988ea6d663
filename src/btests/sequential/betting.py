"""Wealth process of the betting test: a nonnegative martingale under H0."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from btests.plan import Array

#: Fractions of an account that are bet. The best one is the mean of the payoffs over their mean square, which is
#: unknown: there is an account for each of these, a factor of 2 apart, so that one of them is never far from it.
FRACTIONS = 0.9 / 2.0 ** np.arange(6)


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
