"""Features of a column for tests of its distribution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from btests.comparison.cells import Cells, Mask
from btests.comparison.encoding import PERIODS, Code
from btests.comparison.scores import ColumnFeatures
from btests.comparison.swap_units import SwapUnits
from btests.comparison.vectors import kernel_features
from btests.plan import Array

#: Number of cosines of the pooled rank. The first detects a shift, the second a change of spread, the others of shape.
N_COSINES = 8

#: Levels of a category with a feature of their own.
_MOST_LEVELS = 200

# Added to the share of a level, whose root divides its feature in the first of three statistics of levels: a compromise
# between equal weights and a chi-squared test.
_SHARE = 0.01

# Levels with a smaller expected count on the shorter side are merged in the second statistic, chi-squared, by its rule
# of thumb. Levels with fewer rows than _LEAST_ROWS have no statistic of their own: not even all of them on one side is
# significant.
_EXPECTED = 5.0
_LEAST_ROWS = 8

# Standard deviations of scores below this are rounding errors.
_ROUNDING = 1e-9


def column_differences(cells: Cells, code: Code, rank: Array | None, units: SwapUnits) -> list[ColumnFeatures]:
    """Return the features of a column in the order of the units, with the weights of their statistics.

    First the features of present cells, then, if any are missing, the indicator of missing cells.
    """
    if cells.vectors is not None:
        found = [_vector_differences(cells, code, units)]
    elif rank is None:
        found = [_level_differences(cells, units)]
    else:
        parts = [units.difference(feature) for feature in _number_features(cells, code, rank)]
        d, c = np.stack([d for d, _ in parts], axis=1), np.array([c for _, c in parts])
        found = [ColumnFeatures.of_one(d, c)]
    if cells.missing.any():
        moving, still = units.difference(_indicator(cells.missing))
        found.append(ColumnFeatures.of_one(moving[:, None], np.array([still])))
    return found


def _number_features(cells: Cells, code: Code, rank: Array) -> Iterator[Array]:
    for j, cosine in enumerate(_cosines(rank, N_COSINES)):
        yield cosine / np.sqrt(j + 1.0)
    # Ranks are insensitive to the distance of rows in the tails.
    yield _standardised(code.arcsinh_scaled(cells.values), cells)
    for period in code.periods:
        angle = 2.0 * np.pi * cells.values / PERIODS[period]
        yield _centred(np.sin(angle), cells)
        yield _centred(np.cos(angle), cells)


def _vector_differences(cells: Cells, code: Code, units: SwapUnits) -> ColumnFeatures:
    """Return features of vectors, and the test by each of several kernels: a linear one, and Gaussians."""
    found, owners = [], []
    for owner, feature in kernel_features(code.transform(cells)[:, : code.n_directions]):
        found.append(units.difference(_centred(feature, cells)))
        owners.append(owner)
    weights = np.eye(max(owners) + 1)[owners]
    n_statistics = weights.shape[1]
    d, c = np.stack([d for d, _ in found], axis=1), np.array([c for _, c in found])
    return ColumnFeatures(d, c, weights, np.full(n_statistics, float(n_statistics)))


def _level_differences(cells: Cells, units: SwapUnits) -> ColumnFeatures:
    """Return the indicators of levels, and three kinds of statistics of them.

    The first has weights between equal and chi-squared, best for changes of frequent levels; the second is chi-squared,
    for changes of several rare levels; the third is each level alone, for changes of one level, such as a new one.
    """
    codes = cells.values.astype(np.int64)
    kept = min(_MOST_LEVELS, int((cells.counts() > 0).sum()))
    # Levels are in the order of their frequency; those of booleans are two.
    place = np.minimum(codes, kept)
    n_levels = kept + 1
    if cells.kind == "boolean":
        place, n_levels = codes, 2
    place = np.where(cells.missing, n_levels, place)
    d, c = units.count_difference(place, n_levels)
    shares = np.bincount(place, minlength=n_levels + 1)[:n_levels] / len(place)
    used = shares > 0.0
    return weighted_levels(d[:, used], c[used], shares[used], len(place), units.shorter)


def weighted_levels(d: Array, c: Array, shares: Array, n: int, shorter: int) -> ColumnFeatures:
    """Return the statistics of levels: D (u, k), c (k,), pooled shares (k,), rows of both sides and of the shorter."""
    between = 1.0 / (shares + _SHARE)
    if len(shares) <= 2:  # one indicator: all statistics are equivalent
        return ColumnFeatures(d, c, between[:, None], np.ones(1))
    rare = shares * shorter < _EXPECTED
    d = np.concatenate([d, d[:, rare].sum(axis=1, keepdims=True)], axis=1)
    c = np.append(c, c[rare].sum())
    rest = float(shares[rare].sum())
    chi_squared = np.append(np.where(rare, 0.0, 1.0 / shares), 1.0 / rest if rest > 0.0 else 0.0)
    alone = np.flatnonzero(np.append(shares, rest) * n >= _LEAST_ROWS)
    weights = [np.append(between, 0.0)[:, None], chi_squared[:, None], np.eye(len(c))[:, alone]]
    n_statistics = 2 + len(alone)
    return ColumnFeatures(d, c, np.concatenate(weights, axis=1), np.full(n_statistics, float(n_statistics)))


def relation_scores(cells: Cells, rank: Array | None, most: int) -> tuple[Array, int]:
    """Return scores of a column with mean 0 and variance 1, (n, k), and how many of them have products.

    Products of the first scores with those of another column detect relations; the others are regressors that remove
    the influence of the margins. The product of two cosines has the sum and the difference of their frequencies.
    """
    if rank is not None:
        count = 2 if most > 1 else 1
        cosines = list(_cosines(rank, 2 * count))
        scores = cosines[:count]
        if cells.missing.any() and most > 2:
            scores.append(_indicator(cells.missing))
        n_scores = len(scores)
        scores += cosines[count:]
    else:
        counts = cells.counts()
        # One indicator less than levels, which sum to 1, unless cells are missing.
        n_scores = min(most, int((counts > 0).sum()) - (0 if cells.missing.any() else 1))
        frequent = np.argsort(-counts, kind="stable")[:n_scores]
        scores = [_indicator((cells.values == j) & cells.present) for j in frequent]
    return np.stack([_unit(score) for score in scores], axis=1), n_scores


def pooled_ranks(cells: Cells) -> Array | None:
    """Return the share of pooled cells below each, ties at their middle; 1/2 where missing: (n,). None for levels."""
    if cells.has_levels:
        return None
    rank = np.full(len(cells), 0.5)
    present = np.flatnonzero(cells.present)
    if present.size == 0:
        return rank
    values = cells.values[present]
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.flatnonzero(begins)
    ends = np.append(first[1:], ordered.size)
    middle = (first + ends) / 2.0 / ordered.size
    rank[present[order]] = middle[np.cumsum(begins) - 1]
    return rank


def _cosines(rank: Array, count: int) -> Iterator[Array]:
    """Yield ``sqrt(2) cos(pi k rank)`` for k = 1 .. count, by their recurrence, centred over the cells."""
    first = np.cos(np.pi * rank)
    before, now = np.ones_like(first), first
    for _ in range(count):
        yield np.sqrt(2.0) * (now - now.mean())
        before, now = now, 2.0 * first * now - before


def _indicator(mask: Mask) -> Array:
    share = float(mask.mean())
    return np.asarray((mask - share) / np.sqrt(share + _SHARE))


def _standardised(values: Array, cells: Cells) -> Array:
    deviation = float(values[cells.present].std()) if cells.present.any() else 0.0
    return _centred(values / deviation if deviation > 0.0 else np.zeros_like(values), cells)


def _centred(values: Array, cells: Cells) -> Array:
    """Return centred values, 0 for missing cells."""
    out = values - (float(values[cells.present].mean()) if cells.present.any() else 0.0)
    out[cells.missing] = 0.0
    return np.asarray(out)


def _unit(values: Array) -> Array:
    deviation = float(values.std())
    # With two levels some cosines are constant up to rounding, which must not be scaled up.
    return values / deviation if deviation > _ROUNDING else np.zeros_like(values)
