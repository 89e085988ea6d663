"""Numbers behind the charts of a report: distributions, the witness function and typical rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.changes import level_shares
from btests.plan import Array, Index

_BINS = 30
_BARS = 12

# Suffixes of axis labels for times.
_UNITS = {"date": " (date)", "timestamp": " (date and time)", "time": " (time of day)"}

# Range of a histogram: without the share _TAIL of the pooled cells at each end, unless these are within _NEAR times the
# length of the range.
_TAIL = 0.005
_NEAR = 0.3


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
        values = cells.values_of(second)
        n = max(1, len(cells.missing[cells.side(second)]))
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


_GRID = 32
_LEVELS = 12

# Bandwidth of the smoothing kernel, in cells of the grid.
_BANDWIDTH = 1.5

# Rows of each side from which the witness function is estimated, and number of examples of each side.
_ROWS = 1500
_EXAMPLES = 5


def most_changed_pair(
    columns: Sequence[Cells], changes: Sequence[tuple[bool, float]], related: tuple[str, str] | None
) -> tuple[Cells, Cells] | None:
    """Return the two columns to draw a map of, None if there is one column.

    Parameters
    ----------
    columns : sequence of Cells
        All columns.
    changes : sequence of (bool, float)
        Whether each of them changed significantly, and by what share of the rows.
    related : tuple of two str, or None
        Names of the columns whose relation changed most.

    Returns
    -------
    tuple of two Cells, or None
        The two columns that changed in the largest share of the rows on the map (rare levels of a category are not on
        it); or those whose relation changed, if fewer than two columns did.
    """
    if len(columns) < 2:
        return None
    if related is not None and sum(changed for changed, _ in changes) < 2:
        one, two = (next(cells for cells in columns if cells.name == name) for name in related)
        return one, two
    keys = [
        (not changed, -effect * _Axis.of(own).covered())
        for own, (changed, effect) in zip(columns, changes, strict=True)
    ]
    first, second, *_ = sorted(range(len(columns)), key=keys.__getitem__)
    return columns[first], columns[second]


def witness(x: Cells, y: Cells, names: tuple[str, str]) -> dict[str, Any]:
    """Return the witness function of two columns on a grid: density of table a minus that of table b."""
    axes = [_Axis.of(cells) for cells in (x, y)]
    shape = (axes[1].size, axes[0].size)
    densities = []
    for b in (False, True):
        side = x.side(b)
        i, j = (axis.places(side) for axis in axes)
        inside = (i >= 0) & (j >= 0)
        counts = np.bincount(j[inside] * shape[1] + i[inside], minlength=shape[0] * shape[1]).reshape(shape)
        densities.append(counts / max(1, len(i)))
    values = densities[0] - densities[1]
    for k, axis in enumerate(axes):
        if axis.smooth:
            values = np.tensordot(axis.smoother(), values, axes=(1, 1 - k))
            values = values if k == 1 else values.T
    largest = float(np.abs(values).max())
    row, place = divmod(int(np.argmax(np.abs(values))), shape[1])
    more = names[0] if values[row, place] > 0 else names[1]
    where = [f"{axis.cells.name} = {axis.label(k)}" for axis, k in zip(axes, (place, row), strict=True)]
    text = f"The largest excess is of {more}, near {' and '.join(where)}"
    return {
        "title": f"Where {names[0]} and {names[1]} differ in {x.name} and {y.name}",
        "text": text,
        "x": axes[0].to_dict(),
        "y": axes[1].to_dict(),
        "values": values.tolist(),
        "largest": largest,
    }


@dataclass(frozen=True, slots=True)
class _Axis:
    """Axis of the grid: bins of a number, or the most frequent levels; the last place is for missing cells."""

    cells: Cells
    edges: Array | None = None
    kept: Index | None = None

    @classmethod
    def of(cls, cells: Cells) -> _Axis:
        if cells.has_levels:
            a, b = level_shares(cells)
            return cls(cells, kept=np.argsort(-(a + b), kind="stable")[:_LEVELS])
        values = cells.values[cells.present]
        low, high = (float(q) for q in np.quantile(values, [0.01, 0.99]))
        if not high > low:
            low, high = float(values.min()), float(values.max())
        if cells.unit == "integer" and high - low < _GRID:  # a place for each number
            return cls(cells, edges=np.arange(np.floor(low), np.ceil(high) + 2.0) - 0.5)
        if not high > low:
            low, high = low - 0.5, high + 0.5
        return cls(cells, edges=np.linspace(low, high, _GRID + 1))

    @property
    def n_present(self) -> int:
        """Number of places for present cells."""
        if self.edges is not None:
            return len(self.edges) - 1
        return 0 if self.kept is None else len(self.kept)

    @property
    def has_missing(self) -> bool:
        return bool(self.cells.missing.any())

    @property
    def size(self) -> int:
        return self.n_present + self.has_missing

    @property
    def smooth(self) -> bool:
        """Whether neighbouring places are similar; False for levels and for few whole numbers."""
        return self.edges is not None and self.n_present > _LEVELS

    def covered(self) -> float:
        """Return the share of rows that are on the axis."""
        return float((self.places(slice(None)) >= 0).mean())

    def places(self, side: slice) -> Index:
        """Return the place of each row of a side on the axis, -1 if it is not on it: (n,)."""
        values, missing = self.cells.values[side], self.cells.missing[side]
        if self.edges is not None:
            place = np.searchsorted(self.edges, values, side="right") - 1
            place[values == self.edges[-1]] = self.n_present - 1
            place[place >= self.n_present] = -1
        else:
            levels = np.arange(self.n_present) if self.kept is None else self.kept
            most = max(int(self.cells.values.max(initial=0)), int(levels.max(initial=0)))
            spots = np.full(most + 1, -1, dtype=np.int64)
            spots[levels] = np.arange(self.n_present)
            place = spots[values.astype(np.int64)]
        place[missing] = self.n_present
        return np.asarray(place, dtype=np.int64)

    def label(self, place: int) -> str:
        if place == self.n_present:
            return "missing"
        if self.edges is not None:
            return self.cells.show(float(self.edges[place : place + 2].mean()))
        return self.cells.show(float(place if self.kept is None else self.kept[place]))

    def to_dict(self) -> dict[str, Any]:
        labelled = self.edges is None or self.cells.kind == "time"
        return {
            "name": self.cells.name,
            "kind": self.cells.kind,
            "centres": None if self.edges is None else ((self.edges[1:] + self.edges[:-1]) / 2.0).tolist(),
            "labels": [self.label(j) for j in range(self.n_present)] if labelled else None,
            "axis": self.cells.name,
            "smooth": self.smooth,
            "missing": self.has_missing,
        }

    def smoother(self) -> Array:
        """Return smoothing weights between places, none for missing cells: (size, size)."""
        distance = np.arange(self.n_present)[:, None] - np.arange(self.n_present)
        weights = np.eye(self.size)
        weights[: self.n_present, : self.n_present] = np.exp(-(distance**2) / (2.0 * _BANDWIDTH**2))
        return weights


def examples(
    points: tuple[Array, Array], columns: Sequence[Cells], rows: tuple[Index, Index], bandwidth: float
) -> dict[str, Any]:
    """Return the rows where the witness function of all coordinates is largest and smallest, as text.

    ``points`` are coordinates in the order ``rows``; the first of them, in that random order, are candidates.
    """
    p, q = (side[:_ROWS] for side in points)
    gap = (
        _means(p, p, bandwidth, own=True) - _means(p, q, bandwidth),
        _means(q, q, bandwidth, own=True) - _means(q, p, bandwidth),
    )
    found: dict[str, Any] = {"columns": [cells.name for cells in columns]}
    for side, scores, order, start in (("a", gap[0], rows[0], 0), ("b", gap[1], rows[1], columns[0].n_a)):
        best = np.argsort(-scores, kind="stable")[:_EXAMPLES]
        found[side] = [[_cell(cells, start + int(order[i])) for cells in columns] for i in best]
    found["text"] = f"of {len(p)} and {len(q)} rows drawn at random, those that differ most from the other side"
    return found


def _means(points: Array, others: Array, bandwidth: float, own: bool = False) -> Array:
    """Return the mean Gaussian kernel between each point and the others; if ``own``, without the point itself."""
    squares = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * points @ others.T
    values = np.exp(-np.maximum(squares, 0.0) / (2.0 * bandwidth**2))
    if own:
        np.fill_diagonal(values, 0.0)
        return np.asarray(values.sum(axis=1) / max(1, len(others) - 1))
    return np.asarray(values.mean(axis=1))


def _cell(cells: Cells, row: int) -> str:
    return "" if cells.missing[row] else cells.show(float(cells.values[row]))
