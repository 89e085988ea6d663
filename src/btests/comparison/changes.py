"""Changes of a column in plain numbers: missing cells, levels, mean, spread, shape and periods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.comparison.cells import Cells, Mask
from btests.comparison.format import pair, percent
from btests.comparison.vectors import mean_change, spread_change
from btests.plan import Array, Index
from btests.report.number_format import duration


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a column.

    Attributes
    ----------
    quantity : str
        What changed: ``"mean"``, ``"spread"``, ``"shape"``, ``"categories"``, ``"missing"``, ``"time of day"``,
        ``"weekday"`` or ``"month"``.
    a, b : float or None
        Its value on each side.
    text : str
        The change in words.
    errors : float
        The change in standard errors.
    """

    quantity: str
    a: float | None
    b: float | None
    text: str
    errors: float

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain values."""
        return {"quantity": self.quantity, "a": self.a, "b": self.b, "text": self.text}


#: Minimum standard errors of a reported change, and of the largest change of a column that changed significantly if no
#: change reaches the first.
_STANDARD_ERRORS = 3.0
_AT_LEAST = 2.0

# Minimum expected count of a reported level on the shorter side: standard errors are unreliable below.
_EXPECTED = 2.5


def level_shares(cells: Cells) -> tuple[Array, Array]:
    """Return the share of each level among the present cells of each side: (levels,) twice."""
    a, b = (counts / max(1, counts.sum()) for counts in (cells.counts(False), cells.counts(True)))
    return a, b


def changes(cells: Cells, periods: tuple[str, ...] = ()) -> list[Change]:
    """Return changes, of a column that changed significantly, of more than a few standard errors, the largest first.

    There is at least one, unless it has few standard errors.
    """
    return _found(cells, periods, _STANDARD_ERRORS) or _found(cells, periods, _AT_LEAST)[:1]


def _found(cells: Cells, periods: tuple[str, ...], least: float) -> list[Change]:
    found = [_missing(cells)]
    if cells.has_levels:
        found += _levels(cells, least)
    elif cells.vectors is not None:
        found += _vectors(cells)
    else:
        found += [*_numbers(cells), *period_changes(cells, periods)]
    kept = [change for change in found if change is not None and change.errors >= least]
    return sorted(kept, key=lambda change: -change.errors)


def _vectors(cells: Cells) -> list[Change | None]:
    a, b = cells.vectors_of(False), cells.vectors_of(True)
    if a is None or b is None or min(len(a), len(b)) < 2:
        return []
    distance, apart, errors = mean_change(a, b)
    one, two, spread, own = spread_change(a, b)
    return [Change("mean vector", 0.0, distance, apart, errors), Change("spread", one, two, spread, own)]


def _missing(cells: Cells) -> Change | None:
    a, b = (float(cells.missing[cells.side(side)].mean()) for side in (False, True))
    n, m = cells.n_a, len(cells) - cells.n_a
    pooled = float(cells.missing.mean())
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m))
    if error == 0.0:
        return None
    return Change("missing", a, b, f"missing {percent(a)} -> {percent(b)}", abs(a - b) / error)


def _levels(cells: Cells, least: float) -> list[Change | None]:
    a, b = level_shares(cells)
    counts = [int((~cells.missing[cells.side(side)]).sum()) for side in (False, True)]
    if min(counts) == 0:
        return []
    p = (counts[0] * a + counts[1] * b) / sum(counts)
    errors = np.sqrt(np.maximum(p * (1.0 - p), 1e-12) * (1.0 / counts[0] + 1.0 / counts[1]))
    size = np.abs(a - b) / errors
    # Standard errors are unreliable for levels with small expected counts.
    size = np.where(p * min(counts) >= _EXPECTED, size, 0.0)
    shown = [j for j in np.argsort(-np.abs(a - b), kind="stable") if size[j] >= least]
    if cells.kind == "boolean":
        shown = [1] if shown else []
    if not shown:
        return []
    words = [f"{_quoted(cells.show(float(j)))} {percent(a[j])} -> {percent(b[j])}" for j in shown[:3]]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    j = int(shown[0])
    return [Change("categories", float(a[j]), float(b[j]), ", ".join(words) + more, float(size.max()))]


def _numbers(cells: Cells) -> list[Change | None]:
    sides = [cells.values_of(b) for b in (False, True)]
    n, m = map(len, sides)
    if min(n, m) < 2:
        return []
    (mean_a, mean_b), (sd_a, sd_b) = ([float(s.mean()) for s in sides], [float(s.std(ddof=1)) for s in sides])
    error = math.sqrt(sd_a**2 / n + sd_b**2 / m)
    found: list[Change | None] = []
    time = cells.kind == "time"
    constant = [side.min() == side.max() for side in sides]
    if any(constant):
        return [_of_constant(cells, sides, constant)] if mean_a != mean_b or not all(constant) else []
    if error > 0.0:
        shown = shown_pair(cells, mean_a, mean_b)
        found.append(Change("mean", mean_a, mean_b, f"mean {shown[0]} -> {shown[1]}", abs(mean_a - mean_b) / error))
    if sd_a > 0.0 and sd_b > 0.0:
        # Variance of a log standard deviation: (kurtosis - 1) / (4 n).
        spread = math.sqrt(sum(max(0.0, _kurtosis(s) - 1.0) / 4.0 / len(s) for s in sides))
        size = abs(math.log(sd_b / sd_a)) / spread if spread > 0.0 else 0.0
        low, high = (duration(sd_a), duration(sd_b)) if time else shown_pair(cells, sd_a, sd_b)
        found.append(Change("spread", sd_a, sd_b, f"spread {low} -> {high}", size))
    largest = max((change.errors for change in found if change is not None), default=0.0)
    distance, point = _largest_gap(*sides)
    errors = distance / math.sqrt(0.25 * (1.0 / n + 1.0 / m))
    # A change of shape is reported if it is more significant than those of mean and spread.
    if errors > 1.25 * largest:
        a, b = (float((side <= point).mean()) for side in sides)
        found.append(Change("shape", a, b, _shape_text(cells, point, (a, b)), errors))
    return found


def _of_constant(cells: Cells, sides: Sequence[Array], constant: Sequence[bool]) -> Change:
    """Return the change from or to one value: "all 1 -> all 7", or "all 1 -> 1 to 7"."""
    a, b = (float(side.mean()) for side in sides)
    if all(constant):
        shown = shown_pair(cells, a, b)
        return Change("mean", a, b, f"all {shown[0]} -> all {shown[1]}", math.inf)
    value = float(sides[constant.index(True)][0])
    low, high = (float((side == value).mean()) for side in sides)
    words = [
        f"all {cells.show(value)}" if own else " to ".join(cells.show(float(end)) for end in (side.min(), side.max()))
        for side, own in zip(sides, constant, strict=True)
    ]
    return Change("shape", low, high, " -> ".join(words), share_errors(low, high, len(sides[0]), len(sides[1])))


def _shape_text(cells: Cells, point: float, below: tuple[float, float]) -> str:
    """Return a change of shape in words: the shares of both sides up to a value."""
    shown = cells.show(point)
    if set(below) == {0.0, 1.0}:
        return " -> ".join(f"all {'up to' if share == 1.0 else 'above'} {shown}" for share in below)
    if max(below) == 1.0:
        return f"above {shown}: {percent(1.0 - below[0])} -> {percent(1.0 - below[1])}"
    return f"up to {shown}: {percent(below[0])} -> {percent(below[1])}"


def _largest_gap(x: Array, y: Array) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance and the value at which it is attained."""
    x, y = np.sort(x), np.sort(y)
    grid = np.concatenate([x, y])
    gap = np.abs(np.searchsorted(x, grid, "right") / x.size - np.searchsorted(y, grid, "right") / y.size)
    best = int(np.argmax(gap))
    return float(gap[best]), float(grid[best])


def _kurtosis(values: Array) -> float:
    deviations = values - values.mean()
    unit = float(np.abs(deviations).max(initial=0.0))
    deviations = deviations / unit if unit > 0.0 else deviations  # fourth powers may overflow or underflow
    square = float((deviations**2).mean())
    return float((deviations**4).mean()) / square**2 if square > 0.0 else 3.0


def shown_pair(cells: Cells, a: float, b: float) -> tuple[str, str]:
    """Return two values of a column as text: times and durations as such, numbers with digits that distinguish them."""
    shown = cells.show(a), cells.show(b)
    if cells.kind == "time" or (cells.unit == "duration" and shown[0] != shown[1]):
        return shown
    low, high = pair(a, b)
    return (f"{low} s", f"{high} s") if cells.unit == "duration" else (low, high)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 24 else text[:23] + "\u2026")


_DAY = 86400.0
#: Names of weekdays and months in English.
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_HOURS = tuple(f"{hour:02d}:00 to {hour:02d}:59" for hour in range(24))
#: Hours, weekdays and months, by the names of the periods that they are in.
N_PHASES = {"day": 24, "week": 7, "year": 12}

# The weekend and the median time of day are easier to read than one of seven days or 24 hours, and are taken in place
# of it if they changed nearly as significantly.
_NEARLY = 0.8

# Minimum reported change of the median time of day; below, the most changed hour is more informative.
_LEAST_SECONDS = 60.0


def phases(cells: Cells, period: str) -> Index:
    """Return the hour of the day, the day of the week from Monday, or the month of each cell: (n,)."""
    if period == "day":
        return np.asarray((cells.values % _DAY) // 3600.0, dtype=np.int64)
    days = np.floor(cells.values / _DAY).astype(np.int64)
    if period == "week":
        return (days + 3) % 7  # 1 January 1970 was a Thursday
    return np.asarray(days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12)


def period_changes(cells: Cells, periods: tuple[str, ...]) -> list[Change]:
    """Return the change within each period: the time of day, the weekend or a weekday, a month."""
    if cells.unit == "time":  # already a time of day, described as a number
        return []
    present = [cells.present[cells.side(b)] for b in (False, True)]
    if min(int(side.sum()) for side in present) == 0:
        return []
    return [_period_change(cells, period, present) for period in periods]


def _period_change(cells: Cells, period: str, present: list[Mask]) -> Change:
    bins = phases(cells, period)
    sides = [bins[cells.side(b)][present[b]] for b in (False, True)]
    shares = [np.bincount(side, minlength=N_PHASES[period]) / len(side) for side in sides]
    n, m = (len(side) for side in sides)
    if period == "year":
        return _most_changed("month", MONTHS, shares, n, m)
    if period == "week":
        best = _most_changed("weekday", WEEKDAYS, shares, n, m)
        low, high = (float(share[5:].sum()) for share in shares)
        errors = share_errors(low, high, n, m)
        weekend = Change("weekday", low, high, f"weekend {percent(low)} -> {percent(high)}", errors)
        return weekend if errors >= _NEARLY * best.errors else best
    best = _most_changed("time of day", _HOURS, shares, n, m)
    clock, seconds = _clock(cells, present, shares[0] + shares[1])
    return clock if clock.errors >= _NEARLY * best.errors and seconds >= _LEAST_SECONDS else best


def _most_changed(what: str, names: Sequence[str], shares: list[Array], n: int, m: int) -> Change:
    """Return the change of the bin with the most standard errors."""
    errors = [share_errors(float(a), float(b), n, m) for a, b in zip(*shares, strict=True)]
    j = int(np.argmax(errors))
    a, b = (float(share[j]) for share in shares)
    return Change(what, a, b, f"{names[j]} {percent(a)} -> {percent(b)}", errors[j])


def share_errors(a: float, b: float, n: int, m: int) -> float:
    """Return the difference of two shares of n and m cells in standard errors."""
    p = (n * a + m * b) / (n + m)
    error = math.sqrt(max(p * (1.0 - p), 1e-12) * (1.0 / n + 1.0 / m))
    return abs(a - b) / error


def _clock(cells: Cells, present: list[Mask], shares: Array) -> tuple[Change, float]:
    """Return the change of the median time of day, and its seconds; days begin where there are fewest cells."""
    # If several hours are empty: the middle of the longest run, which may include midnight.
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
    return Change("time of day", low, high, text, share_errors(below[0], below[1], len(sides[0]), len(sides[1]))), abs(
        a - b
    )
