"""The numbers behind the charts of a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.moves import level_shares
from btests.plan import Array

_BINS = 30
_BARS = 12

# What the axis of a chart says about times.
_UNITS = {"date": " (date)", "timestamp": " (date and time)", "time": " (time of day)"}

# The range of a histogram: all but this share of the pooled cells at each end, unless they are no farther away than so
# many of its lengths.
_TAIL = 0.005
_NEAR = 0.3


def histogram(values: Array, bins: int = _BINS) -> dict[str, Any]:
    """Return edges and counts of values."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        low, high = low - 0.5 * max(abs(low), 1e-12), high + 0.5 * max(abs(high), 1e-12)
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def column_chart(cells: Cells, names: tuple[str, str]) -> dict[str, Any]:
    """Return the distributions of both sides of a column, as shares of all rows of the side."""
    title = f"{cells.name}: {names[0]} and {names[1]}"
    missing = [float(cells.missing[cells.side(b)].mean()) for b in (False, True)]
    if cells.kind in ("category", "boolean"):
        a, b = level_shares(cells)
        a, b = a * (1.0 - missing[0]), b * (1.0 - missing[1])
        kept = np.argsort(-(np.maximum(a, b) + 2.0 * np.abs(a - b)), kind="stable")[:_BARS]
        labels = [cells.show(float(j)) for j in kept]
        shares = [a[kept].tolist(), b[kept].tolist()]
        if len(a) > len(kept):
            labels.append(f"{len(a) - len(kept)} others")
            for side, own in zip(shares, (a, b), strict=True):
                side.append(max(0.0, float(own.sum()) - sum(side)))
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
        part = cells.side(second)
        values = cells.values[part][~cells.missing[part]]
        n = max(1, part_length(cells, second))
        sides.append((np.histogram(values, edges)[0] / n).tolist())
        below.append(float((values < edges[0]).sum() / n))
        above.append(float((values > edges[-1]).sum() / n))
    return {
        "type": "histogram",
        "title": title,
        "axis": cells.name + _UNITS.get(cells.unit, ""),
        "edges": edges.tolist(),
        "edge_labels": [cells.show(float(e)) for e in edges] if cells.kind == "time" else None,
        "a": sides[0],
        "b": sides[1],
        "below": below,
        "above": above,
        "missing": missing,
    }


def part_length(cells: Cells, b: bool) -> int:
    """Return the rows of a side."""
    return len(cells) - cells.n_a if b else cells.n_a


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
    edges = np.linspace(low, high, _BINS + 1)
    if cells.unit == "integer":
        step = max(1.0, np.ceil((high - low) / _BINS))
        edges = np.arange(np.floor(low), high + step, step) - 0.5
        edges = edges if edges[-1] >= high else np.append(edges, edges[-1] + step)
    return np.asarray(edges)
