"""An estimate of the time that kernels take, from counts of operations alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from btests._core.fourier_sums import FREQUENCY_STEP
from btests.block_size import PAPER_EXPONENT, root
from btests.data.sample import AnySample
from btests.data.unit_sample import UnitSample
from btests.kernels.kernel import Kernel, Radial, features_of, groups_of, terms_of
from btests.kernels.random_fourier import has_features

# Nanoseconds of one core for a pair of rows, fitted to blocks of 1000 to 4000 rows in 1 to 784 columns (AVX2, 2.6 GHz):
# a first exponential, each further bandwidth that shares it, and each coordinate of the distance.
_FIRST, _SHARED, _COORDINATE = 2.0, 0.3, 0.08

# A kernel without compiled loops takes numpy several passes; one of objects is a Python call for each pair.
_NUMPY, _PYTHON = 60.0, 1000.0

# Explicit features take linear time: next to nothing for a pair, and enough to keep blocks of them in memory.
_FEATURES = 0.1

# A kernel value between rows of units in numpy with its sums, and a coordinate of the distances that kernels share.
_UNIT_VALUE, _COORDINATE_IN_NUMPY = 12.0, 3.0

# The same of HSIC, for a pair of rows (x, y): two first exponentials, a kernel value of x or y with its transform, a
# coordinate of a distance, and a product of both. Fitted to blocks of 1000 and 2000 rows in 1 to 100 columns a side.
_HSIC_FIRST, _HSIC_VALUE, _HSIC_COORDINATE, _HSIC_PRODUCT = 2.0, 1.1, 0.1, 0.15
_NUMPY_HSIC = (0.0, 20.0, 1.0, 12.0)


def hsic_pair_seconds(n_x: int, n_y: int, width: int, *, compiled: bool = True) -> float:
    """Return the estimated time of HSIC for one pair of pooled rows, as :func:`pair_seconds` does for kernels.

    Parameters
    ----------
    n_x, n_y : int
        Kernels of x and of y, all of whose combinations are tested.
    width : int
        Coordinates of x and y together.
    compiled : bool
        Whether all kernels have radial terms, which the compiled loops evaluate.
    """
    loops = (_HSIC_FIRST, _HSIC_VALUE, _HSIC_COORDINATE, _HSIC_PRODUCT)
    first, value, coordinate, one_product = loops if compiled else _NUMPY_HSIC
    # Of n rows there are n^2 / 2 pairs of x and of y each; of 2 n pooled rows there would be 4 times as many.
    return 0.25e-9 * (first + value * (n_x + n_y) + coordinate * width + one_product * n_x * n_y)


def pair_seconds(kernels: Sequence[Kernel], width: int) -> float:
    """Return the estimated time of kernels for one pair of rows.

    Parameters
    ----------
    kernels : sequence of Kernel
        Those that are computed on the same blocks; bandwidths play no part.
    width : int
        Coordinates of a row; 0 for objects.
    """
    terms: list[Radial] = []
    nanoseconds = 0.0
    for kernel in kernels:
        own = terms_of(kernel) if width else None
        if features_of(kernel) is not None:
            nanoseconds += _FEATURES
        elif own is None:
            nanoseconds += _NUMPY + _COORDINATE * width if width else _PYTHON
        else:
            terms.extend(own)
    for group in groups_of(tuple(terms)):
        n_coordinates = width if group[0].columns is None else len(group[0].columns)
        nanoseconds += _FIRST + _SHARED * (len(group) - 1) + _COORDINATE * n_coordinates
    return 1e-9 * nanoseconds


# Frequencies of random features: fewest, and most, and nanoseconds for a row and a frequency: its cosine and sine, each
# kernel, and each coordinate.
_LEAST_FREQUENCIES, _MOST_FREQUENCIES = 64, 256
_TURN, _LEVEL, _PROJECTION = 2.5, 0.6, 0.1


def affordable_frequencies(n_kernels: int, n_rows: int, width: int, budget: float) -> int:
    """Return how many frequencies of each kernel so many seconds afford for all rows, within bounds."""
    nanoseconds = 2.0 * (_TURN + _PROJECTION * width) + _LEVEL * n_kernels
    found = int(min(1e9 * budget / (n_rows * nanoseconds), _MOST_FREQUENCIES)) // FREQUENCY_STEP * FREQUENCY_STEP
    return max(_LEAST_FREQUENCIES, min(_MOST_FREQUENCIES, found))


# Frequencies of features of HSIC, fewest and most, and nanoseconds for a row and a product of features, and a feature.
_LEAST_OF_HSIC, _MOST_OF_HSIC = 16, 64
_PRODUCT, _FEATURE = 0.3, 50.0


def affordable_hsic_frequencies(n_x: int, n_y: int, n_rows: int, budget: float) -> int:
    """Return how many frequencies of each of some kernels of x and of y so many seconds afford, within bounds."""
    found = _LEAST_OF_HSIC
    for n in range(_LEAST_OF_HSIC, _MOST_OF_HSIC + 1, 8):
        f, h = 2 * n * n_x, 2 * n * n_y
        if 1e-9 * n_rows * (_PRODUCT * f * h + _FEATURE * (f + h)) <= budget:
            found = n
    return found


# Landmarks of a kernel without a spectrum: fewest, and most. Nanoseconds of numpy for a row and a landmark, and for
# each coordinate of a distance or of a product.
_LEAST_LANDMARKS, _MOST_LANDMARKS = 32, 256
_LANDMARK, _LANDMARK_COORDINATE = 8.0, 1.5


def affordable_landmarks(kernels: Sequence[Any], n_rows: int, width: int, budget: float) -> int:
    """Return how many landmarks of each kernel without a spectrum so many seconds afford for all rows, within bounds.

    A whole number of pairs, of one row of each sample. ``width`` is 0 for objects.
    """
    bases = dict.fromkeys(repr(getattr(kernel, "kernel", kernel)) for kernel in kernels if not has_features(kernel))
    nanoseconds = _LANDMARK + _LANDMARK_COORDINATE * width if width else _PYTHON
    found = int(min(1e9 * budget / (n_rows * nanoseconds * max(1, len(bases))), _MOST_LANDMARKS)) // 2 * 2
    return max(_LEAST_LANDMARKS, min(_MOST_LANDMARKS, found))


def seconds_of(kernels: Sequence[Kernel], x: AnySample, y: AnySample) -> float:
    """Return the estimated time of kernels for one pair of rows of two samples, or for one pair of units."""
    if not isinstance(x, UnitSample) or not isinstance(y, UnitSample):
        return pair_seconds(kernels, x.width)
    rows = (x.n_rows + y.n_rows) / (len(x) + len(y))
    return 1e-9 * rows**2 * (_COORDINATE_IN_NUMPY * x.width + _UNIT_VALUE * len(kernels))


# Fewest rows of a unit that are left to be afforded.
_LEAST_ROWS = 8


def affordable_rows(n_kernels: int, x: UnitSample, y: UnitSample, budget: float) -> int | None:
    """Return how many rows of a unit the budget affords in blocks of the root of n units; None for all of them.

    From pooled sizes alone, which no swap of units changes. Not less than 8: larger averages change little.
    """
    sizes = np.concatenate([np.diff(x.edges), np.diff(y.edges)])
    pairs = len(sizes) ** 2 / 2.0 / (min(len(x), len(y)) / root(min(len(x), len(y)), PAPER_EXPONENT))
    nanoseconds = _COORDINATE_IN_NUMPY * x.width + _UNIT_VALUE * n_kernels
    most = int(sizes.max())
    while most > _LEAST_ROWS and 1e-9 * nanoseconds * pairs * np.minimum(sizes, most).mean() ** 2 > budget:
        most = max(_LEAST_ROWS, most * 3 // 4)
    return None if most == sizes.max() else most


def prefers_features(kernels: Sequence[Any], *, are_objects: bool = False, paired: bool = True) -> bool:
    """Return whether features take the place of blocks where one block of all rows is beyond the budget.

    Not of kernels that have explicit features, whose blocks take linear time, and not of objects in samples of
    different lengths, whose landmarks are one object of each of some hundred bins: a slow kernel has too many of them.
    """
    if all(map(has_features, kernels)):
        return not are_objects
    return all(features_of(kernel) is None for kernel in kernels) and (paired or not are_objects)
