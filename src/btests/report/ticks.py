"""Ticks of axes at round numbers and times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from btests.report.number_format import duration, number, year

_DAY = 86400.0
#: Steps between ticks of a time axis in seconds, and formats of the labels.
_TIMES = (
    (1.0, "%H:%M:%S"),
    (10.0, "%H:%M:%S"),
    (60.0, "%H:%M"),
    (600.0, "%H:%M"),
    (3600.0, "%H:%M"),
    (6 * 3600.0, "%d %b %H:%M"),
    (_DAY, "%d %b"),
    (2 * _DAY, "%d %b"),
    (7 * _DAY, "%d %b"),
)


def ticks(low: float, high: float, n: int = 5) -> list[float]:
    """Return about ``n`` round numbers between two values.

    Examples
    --------
    >>> ticks(0.0, 11.0)
    [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low or not math.isfinite(high - low):
        return [low] if math.isfinite(low) else []
    rough = (high - low) / n
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 1e-300 else rough
    step = power * next(factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # A range that is tiny relative to its values contains no distinct round numbers.
    return [i * step + 0.0 for i in range(first, last + 1)] if last - first <= 3 * n else [low, high]


def seconds(text: str) -> float:
    """Return seconds since 1970 of an ISO date or time; without a zone it is read as UTC.

    Examples
    --------
    >>> seconds("1970-01-02")
    86400.0
    """
    # Years and nanoseconds beyond the range of datetime are clipped.
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


def _moment(value: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)


def time_ticks(low: float, high: float, n: int = 4) -> list[tuple[float, str]]:
    """Return about ``n`` round times between two times in seconds since 1970, with their labels.

    Examples
    --------
    >>> time_ticks(0.0, 3 * 365 * 86400.0)
    [(0.0, '1970'), (31536000.0, '1971'), (63072000.0, '1972')]
    """
    span = (high - low) / n
    for step, pattern in _TIMES:
        if span <= step:
            first = math.ceil(low / step)
            return [(i * step, f"{_moment(i * step):{pattern}}") for i in range(first, math.floor(high / step) + 1)]
    months = next((m for m in (1, 2, 3, 6, 12) if span <= m * 31 * _DAY), 12 * math.ceil(span / (365.25 * _DAY)))
    start, found = _moment(low), []
    month = (start.year * 12 + start.month - 1) // months * months
    while month // 12 <= 9999:
        when = datetime(max(month // 12, 1), month % 12 + 1, 1, tzinfo=UTC)
        value = (when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
        if value > high:
            break
        if value >= low:
            found.append((value, f"{when:%Y}" if months >= 12 else f"{when:%b %Y}"))
        month += months
    return found


# Seconds of units of durations.
_UNITS = (_DAY, 3600.0, 60.0, 1.0)


def number_marks(low: float, high: float, n: int = 5, form: str = "number") -> list[tuple[float, str]]:
    """Return ticks of a number axis with their labels, in a form of `number_format.FORMS`.

    Examples
    --------
    >>> number_marks(0, 20_000, 3, "duration")
    [(0.0, '0 s'), (7200.0, '2 h'), (14400.0, '4 h')]
    >>> number_marks(2006.5, 2009.5, 3, "year")
    [(2007.0, '2007'), (2008.0, '2008'), (2009.0, '2009')]
    """
    if form == "duration":
        unit = next((unit for unit in _UNITS if max(abs(low), abs(high)) >= 2 * unit), 1.0)
        return [(unit * value, duration(unit * value)) for value in ticks(low / unit, high / unit, n)]
    values = ticks(low, high, n)
    if form == "year":
        return [(value, year(value)) for value in values]
    # As many digits as distinguish neighbours.
    for digits in range(2, 16):
        texts = [number(value, digits) for value in values]
        if len(set(texts)) == len(texts) and all(
            math.isclose(float(f"{v:.{digits}g}"), v, rel_tol=1e-9, abs_tol=1e-300) for v in values
        ):
            break
    return list(zip(values, texts, strict=True)) if values else []


def moments(chart: Mapping[str, Any]) -> list[float] | None:
    """Return the edges of a chart in seconds since 1970 if its axis is time, as recognised by its labels."""
    labels = chart.get("edge_labels")
    if not labels:
        return None
    try:
        start, end = seconds(labels[0]), seconds(labels[-1])
    except (ValueError, OverflowError):
        return None
    edges = chart["edges"]
    width = edges[-1] - edges[0]
    return [start + (end - start) * (edge - edges[0]) / width for edge in edges] if width > 0 and end > start else None
