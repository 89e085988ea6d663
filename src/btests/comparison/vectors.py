"""Columns of vectors, such as embeddings: coordinates in which they are compared, and their kernel features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.comparison.format import percent
from btests.data.record_batches import vector_rows
from btests.plan import Array

#: Coordinates of vectors at most; longer ones are projected to so many random directions, which keep distances.
MOST_COORDINATES = 1024

# Many rows have fewer coordinates, but for the fewest: so many numbers in all, 128 MiB of them.
_NUMBERS, _FEWEST = 2**24, 64

# The fourth powers of larger numbers overflow, or sums of many of them.
_LARGEST = 1e70

# Rows that are projected at a time: the last bits depend on it, and not on the parts in which a table was read.
_ROWS = 2**12

# Seeds of the directions and of the frequencies, which do not depend on the data.
_DIRECTIONS, _FREQUENCIES = 20_001, 20_002

# Bandwidths of Gaussian kernels, where two vectors of a column have a squared distance of 2 on average, and frequencies
# of each.
BANDWIDTHS, N_FREQUENCIES = (0.5, 1.0), 64


def why_no_vectors(columns: Sequence[Any]) -> str | None:
    """Return why arrow columns of lists hold no vectors of one length, None if they do."""
    lengths: set[int] = set()
    for column in columns:
        lengths |= set(arrow("pyarrow.compute").list_value_length(column).unique().drop_null().to_pylist())
    if not lengths:
        return "holds no lists, or lists in a table that is read in pieces, which are not compared"
    if lengths == {0}:
        return "holds empty lists"
    return f"holds lists of {min(lengths)} to {max(lengths)} numbers" if len(lengths) > 1 else None


def n_numbers(columns: Sequence[Any]) -> int:
    """Return the length of the lists of columns that hold vectors."""
    pc = arrow("pyarrow.compute")
    values = [pc.max(pc.list_value_length(column)).as_py() for column in columns]
    return max(int(value) for value in values if value is not None)


def principal_coordinates(name: str, columns: Sequence[Any], sides: tuple[str, str]) -> Array:
    """Return the vectors of two arrow columns, those of the first one first: (n, k), NaN where one is missing.

    They are centred, and turned to the directions in which both tables together vary, the most first. Distances are
    those of the vectors, or of their random projections if these are longer than ``n_coordinates``.
    """
    width = n_numbers(columns)
    k = n_coordinates(width, sum(map(len, columns)))
    found = np.concatenate(
        [_projected(name, column, (width, k), side) for column, side in zip(columns, sides, strict=True)]
    )
    present = ~np.isnan(found).any(axis=1)
    found[~present] = np.nan
    if not present.any():
        return found
    found -= found[present].mean(axis=0)
    _, axes = np.linalg.eigh(found[present].T @ found[present])
    axes = axes[:, ::-1]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return np.asarray(found @ (axes * signs))


def n_coordinates(width: int, n_rows: int) -> int:
    """Return how many coordinates so many vectors of ``width`` numbers have."""
    return min(width, MOST_COORDINATES, max(_FEWEST, _NUMBERS // n_rows))


def _projected(name: str, column: Any, shape: tuple[int, int], side: str) -> Array:
    """Return the vectors of an arrow column, ``shape[0]`` numbers each, in ``shape[1]`` directions: (n, k)."""
    width, k = shape
    found = np.full((len(column), k), np.nan)
    directions = None
    if width > k:
        directions = np.random.default_rng(_DIRECTIONS).normal(size=(width, k)) / np.sqrt(k)
    for start in range(0, len(column), _ROWS):
        chunk = arrow().concat_arrays(column.slice(start, _ROWS).chunks)
        rows = np.flatnonzero(chunk.is_valid().to_numpy(zero_copy_only=False))
        values = vector_rows(chunk.drop_null(), width, f"column {name!r} of {side}").astype(np.float64)
        large = np.flatnonzero((np.abs(values) > _LARGEST).any(axis=1))
        if large.size:
            what = "an infinite number" if np.isinf(values[large[0]]).any() else f"a number beyond {_LARGEST:.0e}"
            row = start + int(rows[large[0]]) + 1
            raise ValueError(f"column {name!r} of {side} has {what} in row {row}; replace such cells")
        found[start + rows] = values if directions is None else values @ directions
    return found


def vector_scale(vectors: Array) -> float:
    """Return the scale at which two of these centred vectors (n, k) have a squared distance of 2, as a rule."""
    squares = np.sum(vectors**2, axis=1)
    scale = float(np.sqrt(np.median(squares))) or float(np.sqrt(squares.mean()))
    return scale if scale > 0.0 else 1.0


def kernel_features(points: Array) -> Iterator[tuple[int, Array]]:
    """Yield features (n,) of points (n, k), each with the number of its kernel: 0 is linear, the others Gaussians."""
    for column in points.T:
        yield 0, column
    frequencies = np.random.default_rng(_FREQUENCIES).normal(size=(points.shape[1], N_FREQUENCIES))
    for number, bandwidth in enumerate(BANDWIDTHS, start=1):
        for direction in frequencies.T:
            angles = points @ (direction / bandwidth)
            yield number, np.cos(angles)
            yield number, np.sin(angles)


def mean_change(a: Array, b: Array) -> tuple[float, str, float]:
    """Return the distance of the means of two sides (n, k), (m, k) in units of their spread, in words and in errors."""
    spectrum = np.var(np.concatenate([a, b]), axis=0)
    total, per_row = float(spectrum.sum()), 1.0 / len(a) + 1.0 / len(b)
    if total == 0.0:
        return 0.0, "", 0.0
    square = float(np.sum((a.mean(axis=0) - b.mean(axis=0)) ** 2)) / total
    error = per_row * float(np.sqrt(2.0 * np.sum(spectrum**2))) / total
    distance = float(np.sqrt(max(0.0, square - per_row)))
    return distance, f"mean vectors {percent(distance)} of the spread apart", (square - per_row) / error


def spread_change(a: Array, b: Array) -> tuple[float, float, str, float]:
    """Return the root mean square distances of two sides (n, k), (m, k) from their means, in words and in errors."""
    squares = [np.sum((side - side.mean(axis=0)) ** 2, axis=1) for side in (a, b)]
    one, two = (float(np.sqrt(own.mean())) for own in squares)
    error = float(np.sqrt(sum(own.var() / len(own) for own in squares)))
    size = 0.0 if error == 0.0 else abs(float(squares[0].mean() - squares[1].mean())) / error
    return one, two, f"spread {one:.4g} -> {two:.4g}", size
