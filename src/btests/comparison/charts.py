"""Numbers behind the charts of columns: histograms, and shares of levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.changes import level_shares
from btests.plan import Array

_BINS = 30
_BARS = 12

# Suffixes of axis labels for times.
_UNITS = {"date": " (date)", "timestamp": " (date and time)", "time": " (time of day)"}

# Range of a histogram: without the share _TAIL of the pooled cells at each end, unless these are within _NEAR times the
# length of the range.
_TAIL = 0.005
_NEAR = 0.3

# Edges of bins are rounded to at most so many digits before or after the point.
_DIGITS = 12


def histogram(values: Array, bins: int = _BINS) -> dict[str, Any]:
    """Return edges and counts of values."""
    low, high = float(values.min()), float(values.max())
    if not high - low > 1e-12 * max(abs(low), abs(high)):  # one value, up to rounding
        low, high = low - 0.5 * max(abs(low), 1e-12), high + 0.5 * max(abs(high), 1e-12)
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def column_chart(cells: Cells, names: tuple[str, str]) -> dict[str, Any]:
    """Return the distributions of both sides of a column, as shares of all rows of the side."""
    title = f"{cells.name}: {names[0]} and {names[1]}"
    missing = [float(cells.missing[cells.side(b)].mean()) for b in (False, True)]
    if cells.has_levels:
        a, b = level_shares(cells)
        a, b = a * (1.0 - missing[0]), b * (1.0 - missing[1])
        kept = np.argsort(-(np.maximum(a, b) + 2.0 * np.abs(a - b)), kind="stable")[:_BARS]
        labels = [cells.show(float(j)) for j in kept]
        shares = [_rounded(a[kept]), _rounded(b[kept])]
        if len(a) > len(kept):
            labels.append(f"{len(a) - len(kept)} others")
            for side, own in zip(shares, (a, b), strict=True):
                side.extend(_rounded(np.array([max(0.0, float(own.sum()) - sum(side))])))
        return {
            "type": "bars",
            "title": title,
            "axis": cells.name,
            "labels": labels,
            "a": shares[0],
            "b": shares[1],
            "missing": missing,
        }
    edges = _edges(cells)
    sides, below, above = [], [], []
    for second in (False, True):
        values = cells.values_of(second)
        n = max(1, len(cells.missing[cells.side(second)]))
        sides.append(_rounded(np.histogram(values, edges)[0] / n))
        below.append(float((values < edges[0]).sum() / n))
        above.append(float((values > edges[-1]).sum() / n))
    return {
        "type": "histogram",
        "title": title,
        "axis": cells.name + _UNITS.get(cells.unit, ""),
        "edges": edges.tolist(),
        "form": cells.form,
        "edge_labels": [cells.show(float(e)) for e in edges] if cells.kind == "time" else None,
        "a": sides[0],
        "b": sides[1],
        "below": below,
        "above": above,
        "missing": missing,
        **({} if cells.means is None else {"coordinates": cells.means.to_dict()}),
    }


def _even(low: float, high: float) -> Array:
    """Return the edges of bins of one width, rounded to a thousandth of it, the first and last of them outwards."""
    edges = np.linspace(low, high, _BINS + 1)
    digits = 3 - int(np.floor(np.log10(max(high - low, 1e-300) / _BINS)))
    if abs(digits) > _DIGITS:
        return edges
    rounded, unit = np.round(edges, digits), 10.0**-digits
    rounded[0] -= unit * (rounded[0] > low)
    rounded[-1] += unit * (rounded[-1] < high)
    return np.round(rounded, digits)


def _rounded(shares: Array) -> list[float]:
    """Return shares with five digits, which makes the numbers of hundreds of charts half as long."""
    return [float(f"{share:.5g}") for share in shares]


def _edges(cells: Cells) -> Array:
    values = cells.values[cells.present]
    low, high = (float(q) for q in np.quantile(values, [_TAIL, 1.0 - _TAIL]))
    first, last = float(values.min()), float(values.max())
    room = _NEAR * (high - low)
    low, high = first if low - first <= room else low, last if last - high <= room else high
    if not high > low:
        low, high = first, last
    if cells.unit == "integer" and high - low < _BINS:  # a bar for each number
        return np.arange(np.floor(low), np.ceil(high) + 2.0) - 0.5
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = _even(low, high)
    if cells.unit == "integer":
        step = max(1.0, np.ceil((high - low) / _BINS))
        edges = np.arange(np.floor(low), high + step, step) - 0.5
        edges = edges if edges[-1] >= high else np.append(edges, edges[-1] + step)
    return np.asarray(edges)
