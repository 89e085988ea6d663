"""Relations that moved while neither column did, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import btests

N = 2000


def sides(rng: np.random.Generator, what: str) -> list[dict[str, Any]]:
    """Return two tables with 10 percent of holes in x, which on the second side depend on another column."""
    found = []
    for second in (False, True):
        y, z = rng.normal(size=N), rng.normal(size=N)
        colour = rng.choice(np.array(["red", "green", "blue"]), N)
        holes, other = rng.random(N) < 0.1, rng.random(N) < 0.1
        if second and what == "together":
            other = holes ^ (rng.random(N) < 0.01)
        elif second and what == "above":
            holes = rng.random(N) < np.where(y > 0, 0.19, 0.01)
        elif second and what == "red":
            holes = rng.random(N) < np.where(colour == "red", 0.3, 0.0)
        found.append({"x": np.where(holes, np.nan, z), "y": np.where(other, np.nan, y), "colour": colour})
    return found


@pytest.mark.parametrize(
    ("what", "measure", "text"),
    [
        ("together", "missing together", "x is missing together with y more often: 0.8 % -> 9.9 %"),
        ("above", "missing by value", "x is missing where y is "),
        ("red", "missing by value", "x is missing where colour is red more often: "),
    ],
)
def test_relations_of_missing_cells(what: str, measure: str, text: str) -> None:
    found = btests.compare(*sides(np.random.default_rng(8), what), seed=0)
    assert found.different
    assert not any(column.changed for column in found.columns)
    assert found.relations[0].measure == measure
    assert text in found.relations[0].text
    assert found.to_dict()["relations"][0]["text"] == found.relations[0].text
    assert "% -> " in str(found)
