"""What moved in a column, in plain numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.move import Move
from btests.comparison.periods import period_moves
from btests.comparison.words import percent, plain
from btests.plan import Array

#: A move of fewer standard errors than this is not mentioned, and where none has as many the surest of a column that
#: is known to have moved needs only so many.
_STANDARD_ERRORS = 3.0
_AT_LEAST = 2.0

# Levels that are expected less often than this on the shorter side are not mentioned: standard errors say little then.
_EXPECTED = 2.5

_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


def describe_side(cells: Cells, b: bool) -> dict[str, Any]:
    """Return counts, moments and quantiles of one side; times as text."""
    part = cells.side(b)
    missing = cells.missing[part]
    values = cells.values[part][~missing]
    out: dict[str, Any] = {"rows": len(missing), "missing": float(missing.mean()) if len(missing) else 0.0}
    names = ("mean", "sd", "min", *_QUANTILES, "max")
    if cells.kind == "category" or values.size == 0:
        return {**out, **dict.fromkeys(names)}
    found = [float(values.mean()), float(values.std()), float(values.min())]
    found += [float(q) for q in np.quantile(values, list(_QUANTILES.values()))]
    found.append(float(values.max()))
    numbers: dict[str, Any] = dict(zip(names, found, strict=True))
    if cells.kind == "time":
        numbers = {name: value if name == "sd" else cells.show(value) for name, value in numbers.items()}
    return {**out, **numbers}


def describe_levels(cells: Cells, most: int = 12) -> list[dict[str, Any]] | None:
    """Return the levels whose shares changed most, None for numbers and times."""
    if cells.kind not in ("category", "boolean"):
        return None
    a, b = level_shares(cells)
    order = np.argsort(-np.abs(a - b), kind="stable")[:most]
    return [{"level": cells.show(float(j)), "a": float(a[j]), "b": float(b[j])} for j in order]


def level_shares(cells: Cells) -> tuple[Array, Array]:
    """Return the share of each level among the cells that are there, on both sides: (levels,) twice."""
    width = max(len(cells.levels), 2 if cells.kind == "boolean" else 1)
    found = []
    for b in (False, True):
        part = cells.side(b)
        counts = np.bincount(cells.values[part][~cells.missing[part]].astype(np.int64), minlength=width)
        found.append(counts / max(1, counts.sum()))
    return found[0], found[1]


def moves(cells: Cells, periods: tuple[str, ...] = (), *, surely: bool = False) -> list[Move]:
    """Return what moved by more than a few standard errors, the surest first.

    Of a column that moved ``surely``, the surest move in any case, unless it is as small as many that chance makes.
    """
    found = _found(cells, periods, _STANDARD_ERRORS)
    return found if found or not surely else _found(cells, periods, _AT_LEAST)[:1]


def _found(cells: Cells, periods: tuple[str, ...], least: float) -> list[Move]:
    found = [_missing(cells)]
    if cells.kind in ("category", "boolean"):
        found += _levels(cells, least)
    else:
        found += [*_numbers(cells), *period_moves(cells, periods)]
    moved = [move for move in found if move is not None and move.errors >= least]
    return sorted(moved, key=lambda move: -move.errors)


def _missing(cells: Cells) -> Move | None:
    a, b = (float(cells.missing[cells.side(side)].mean()) for side in (False, True))
    n, m = cells.n_a, len(cells) - cells.n_a
    pooled = float(cells.missing.mean())
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m))
    if error == 0.0:
        return None
    return Move("missing", a, b, f"missing {percent(a)} -> {percent(b)}", abs(a - b) / error)


def _levels(cells: Cells, least: float) -> list[Move | None]:
    a, b = level_shares(cells)
    counts = [int((~cells.missing[cells.side(side)]).sum()) for side in (False, True)]
    if min(counts) == 0:
        return []
    p = (counts[0] * a + counts[1] * b) / sum(counts)
    errors = np.sqrt(np.maximum(p * (1.0 - p), 1e-12) * (1.0 / counts[0] + 1.0 / counts[1]))
    size = np.abs(a - b) / errors
    # The chance of so many levels: the largest of them stands for the column.
    size = np.where(p * min(counts) >= _EXPECTED, size, 0.0)
    shown = [j for j in np.argsort(-np.abs(a - b), kind="stable") if size[j] >= least]
    if cells.kind == "boolean":
        shown = [1] if shown else []
    if not shown:
        return []
    words = [f"{_quoted(cells.show(float(j)))} {percent(a[j])} -> {percent(b[j])}" for j in shown[:3]]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    j = int(shown[0])
    return [Move("categories", float(a[j]), float(b[j]), ", ".join(words) + more, float(size.max()))]


def _numbers(cells: Cells) -> list[Move | None]:
    sides = [cells.values[cells.side(b)][cells.present[cells.side(b)]] for b in (False, True)]
    n, m = (len(side) for side in sides)
    if min(n, m) < 2:
        return []
    (mean_a, mean_b), (sd_a, sd_b) = ([float(s.mean()) for s in sides], [float(s.std(ddof=1)) for s in sides])
    error = math.sqrt(sd_a**2 / n + sd_b**2 / m)
    found: list[Move | None] = []
    time = cells.kind == "time"
    if error > 0.0:
        shown = [cells.show(mean_a), cells.show(mean_b)] if time else list(pair(mean_a, mean_b))
        found.append(Move("mean", mean_a, mean_b, f"mean {shown[0]} -> {shown[1]}", abs(mean_a - mean_b) / error))
    if sd_a > 0.0 and sd_b > 0.0:
        # The variance of a log standard deviation, from the fourth moments: (kurtosis - 1) / 4 n.
        spread = math.sqrt(sum(max(0.0, _kurtosis(s) - 1.0) / 4.0 / len(s) for s in sides))
        size = abs(math.log(sd_b / sd_a)) / spread if spread > 0.0 else 0.0
        low, high = (duration(sd_a), duration(sd_b)) if time else pair(sd_a, sd_b)
        found.append(Move("spread", sd_a, sd_b, f"spread {low} -> {high}", size))
    surest = max((move.errors for move in found if move is not None), default=0.0)
    distance, point = _largest_gap(*sides)
    errors = distance / math.sqrt(0.25 * (1.0 / n + 1.0 / m))
    # A change of shape is worth a word where it is plainer than that of the mean and of the spread.
    if errors > 1.25 * surest:
        a, b = (float((side <= point).mean()) for side in sides)
        text = f"shape: {percent(a)} -> {percent(b)} at most {cells.show(point)}"
        found.append(Move("shape", a, b, text, errors))
    return found


def _largest_gap(x: Array, y: Array) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance and where it is."""
    x, y = np.sort(x), np.sort(y)
    grid = np.concatenate([x, y])
    gap = np.abs(np.searchsorted(x, grid, "right") / x.size - np.searchsorted(y, grid, "right") / y.size)
    best = int(np.argmax(gap))
    return float(gap[best]), float(grid[best])


def _kurtosis(values: Array) -> float:
    deviations = values - values.mean()
    unit = float(np.abs(deviations).max(initial=0.0))
    deviations = deviations / unit if unit > 0.0 else deviations  # fourth powers leave the range of floats early
    square = float((deviations**2).mean())
    return float((deviations**4).mean()) / square**2 if square > 0.0 else 3.0


def pair(a: float, b: float) -> tuple[str, str]:
    """Return two numbers with as many digits as tell them apart, four at least."""
    for digits in (4, 5, 6, 8, 10, 13, 17):
        text = (plain(a, digits), plain(b, digits))
        if text[0] != text[1]:
            return text
    return text


def duration(seconds: float) -> str:
    """Return a number of seconds in a unit that suits it."""
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 24 else text[:23] + "\u2026")
