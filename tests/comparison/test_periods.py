"""What moved within the day, the week and the year."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import btests
from btests.comparison.cells import Cells
from btests.comparison.changes import phases

N = 3000
START = np.datetime64("2023-01-02T00:00:00")  # a Monday


def times(rng: np.random.Generator, hour: float = 9.0, weekend: float = 1.0, july: float = 1.0) -> Any:
    """Return random times over two years, around an hour, with weights of the days of weekends and of July."""
    days = START.astype("datetime64[D]") + np.arange(800)
    weights = np.where((np.arange(800) % 7) >= 5, weekend, 1.0)
    weights = weights * np.where(days.astype("datetime64[M]").astype(int) % 12 == 6, july, 1.0)
    day = rng.choice(days, N, p=weights / weights.sum())
    return day.astype("datetime64[s]") + (3600 * (hour + rng.normal(0, 1.5, N))).astype("timedelta64[s]")


@pytest.mark.parametrize(
    ("changed", "what", "text"),
    [
        ({"hour": 12.0}, "time of day", "time of day: median 09:"),
        ({"hour": 24.5}, "time of day", "-> 00:"),
        ({"weekend": 1.8}, "weekday", "weekend 2"),
        ({"july": 3.0}, "month", "July 7."),
    ],
)
def test_moves_of_periods_are_described(changed: dict[str, float], what: str, text: str) -> None:
    rng = np.random.default_rng(3)
    sides = [{"t": times(rng), "u": rng.normal(size=N)}, {"t": times(rng, **changed), "u": rng.normal(size=N)}]
    found = btests.compare(*sides, seed=0)
    column = found.columns[0]
    assert column.name == "t"
    assert column.changed
    assert column.effect > 0.05
    assert any(change.quantity == what and text in change.text for change in column.changes), column.changes
    assert text in column.summary


def test_median_over_midnight() -> None:
    rng = np.random.default_rng(0)
    found = btests.compare({"t": times(rng, 23.0)}, {"t": times(rng, 25.0)}, seed=0)
    assert found.columns[0].changes[0].text.startswith("time of day: median 2")
    assert "-> 00:5" in found.columns[0].changes[0].text or "-> 01:0" in found.columns[0].changes[0].text


def test_phases() -> None:
    seconds = np.array([np.datetime64(t, "s").astype(float) for t in ("1969-12-31T23:00", "2024-02-29T05:30")])
    cells = Cells("t", "time", seconds, np.zeros(2, bool), 1, unit="timestamp")
    assert phases(cells, "day").tolist() == [23, 5]
    assert phases(cells, "week").tolist() == [2, 3]
    assert phases(cells, "year").tolist() == [11, 1]
