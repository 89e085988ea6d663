"""The median heuristic."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests import DegenerateDataWarning, median_bandwidth


def by_hand(points: list[list[float]]) -> float:
    """Return sqrt(median(d^2) / 2) over all pairs."""
    return math.sqrt(statistics.median(math.dist(a, b) ** 2 for a, b in itertools.combinations(points, 2)) / 2.0)


@pytest.mark.parametrize("d", [1, 2, 40])
def test_definition(d: int) -> None:
    points = np.random.default_rng(d).normal(size=(31, d))
    assert median_bandwidth(points) == pytest.approx(by_hand(points.tolist()), rel=1e-12)


@given(st.lists(st.integers(-1000, 1000), min_size=3, max_size=12, unique=True), st.sampled_from([1e-150, 1.0, 1e150]))
def test_any_scale(cells: list[int], scale: float) -> None:
    wanted = by_hand([[float(c)] for c in cells])
    assert median_bandwidth(np.array(cells, dtype=float)[:, None] * scale) == pytest.approx(wanted * scale, rel=1e-9)


def test_far_from_the_origin() -> None:
    points = np.random.default_rng(0).integers(0, 1000, size=(30, 2)).astype(float)
    assert median_bandwidth(points + 1e9) == pytest.approx(median_bandwidth(points), rel=1e-12)


@pytest.mark.parametrize("d", [1, 4, 50])
def test_most_pairs_equal(d: int) -> None:
    points = np.tile(np.random.default_rng(0).normal(size=d), (20, 1))
    points[0, 0] += 3.0
    assert median_bandwidth(points) == pytest.approx(3.0 / math.sqrt(2.0))
    points[::2, 0] += 3.0
    assert median_bandwidth(points) == pytest.approx(3.0 / math.sqrt(2.0))


def test_one_far_outlier_does_not_hide_the_others() -> None:
    points = np.arange(20.0)[:, None]
    wanted = median_bandwidth(points)
    points[-1] = 1e200
    assert median_bandwidth(points) < 2.0 * wanted


def test_all_equal() -> None:
    with pytest.warns(DegenerateDataWarning, match="no scale to choose a bandwidth by"):
        assert median_bandwidth(np.full((10, 3), 7.0)) == 1.0


@pytest.mark.parametrize(
    "points", [[], np.zeros((0, 2)), np.zeros((3, 0)), [[1.0], [math.nan]], [["a"], ["b"]], None, 3]
)
def test_no_rows_of_numbers(points: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="points"):
        median_bandwidth(points)


def test_rows_in_any_container() -> None:
    assert median_bandwidth([[0.0], [1.0], [2.0]]) == median_bandwidth(np.arange(3)) == math.sqrt(0.5)  # type: ignore[arg-type]
