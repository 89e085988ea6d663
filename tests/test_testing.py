from __future__ import annotations

import numpy as np
import pytest

from btests.testing import assert_same_distribution


def test_passes_and_fails() -> None:
    rng = np.random.default_rng(0)
    a, b = {"amount": rng.normal(size=100)}, {"amount": rng.normal(size=100)}
    assert_same_distribution(a, b)
    with pytest.raises(AssertionError, match=r"(?s)different distributions.*amount"):
        assert_same_distribution(a, {"amount": b["amount"] + 2.0})
    assert_same_distribution(a, {"amount": b["amount"] + 2.0}, tolerance=0.9)


def test_repeats() -> None:
    """A table at the level itself always gives the same answer: the seed is fixed."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(60, 1)), rng.normal(0.5, 1.0, size=(60, 1))
    outcomes = set()
    for _ in range(3):
        try:
            assert_same_distribution(a, b, alpha=0.01)
            outcomes.add("same")
        except AssertionError:
            outcomes.add("different")
    assert len(outcomes) == 1
