"""Samples of units and of weighted rows from arrays and data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from btests._option_checks import as_array
from btests._validation import Rows, check_samples, column_names
from btests._warnings import FewBlocksWarning, warn
from btests.data.row_permutation import permutation_of
from btests.data.unit_sample import UnitSample
from btests.designs.unit_labels import Grouped, Labels, group_rows, take_column, take_labels
from btests.plan import Array, Index

# Mean weights that differ by more standard deviations of random relabelling than this are on different scales; of
# weights on one scale, one test in a million or so is taken for such.
_SAME_SCALE = 5.0

# Rows of equal weight that weights must be worth, and from which on approximate p-values can be relied on (designs.md).
_FEWEST, _ENOUGH = 2, 30

EXACT = "weighted: the p-value is exact if rows with their weights are exchangeable between x and y, else approximate"
APPROXIMATE = "weighted: weights were normalised in each sample, and the p-value is approximate"


@dataclass(frozen=True, slots=True)
class UnitDesign:
    """Rows of two samples, their units, and their weights.

    Attributes
    ----------
    x, y : ndarray of shape (n, d)
        Rows.
    labels : tuple of two arrays (n,), optional
        Unit of each row; None if every row is a unit.
    weights : tuple of two arrays (n,) or None
        Weights of the rows, None for rows that count equally.
    """

    x: Rows
    y: Rows
    labels: tuple[Labels, Labels] | None
    weights: tuple[Array | None, Array | None]

    @classmethod
    def of(cls, x: Any, y: Any, units: Any, weights_x: Any, weights_y: Any) -> tuple[UnitDesign, Any, Any]:
        """Return the design, and the samples without columns that hold units or weights."""
        labels = None
        if units is not None:
            x, y, *found = take_labels(x, y, units)
            labels = found[0], found[1]
        x, of_x = take_weights("x", x, weights_x)
        y, of_y = take_weights("y", y, weights_y)
        rows = check_samples(x, y, objects_allowed=False)
        for name, own, n in (("x", of_x, len(rows[0])), ("y", of_y, len(rows[1]))):
            if own is not None:
                check_length(name, own, n)
        return cls(*rows, labels, (of_x, of_y)), x, y

    def samples(self, seed: int, *, shuffle: bool, paired: bool) -> tuple[UnitSample, UnitSample, bool, str]:
        """Return both samples of units in random order, whether they are of the same units, and a note on weights."""
        if self.labels is None:
            groups = [Grouped(np.arange(len(rows)), np.arange(len(rows) + 1)) for rows in (self.x, self.y)]
        else:
            *groups, paired = group_rows(*self.labels, (len(self.x), len(self.y)), paired=paired)
        edges = groups[0].edges, groups[1].edges
        ordered = [None if own is None else own[group.order] for own, group in zip(self.weights, groups, strict=True)]
        is_weighted = any(own is not None for own in ordered)
        if is_weighted:
            *weights, note = normalised(ordered[0], ordered[1], edges)
        else:  # units count equally, whatever their sizes
            weights, note = [np.repeat(1.0 / np.diff(own), np.diff(own)) for own in edges], ""
        x, y = (
            UnitSample(rows[group.order], own, group.edges, is_weighted, _order(group, seed, stream, shuffle))
            for rows, own, group, stream in zip(
                (self.x, self.y), weights, groups, (1, 1) if paired else (1, 2), strict=True
            )
        )
        return x, y, paired, note


def _order(group: Grouped, seed: int, stream: int, shuffle: bool) -> Any:
    n = len(group.edges) - 1
    return permutation_of(n, seed, stream).rows(0, n) if shuffle else None


def take_weights(name: str, sample: Any, weights: Any) -> tuple[Any, Array | None]:
    """Return a sample without the column that holds its weights, and the weights: (n,), or None without any."""
    if weights is None:
        return sample, None
    names = column_names(sample)
    if isinstance(weights, str) and names is None:
        raise TypeError(f"weights_{name} names a column, {weights!r}, and {name} is no data frame; give an array (n,)")
    if isinstance(weights, str):
        sample, weights = take_column(name, sample, weights, f"weights_{name}")
    found = as_array(f"weights_{name}", weights)
    if found.ndim != 1 or found.dtype.kind not in "biuf":
        raise TypeError(f"weights_{name} must be numbers, one for each row, (n,), got {found.dtype} of {found.shape}")
    return sample, _checked(f"weights_{name}", found.astype(np.float64))


def _checked(name: str, weights: Array) -> Array:
    for row in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0))):
        kind = "a negative weight" if weights[row] < 0.0 else "a weight that is not finite"
        raise ValueError(f"{name} has {kind} in row {row}, {weights[row]:g}; weights must be 0 or more")
    if weights.size and not weights.any():
        raise ValueError(f"{name} are all 0; some rows must count")
    return weights


def check_length(name: str, weights: Array, n_rows: int) -> None:
    """Raise unless there is a weight for each row."""
    if len(weights) != n_rows:
        raise ValueError(f"weights_{name} are {len(weights)} numbers for {n_rows} rows; every row needs one")


def normalised(x: Array | None, y: Array | None, edges: tuple[Index, Index]) -> tuple[Array, Array, str]:
    r"""Return weights of the rows of x and of y, grouped by unit, whose sums over units have mean 1, and a note.

    If both samples have weights on one scale, both are divided by the same number, the harmonic mean of the mean
    weights: swaps of rows with their weights leave the null hypothesis as it is. Otherwise each sample is divided by
    its own mean weight, and swaps are an approximation.
    """
    n_x, n_y = (len(own) - 1 for own in edges)
    given = x is not None and y is not None
    x, y = (np.ones(int(own[-1])) if one is None else one for one, own in zip((x, y), edges, strict=True))
    largest = max(x.max(), y.max()) if given else 1.0
    x, y = x / largest, y / largest
    units_x, units_y = (np.add.reduceat(one, own[:-1]) for one, own in zip((x, y), edges, strict=True))
    if given:
        pooled = np.concatenate([units_x, units_y])
        apart = abs(units_x.mean() - units_y.mean()) / np.sqrt(1.0 / n_x + 1.0 / n_y)
        if apart <= _SAME_SCALE * pooled.std():
            a, b = units_x.mean(), units_y.mean()
            factor = (n_x + n_y) * a * b / (n_x * a + n_y * b)
            return x / factor, y / factor, EXACT
    worth = {name: effective_number(own) for name, own in (("x", units_x), ("y", units_y))}
    for name, number in worth.items():
        if number < _FEWEST:
            raise ValueError(
                f"weights_{name} are worth {number:.1f} rows of equal weight together; a test needs at least {_FEWEST}"
            )
    few = [f"{name} {number:.0f}" for name, number in worth.items() if number < _ENOUGH]
    if few:
        few_rows = f"weights make {' and '.join(few)} rows of equal weight, and the p-value may be much too small"
        warn(f"{few_rows}: take more rows, or truncate the weights", FewBlocksWarning)
        return x / units_x.mean(), y / units_y.mean(), f"{APPROXIMATE}; {few_rows}"
    return x / units_x.mean(), y / units_y.mean(), APPROXIMATE


def effective_number(weights: Array) -> float:
    """Return ``(sum w)^2 / sum w^2``: the number of rows of equal weight that have as small a variance."""
    return float(weights.sum() ** 2 / np.sum(weights**2))
