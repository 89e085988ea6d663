"""Samples of units and of weighted rows: labels of units, checks of weights, rows grouped by unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests._option_checks import as_array, check_name
from btests._text import brief, converting
from btests._validation import Rows, check_samples, column_names
from btests._warnings import FewBlocksWarning, warn
from btests.data.row_permutation import permutation_of
from btests.data.unit_sample import UnitSample
from btests.plan import Array, Index

Labels = npt.NDArray[Any]

# Mean weights that differ by more standard deviations of random relabelling than this are on different scales; of
# weights on one scale, one test in a million or so is taken for such.
_SAME_SCALE = 5.0

# Rows of equal weight that weights must be worth, and from which on approximate p-values can be relied on (designs.md).
_FEWEST, _ENOUGH = 2, 30

EXACT = "weighted: the p-value is exact if rows with their weights are exchangeable between x and y, else approximate"
APPROXIMATE = "weighted: weights were normalised in each sample, and the p-value is approximate"


class Grouped(NamedTuple):
    """Rows of one sample grouped by unit: their order (n,), and the first of each unit and n: (u + 1,)."""

    order: Index
    edges: Index


def take_labels(x: Any, y: Any, units: Any) -> tuple[Any, Any, Labels, Labels]:
    """Return both samples without the column that names units, and the label of each row: two of (n,)."""
    names = column_names(x), column_names(y)
    if isinstance(units, (tuple, list)) and len(units) == 2:
        return x, y, *(check_labels(name, own) for name, own in zip("xy", units, strict=True))
    if isinstance(units, (tuple, list, np.ndarray)) or names[0] is None or names[1] is None:
        raise TypeError(
            "units must be two arrays (units_x, units_y) of a label for each row, or the name of a column of both data "
            f"frames, got {brief(units)}"
        )
    found = [take_column(name, frame, units, "units") for name, frame in (("x", x), ("y", y))]
    return found[0][0], found[1][0], *(check_labels(name, own) for name, (_, own) in zip("xy", found, strict=True))


def take_column(name: str, frame: Any, column: Any, what: str) -> tuple[Any, Any]:
    """Return a data frame without one of its columns, and that column; ``what`` is what the column is for."""
    names = column_names(frame) or []
    if not isinstance(column, tuple):
        check_name(what, column)
    if column not in names:
        there = ", ".join(brief(one) for one in names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f"{what} names the column {brief(column)}, and {name} has none of that name; there are {there}"
        )
    kept = [one for one in names if one != column]
    return (frame.select(kept) if hasattr(type(frame), "select") else frame[kept]), frame[column]


def check_labels(name: str, labels: Any) -> Labels:
    """Return labels of units as an array (n,), or raise where one is missing."""
    found = as_array(f"units of {name}", labels)
    if found.ndim != 1:
        raise ValueError(f"units of {name} must be one label for each row, (n,), got shape {found.shape}")
    for row in np.flatnonzero(_missing(found)):
        raise ValueError(f"units of {name} have a missing label in row {row}; drop such rows or label them")
    return found


def group_rows(
    x: Labels, y: Labels, n_rows: tuple[int, int], *, paired: bool, names: tuple[str, str] = ("x", "y")
) -> tuple[Grouped, Grouped, bool]:
    """Return the rows of each sample grouped by unit, and whether the samples are of the same units.

    Units are in the order of their first rows; units that both samples have, in the order of those of x.
    """
    for name, labels, n in zip(names, (x, y), n_rows, strict=True):
        if len(labels) != n:
            raise ValueError(f"units of {name} are {len(labels)} labels for {n} rows; every row needs one")
    codes = _codes(x, y)
    of_x, of_y = (set(np.unique(own).tolist()) for own in (codes[: len(x)], codes[len(x) :]))
    for name, own in zip(names, (of_x, of_y), strict=True):
        if len(own) < 2:
            raise ValueError(
                f"{name} has {len(own)} unit{'s' * (len(own) != 1)}; a test needs at least 2 in each sample"
            )
    both = of_x & of_y
    first_of = np.concatenate([x.astype(object), y.astype(object)])[np.unique(codes, return_index=True)[1]]
    if of_x != of_y and paired:
        alone = min(of_x ^ of_y)
        where = names[0] if alone in of_x else names[1]
        raise ValueError(f"unit {_shown(first_of[alone])} is only in {where}; with paired=True both have every unit")
    if of_x != of_y and both:
        shared, (first, second) = _shown(first_of[min(both)]), names
        raise ValueError(
            f"unit {shared} is in both samples, and its rows in {first} and in {second} depend on one another; drop "
            "such units from one sample, or test the means of those in both with paired=True"
        )
    return _grouped(codes[: len(x)]), _grouped(codes[len(x) :]), bool(both)


def _codes(x: Labels, y: Labels) -> Index:
    """Return numbers of units in the order of their first rows, x before y: (n_x + n_y,)."""
    if x.dtype.kind == y.dtype.kind and x.dtype.kind in "biufMmSU":
        _, first, inverse = np.unique(np.concatenate([x, y]), return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(len(first))
        return np.asarray(rank[inverse], dtype=np.int64)
    number: dict[Any, int] = {}
    with converting("units"):  # labels must be hashable
        labels = [number.setdefault(label, len(number)) for label in (*x.tolist(), *y.tolist())]
    return np.array(labels, dtype=np.int64)


def _grouped(codes: Index) -> Grouped:
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return Grouped(order, np.append(starts, len(codes)))


def _missing(labels: Labels) -> npt.NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype != object:
        return np.zeros(len(labels), dtype=bool)
    return np.array(
        [one is None or type(one).__name__ in ("NAType", "NaTType") or _is_nan(one) for one in labels], bool
    )


def _is_nan(label: object) -> bool:
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def _shown(value: object) -> str:
    return brief(value.item() if isinstance(value, np.generic) else value)


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
