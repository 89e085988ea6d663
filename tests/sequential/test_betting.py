"""Wealth is a martingale: its mean is constant, and it stays positive."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from btests.sequential.betting import FRACTIONS, Wealth
from tests.reference import Array

payoffs = st_numpy.arrays(np.float64, st.tuples(st.integers(1, 4), st.just(2)), elements=st.floats(-1.0, 1.0))


def test_it_stays_one_while_payoffs_are_zero() -> None:
    wealth = Wealth.start(np.array([1.0, 3.0]))
    assert wealth.weights.tolist() == [0.25, 0.75]
    assert np.exp(wealth.log_by_kernel()).tolist() == pytest.approx([0.25, 0.75], abs=1e-15)
    for r in range(1, 1000):
        wealth, path = wealth.bet(np.zeros((2, 2)))
        assert wealth.reserve == 1.0 / (r + 1)
        assert path == pytest.approx([0.0, 0.0], abs=1e-13)
        assert np.exp(wealth.log_by_kernel()).sum() == pytest.approx(1.0, abs=1e-13)


@given(st.lists(payoffs, min_size=1, max_size=5), st.tuples(st.floats(0.01, 10.0), st.floats(0.01, 10.0)))
def test_it_is_that_of_a_plain_double_loop(rounds: list[Array], weights: tuple[float, float]) -> None:
    wealth = Wealth.start(np.array(weights))
    for payoff in rounds:
        wealth, path = wealth.bet(payoff)
    plain = 1.0 / (len(rounds) + 1)
    for k, fraction in product(range(2), FRACTIONS):
        for start in range(len(rounds)):  # an account that is opened in this round
            account = weights[k] / sum(weights) / len(FRACTIONS) / ((start + 1) * (start + 2))
            for g in np.concatenate(rounds[start:])[:, k]:
                account *= 1.0 + fraction * g
            plain += account
    assert np.exp(path[-1]) == pytest.approx(plain, rel=1e-11)
    assert path[-1] >= np.log(wealth.reserve)


@given(st.lists(payoffs, min_size=1, max_size=3))
def test_the_average_over_all_signs_is_one(rounds: list[Array]) -> None:
    n = sum(len(payoff) for payoff in rounds)
    edges = np.cumsum([0] + [len(payoff) for payoff in rounds])
    total = 0.0
    for signs in product((-1.0, 1.0), repeat=n):
        wealth = Wealth.start(np.ones(2))
        for payoff, first, last in zip(rounds, edges[:-1], edges[1:], strict=True):
            wealth, path = wealth.bet(payoff * np.array(signs[first:last])[:, None])
        total += np.exp(path[-1])
    assert total / 2**n == pytest.approx(1.0, abs=1e-12)


def test_it_neither_overflows_nor_vanishes() -> None:
    rich = poor = Wealth.start(np.ones(1))
    for _ in range(200):
        rich, up = rich.bet(np.ones((16, 1)))
        poor, down = poor.bet(-np.ones((16, 1)))
    assert 1e3 < up[-1] < 1e4
    assert down[-1] == pytest.approx(np.log(poor.reserve), abs=0.1)
