"""The effect of the joint test, and the share of rows that moved in a column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import btests


def table(rng: np.random.Generator, n: int, shift: float = 0.0) -> dict[str, Any]:
    """Return a table of a number and a category."""
    return {"u": rng.normal(size=n) + shift, "c": rng.choice(np.array(["p", "q", "r"]), n)}


@pytest.mark.parametrize(("n_a", "n_b"), [(300, 300), (300, 210)])
@pytest.mark.parametrize("kernel", [None, "energy"])
def test_the_effect_knows_neither_seed_nor_side(n_a: int, n_b: int, kernel: str | None) -> None:
    rng = np.random.default_rng(0)
    a, b = table(rng, n_a), table(rng, n_b, 0.4)
    found = [btests.compare(*sides, seed=s, kernel=kernel) for s in (0, 7) for sides in ((a, b), (b, a))]
    effects = [one.effect.summary.mean() for one in found]
    np.testing.assert_allclose(effects, effects[0], rtol=1e-9)
    intervals = [one.effect.confidence_interval(0.95) for one in found]
    np.testing.assert_allclose(intervals, np.tile(intervals[0], (4, 1)), rtol=1e-9)
    # The p-values are of the seed, and not of the side.
    for one, other in ((found[0], found[1]), (found[2], found[3])):
        assert [look.pvalue for look in one.looks] == [look.pvalue for look in other.looks]
        assert one.pvalue == other.pvalue
