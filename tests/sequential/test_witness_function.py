"""Values and payoffs of new pairs."""

from __future__ import annotations

import numpy as np
import pytest

from btests import Gaussian, Linear
from btests.sequential.betting import Witness
from tests.reference import Array


def some(n: int, d: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([seed, n, d])
    return rng.normal(size=(n, d)), rng.normal(0.3, 1.0, size=(n, d))


def witness(n: int, d: int, window_size: int = 100) -> Witness:
    x, y = some(n, d, 0)
    new = Witness.start((Gaussian(1.0), Linear()), window_size, d)
    return new.after(x, y, new.value(x, y))


def test_values_are_those_of_a_double_loop() -> None:
    old, (x, y) = witness(7, 3), some(4, 3, 1)
    found = old.value(x, y)
    for j, kernel in enumerate(old.kernels):
        for i in range(4):
            f_x = sum(kernel(old.x[[a]], x[[i]]).item() - kernel(old.y[[a]], x[[i]]).item() for a in range(7)) / 7
            f_y = sum(kernel(old.x[[a]], y[[i]]).item() - kernel(old.y[[a]], y[[i]]).item() for a in range(7)) / 7
            assert found[i, j] == pytest.approx(f_x - f_y, abs=1e-13)


@pytest.mark.parametrize("d", [1, 5, 60])  # 60 columns go through a matrix product
def test_a_swap_changes_the_sign_and_not_a_bit_more(d: int) -> None:
    old, (x, y) = witness(50, d), some(16, d, 1)
    swapped = np.arange(16) % 3 == 0
    other_x, other_y = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
    values = old.value(x, y)
    assert np.array_equal(old.value(other_x, other_y), np.where(swapped[:, None], -values, values))
    assert np.array_equal(old.payoffs(-values), -old.payoffs(values))
    assert not old.value(x, x).any()


def test_it_has_the_last_pairs_and_is_zero_at_first() -> None:
    x, y = some(30, 2, 0)
    old = Witness.start((Gaussian(1.0),), 12, 2)
    assert not old.value(x, y).any()
    assert not old.payoffs(np.ones((3, 1))).any()
    for first in range(0, 30, 5):
        part = slice(first, first + 5)
        old = old.after(x[part], y[part], np.full((5, 1), float(first)))
    assert np.array_equal(old.x, x[-12:])
    assert np.array_equal(old.y, y[-12:])
    assert old.values[:, 0].tolist() == [15.0] * 2 + [20.0] * 5 + [25.0] * 5


def test_payoffs_are_measured_by_the_past_and_stay_within_one() -> None:
    old = witness(20, 2)
    values = np.array([[1e-300, 1e300], [-1e300, 0.0]])
    payoffs = old.after(*some(1, 2, 3), np.ones((1, 2))).payoffs(values)
    assert np.abs(payoffs).max() == 1.0
    assert payoffs[1, 1] == 0.0
    unscaled = Witness.start((Gaussian(1.0),), 5, 1).after(np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)))
    assert not unscaled.payoffs(np.ones((2, 1))).any()  # no bets before there is a scale


def test_sums_that_overflow_are_refused() -> None:
    big = Witness.start((Linear(),), 300, 1)
    big = big.after(np.full((300, 1), 1e154), np.full((300, 1), -1e154), np.zeros((300, 1)))
    with pytest.raises(ValueError, match="the kernel overflowed or gave NaN here; scale the data down"):
        big.value(np.full((2, 1), 1e154), np.zeros((2, 1)))
