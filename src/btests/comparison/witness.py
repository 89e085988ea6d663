"""Map of two columns: which two, and the witness function of both sides on a grid of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.changes import level_shares
from btests.comparison.features import pooled_ranks
from btests.comparison.relations import correlation
from btests.plan import Array, Index

_GRID = 32
_LEVELS = 12

# Bandwidth of the smoothing kernel, in cells of the grid.
_BANDWIDTH = 1.5

# Columns with a larger association than this are two names of one thing, such as a column and its logarithm.
_SAME = 0.9

# Columns that may be the second of the map, by their change, and about as many rows for their association.
_CANDIDATES = 20
_ASSOCIATION_ROWS = 20_000


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
        The column that changed in the largest share of the rows on the map (rare levels of a category are not on it),
        and the one that adds most to it; or those whose relation changed, if fewer than two columns did.
    """
    if len(columns) < 2:
        return None
    if related is not None and sum(changed for changed, _ in changes) < 2:
        one, two = (next(cells for cells in columns if cells.name == name) for name in related)
        return one, two
    effects = [effect * _Axis.of(own).covered() for own, (_, effect) in zip(columns, changes, strict=True)]
    first, *others = sorted(range(len(columns)), key=lambda j: (not changes[j][0], -effects[j]))
    near = others[:_CANDIDATES]
    second = _most_added(
        [association(columns[first], columns[j]) for j in near],
        [(changes[j][0], effects[j]) for j in near],
    )
    return columns[first], columns[near[second]]


def _most_added(associations: Sequence[float], changes: Sequence[tuple[bool, float]]) -> int:
    """Return the place of the column that adds most to another, by its association with that one and its change.

    The part of the change that is not explained by the other column, about: effect x (1 - association^2). Two names of
    one thing, whose association is above a limit, come last.

    Examples
    --------
    >>> _most_added([0.99, 0.6, 0.0], [(True, 0.5), (True, 0.4), (True, 0.2)])
    1
    """
    keys = [
        (r > _SAME, not changed, -effect * (1.0 - r * r))
        for r, (changed, effect) in zip(associations, changes, strict=True)
    ]
    return min(range(len(keys)), key=keys.__getitem__)


def association(one: Cells, two: Cells) -> float:
    """Return how closely two columns are associated over the rows of both tables, 0 to 1.

    Of numbers and times the absolute rank correlation, of levels and numbers the correlation ratio of the ranks, of
    levels Cramer's V; categories have the levels that are on the map.
    """
    step = max(1, len(one) // _ASSOCIATION_ROWS)
    both = np.flatnonzero(one.present & two.present)[::step]
    if len(both) < 2:
        return 0.0
    n_a = int((both < one.n_a).sum())
    one, two = one.take(both, n_a), two.take(both, n_a)
    ranks = pooled_ranks(one), pooled_ranks(two)
    if ranks[0] is not None and ranks[1] is not None:
        return abs(correlation(ranks[0], ranks[1]))
    if ranks[0] is not None:
        return _correlation_ratio(_places(two), ranks[0])
    if ranks[1] is not None:
        return _correlation_ratio(_places(one), ranks[1])
    return _cramers_v(_places(one), _places(two))


def _places(cells: Cells) -> Index:
    """Return the level of each row on the map, 0 for those that are not on it: (n,)."""
    return _Axis.of(cells).places(slice(None)) + 1


def _correlation_ratio(levels: Index, values: Array) -> float:
    """Return the spread of the means of levels, as a share of that of all values."""
    means = np.bincount(levels, values) / np.maximum(1, np.bincount(levels))
    spread = float(values.std())
    return min(1.0, float(means[levels].std()) / spread) if spread > 0.0 else 0.0


def _cramers_v(x: Index, y: Index) -> float:
    counts = np.bincount(x * (y.max() + 1) + y, minlength=(x.max() + 1) * (y.max() + 1)).reshape(-1, y.max() + 1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    most = (min(counts.shape) - 1) * counts.sum()
    return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / most)) if most else 0.0


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
            "form": self.cells.form,
            "smooth": self.smooth,
            "missing": self.has_missing,
        }

    def smoother(self) -> Array:
        """Return smoothing weights between places, none for missing cells: (size, size)."""
        distance = np.arange(self.n_present)[:, None] - np.arange(self.n_present)
        weights = np.eye(self.size)
        weights[: self.n_present, : self.n_present] = np.exp(-(distance**2) / (2.0 * _BANDWIDTH**2))
        return weights
