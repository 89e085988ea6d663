"""What moved within the day, the week and the year, in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from btests.comparison.cells import Cells, Mask
from btests.comparison.move import Move
from btests.comparison.words import percent
from btests.plan import Array, Index

_DAY = 86400.0
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_HOURS = tuple(f"{hour:02d}:00 to {hour:02d}:59" for hour in range(24))
#: Hours, weekdays and months, by the names of the periods that they are in.
N_PHASES = {"day": 24, "week": 7, "year": 12}

# The weekend and the median time of day are easier to read than one of seven days or 24 hours, and are taken in place
# of it if they moved nearly as surely.
_NEARLY = 0.8

# A time of day that moved by less than this says nothing that the most changed hour does not say better.
_LEAST_SECONDS = 60.0


def phases(cells: Cells, period: str) -> Index:
    """Return the hour of the day, the day of the week from Monday, or the month of each cell: (n,)."""
    if period == "day":
        return np.asarray((cells.values % _DAY) // 3600.0, dtype=np.int64)
    days = np.floor(cells.values / _DAY).astype(np.int64)
    if period == "week":
        return (days + 3) % 7  # 1 January 1970 was a Thursday
    return np.asarray(days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12)


def period_moves(cells: Cells, periods: tuple[str, ...]) -> list[Move]:
    """Return what moved in each period: the time of day, the weekend or a weekday, a month."""
    if cells.unit == "time":  # which is nothing but a time of day, and described as a number
        return []
    present = [cells.present[cells.side(b)] for b in (False, True)]
    if min(int(side.sum()) for side in present) == 0:
        return []
    return [_move(cells, period, present) for period in periods]


def _move(cells: Cells, period: str, present: list[Mask]) -> Move:
    bins = phases(cells, period)
    sides = [bins[cells.side(b)][present[b]] for b in (False, True)]
    shares = [np.bincount(side, minlength=N_PHASES[period]) / len(side) for side in sides]
    n, m = (len(side) for side in sides)
    if period == "year":
        return _most_changed("month", _MONTHS, shares, n, m)
    if period == "week":
        best = _most_changed("weekday", _WEEKDAYS, shares, n, m)
        low, high = (float(share[5:].sum()) for share in shares)
        errors = _errors(low, high, n, m)
        weekend = Move("weekday", low, high, f"weekend {percent(low)} -> {percent(high)}", errors)
        return weekend if errors >= _NEARLY * best.errors else best
    best = _most_changed("time of day", _HOURS, shares, n, m)
    clock, moved = _clock(cells, present, shares[0] + shares[1])
    return clock if clock.errors >= _NEARLY * best.errors and moved >= _LEAST_SECONDS else best


def _most_changed(what: str, names: Sequence[str], shares: list[Array], n: int, m: int) -> Move:
    """Return the move of the bin that changed most surely."""
    errors = [_errors(float(a), float(b), n, m) for a, b in zip(*shares, strict=True)]
    j = int(np.argmax(errors))
    a, b = (float(share[j]) for share in shares)
    return Move(what, a, b, f"{names[j]} {percent(a)} -> {percent(b)}", errors[j])


def _errors(a: float, b: float, n: int, m: int) -> float:
    """Return the difference of two shares of n and m cells in standard errors."""
    p = (n * a + m * b) / (n + m)
    error = math.sqrt(max(p * (1.0 - p), 1e-12) * (1.0 / n + 1.0 / m))
    return abs(a - b) / error


def _clock(cells: Cells, present: list[Mask], shares: Array) -> tuple[Move, float]:
    """Return the move of the median time of day, and by how many seconds; days begin where there is least."""
    # Of several empty hours the middle one of the longest night, which may go over midnight.
    empty = np.tile(shares <= shares.min() + 1e-3, 2)
    runs = np.array([next((k for k in range(24) if not empty[h + k]), 24) for h in range(24)])
    start = 3600.0 * ((int(np.argmax(runs)) + int(runs.max()) // 2) % 24)
    clock = (cells.values - start) % _DAY
    sides = [clock[cells.side(b)][present[b]] for b in (False, True)]
    middle = float(np.median(np.concatenate(sides)))
    below = [float((side < middle).mean() + 0.5 * (side == middle).mean()) for side in sides]
    a, b = (float(np.median(side)) for side in sides)
    shown = [f"{int(t // 3600):02d}:{int(t // 60 % 60):02d}" for t in ((a + start) % _DAY, (b + start) % _DAY)]
    text = f"time of day: median {shown[0]} -> {shown[1]}"
    low, high = (a + start) % _DAY, (b + start) % _DAY
    return Move("time of day", low, high, text, _errors(below[0], below[1], len(sides[0]), len(sides[1]))), abs(a - b)
