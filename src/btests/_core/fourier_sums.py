"""Sums of random Fourier features by the compiled loops; ``btests.statistics.fourier`` has the numpy version."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._core.library import loaded
from btests._core.threads import map_ranges
from btests.plan import Array, Index

#: Frequencies of a call are a multiple of this.
FREQUENCY_STEP = 16


class FourierTask(ctypes.Structure):
    """Arguments of `fourier_sums`; mirrors ``FourierTask`` in task.hpp field by field."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("rows", "order", "edges", "origin", "frequencies", "doublings", "sums")),
        *((name, ctypes.c_int64) for name in ("d", "n_frequencies", "n_levels", "first_bin", "last_bin")),
        ("magic", ctypes.c_double),
        ("rows_are_float32", ctypes.c_int32),
    )


def fourier_sums(
    rows: npt.NDArray[Any],
    order: Index,
    edges: Index,
    *,
    origin: Array,
    frequencies: Array,
    doublings: npt.NDArray[np.int32],
    bits: int,
    n_threads: int | None = 1,
) -> Array:
    """Return sums of cosines and sines over bins of rows: (n_bins, n_levels, 2, f).

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Contiguous rows in float64 or float32.
    order : ndarray of shape (m,)
        Rows, those of a bin together.
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins in ``order``.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    frequencies : ndarray of shape (f, d)
        Turns for a unit of each coordinate.
    doublings : ndarray of int32, shape (n_levels,)
        How often angles are doubled before each level.
    bits : int
        Cosines and sines are rounded to multiples of ``2**-bits``, and their sums are exact below ``2**(53 - bits)``.
    n_threads : int or None
        None for all cores.
    """
    n_bins, (f, d) = len(edges) - 1, frequencies.shape
    padded = np.zeros((d, -(-f // FREQUENCY_STEP) * FREQUENCY_STEP))
    padded[:, :f] = frequencies.T
    sums = np.zeros((n_bins, len(doublings), 2, padded.shape[1]), dtype=np.int64)
    order, edges, steps = np.ascontiguousarray(order), np.ascontiguousarray(edges), np.ascontiguousarray(doublings)
    magic = np.float64(1.5 * 2.0 ** (52 - bits))
    task = FourierTask(
        rows=rows.ctypes.data,
        order=order.ctypes.data,
        edges=edges.ctypes.data,
        origin=origin.ctypes.data,
        frequencies=padded.ctypes.data,
        doublings=steps.ctypes.data,
        sums=sums.ctypes.data,
        d=d,
        n_frequencies=padded.shape[1],
        n_levels=len(doublings),
        magic=magic,
        rows_are_float32=rows.dtype == np.float32,
    )

    def run(first: int, last: int) -> None:
        own = FourierTask.from_buffer_copy(task)
        own.first_bin, own.last_bin = first, last
        if loaded().btests_fourier_sums(ctypes.byref(own)) != 0:
            raise MemoryError(f"no memory for rows of {d} columns")

    map_ranges(run, n_bins, len(order) * f * (d + 12 + 4 * len(doublings)) // 8, n_threads)
    # Every row has added the bits of `magic` once; whole numbers wrap around, and are right in the end.
    sums -= (np.diff(edges) * np.array(magic).view(np.int64))[:, None, None, None]
    return np.asarray(np.ldexp(sums[..., :f].astype(np.float64), -bits))
