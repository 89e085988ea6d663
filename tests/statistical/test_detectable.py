"""The change that a comparison says it would have shown with 80 % power is found about that often."""

from __future__ import annotations

import pytest

from studies.detectable import Cell, count
from tests.bounds import count_bounds


@pytest.mark.parametrize(("n_a", "n_b"), [(100, 100), (60, 240)])
@pytest.mark.parametrize("change", ["share", "shift"])
def test_power_at_the_stated_change(n_a: int, n_b: int, change: str) -> None:
    # Power between .7 and .9: a correct program fails with a probability of 1e-6.
    n = 60
    found = count(Cell(n_a, n_b, 2, change, n), range(n), 7)[0]
    low, high = count_bounds(n, 0.7, 0.9)
    assert low <= found["verdict"] <= high
