"""An estimate of the time that kernels take, from counts of operations alone."""

from __future__ import annotations

from collections.abc import Sequence

from btests.kernels.kernel import Kernel, Radial, terms_of
from btests.statistics.mmd import groups_of

# Nanoseconds of one core for a pair of rows, fitted to blocks of 1000 to 4000 rows in 1 to 784 columns (AVX2, 2.6 GHz):
# a first exponential, each further bandwidth that shares it, and each coordinate of the distance.
_FIRST, _SHARED, _COORDINATE = 2.0, 0.3, 0.08

# A kernel without compiled loops takes numpy several passes; one of objects is a Python call for each pair.
_NUMPY, _PYTHON = 60.0, 1000.0


# The HSIC in numpy: a kernel value of x or y with its transform, a coordinate of a distance, and a product of both.
_HSIC_VALUE, _HSIC_COORDINATE, _HSIC_PRODUCT = 20.0, 1.0, 12.0


def hsic_pair_seconds(n_x: int, n_y: int, width: int) -> float:
    """Return the estimated time of HSIC for one pair of pooled rows, as :func:`pair_seconds` does for kernels.

    Parameters
    ----------
    n_x, n_y : int
        Kernels of x and of y, all of whose combinations are tested.
    width : int
        Coordinates of x and y together.
    """
    # Of n rows there are n^2 / 2 pairs of x and of y each; of 2 n pooled rows there would be 4 times as many.
    return 0.25e-9 * (_HSIC_VALUE * (n_x + n_y) + _HSIC_COORDINATE * width + _HSIC_PRODUCT * n_x * n_y)


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
        if own is None:
            nanoseconds += _NUMPY + _COORDINATE * width if width else _PYTHON
        else:
            terms.extend(own)
    for group in groups_of(tuple(terms)):
        n_coordinates = width if group[0].columns is None else len(group[0].columns)
        nanoseconds += _FIRST + _SHARED * (len(group) - 1) + _COORDINATE * n_coordinates
    return 1e-9 * nanoseconds
