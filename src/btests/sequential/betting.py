"""What a gambler owns who bets on payoffs that nobody can foresee."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from btests.plan import Array

#: Shares of an account that are put at stake. The best one is the mean of the payoffs over their mean square, which
#: nobody knows: there is an account for each, a factor of 2 apart, so that one of them is never far off.
STAKES = 0.9 / 2.0 ** np.arange(6)


@dataclass(frozen=True, slots=True)
class Wealth:
    r"""Accounts, one for every player and stake, and cash; in all 1 at the beginning, whatever the payoffs are.

    An account becomes ``1 + stake * payoff`` times what it was with every payoff. Where payoffs are between -1 and 1,
    and 0 on average given all that came before, so does the sum of all accounts, on average: it is a non-negative
    martingale, and it ever reaches ``1 / alpha`` with a probability of at most ``alpha`` (Ville's inequality).

    Cash is paid into the accounts round by round, ``1 / (r (r + 1))`` in round r, so one half in the first. Then a
    difference that begins after a long time is found as well: what was lost until there is not all.

    Attributes
    ----------
    shares
        What each player is given of the cash; they add up to 1: (k,).
    accounts
        Logarithms of the accounts: (k, s).
    n_rounds
        Rounds so far.
    """

    shares: Array
    accounts: Array
    n_rounds: int = 0

    @classmethod
    def of(cls, weights: Array) -> Wealth:
        """Return the wealth at the beginning, all in cash, which players will share by their weights (k,)."""
        return cls(weights / weights.sum(), np.full((len(weights), len(STAKES)), -math.inf))

    @property
    def cash(self) -> float:
        """What has not been paid in yet."""
        return 1.0 / (self.n_rounds + 1)

    def players(self) -> Array:
        """Return the logarithm of what each player owns, over all stakes and with its share of the cash: (k,)."""
        return np.asarray(np.logaddexp(np.logaddexp.reduce(self.accounts, axis=1), np.log(self.shares * self.cash)))

    def bet(self, payoffs: Array) -> tuple[Wealth, Array]:
        """Return the wealth after a round, and the logarithm of it after each bet: payoffs (m, k) to (m,)."""
        r = self.n_rounds + 1
        paid = self.shares[:, None] / (len(STAKES) * r * (r + 1))
        growth = np.cumsum(np.log1p(payoffs[:, :, None] * STAKES), axis=0)  # (m, k, s)
        accounts = np.logaddexp(self.accounts, np.log(paid)) + growth
        after = replace(self, accounts=accounts[-1], n_rounds=r)
        path = np.logaddexp.reduce(accounts.reshape(len(payoffs), -1), axis=1)
        return after, np.logaddexp(path, math.log(after.cash))
