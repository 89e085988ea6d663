"""Means of columns of vectors at each coordinate, or in each cell of images: where along them two tables differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.data.record_batches import vector_rows
from btests.plan import Array, Index

# Cells of a strip at most, and of each side of a grid; longer vectors and larger images are averaged in them.
_STRIP, _SIDE = 512, 64

# Vectors that are added at a time.
_STEP = 1024

# Differences of fewer standard errors count as chance.
_ERRORS = 4.0


@dataclass(frozen=True, slots=True)
class CoordinateMeans:
    """Means and variances of the vectors of both sides, in cells of one or several coordinates.

    Attributes
    ----------
    means, variances : ndarray of shape (2, rows, columns)
        Of the vectors of table a, and of table b.
    counts : (int, int)
        Vectors of each table.
    shape : (int, int)
        Rows and columns of an image; a vector has one row.
    """

    means: Array
    variances: Array
    counts: tuple[int, int]
    shape: tuple[int, int]

    def differences(self) -> Array:
        """Return the mean of b less that of a in standard deviations; 0 within chance: (rows, columns)."""
        n_a, n_b = self.counts
        pooled = (n_a * self.variances[0] + n_b * self.variances[1]) / (n_a + n_b)
        found = self.means[1] - self.means[0]
        errors = np.sqrt(self.variances[0] / n_a + self.variances[1] / n_b)
        seen = (np.abs(found) > _ERRORS * errors) & (pooled > 0.0)
        return np.asarray(np.where(seen, found / np.sqrt(np.where(seen, pooled, 1.0)), 0.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the differences, and the means where that is largest."""
        differences = self.differences()
        row, column = (int(place) for place in np.unravel_index(np.abs(differences).argmax(), differences.shape))
        return {
            "shape": list(self.shape),
            "differences": [[float(f"{value:.3g}") for value in own] for own in differences],
            "largest": {
                "row": row,
                "column": column,
                "a": float(self.means[0, row, column]),
                "b": float(self.means[1, row, column]),
            },
        }


def coordinate_means(columns: Sequence[Any], width: int, image: tuple[int, int, int] | None) -> CoordinateMeans | None:
    """Return the means of two arrow columns of lists of ``width`` numbers; None where a column has none of them."""
    rows, across, colours = (1, width, 1) if image is None or math.prod(image) != width else image
    edges = _edges(rows, _SIDE), _edges(across, _SIDE if rows > 1 else _STRIP)
    found = [_moments(column, (rows, across, colours), edges) for column in columns]
    counts = tuple(count for count, _, _ in found)
    if min(counts) == 0:
        return None
    means, variances = (np.stack([own[k] for own in found]) for k in (1, 2))
    return CoordinateMeans(means, variances, (counts[0], counts[1]), (rows, across))


def _edges(n: int, most: int) -> Index:
    """Return the first of n numbers in each of at most so many cells of about one size, and n."""
    return np.linspace(0, n, min(n, most) + 1).astype(np.int64)


def _moments(column: Any, shape: tuple[int, int, int], edges: tuple[Index, Index]) -> tuple[int, Array, Array]:
    """Return how many vectors an arrow column has, and their means and variances in cells: (), (r, c), (r, c)."""
    area = np.outer(*(np.diff(own) for own in edges))
    count, mean, squares = 0, np.zeros(area.shape), np.zeros(area.shape)
    present = column.drop_null()
    # Steps of a fixed number of vectors: nothing depends on the chunks of the column.
    for first in range(0, len(present), _STEP):
        rows = vector_rows(present.slice(first, _STEP).combine_chunks(), math.prod(shape), "a column of vectors")
        pixels = rows.reshape(-1, *shape).mean(axis=3, dtype=np.float64)
        sums = np.add.reduceat(np.add.reduceat(pixels, edges[0][:-1], axis=1), edges[1][:-1], axis=2)
        cells = sums / area
        n, own = len(cells), cells.mean(axis=0)
        # Means and squares of two parts together (Chan, Golub and LeVeque 1983).
        step, total = own - mean, count + n
        squares += np.sum((cells - own) ** 2, axis=0) + step**2 * (count * n / total)
        mean, count = mean + step * (n / total), total
    return count, mean, squares / max(1, count - 1)
