"""Sums of random Fourier features by the compiled loops; ``statistics.fourier_features`` has the numpy version."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._core.library import loaded, number_of
from btests._core.threads import map_ranges
from btests.plan import Array, Index

#: Frequencies that the loops take at a time, or a multiple of them: others are filled up.
FREQUENCY_STEP = 16


class FourierTask(ctypes.Structure):
    """Arguments of `fourier_sums`; mirrors ``FourierTask`` in fourier_task.hpp field by field."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("rows", "order", "edges", "origin", "frequencies", "doublings", "sums")),
        *((name, ctypes.c_int64) for name in ("d", "n_frequencies", "n_levels", "first_bin", "last_bin", "bits")),
        *((name, ctypes.c_int32) for name in ("rows_are_float32", "in_float32", "instructions")),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """Rows in groups, over which functions of a row are summed.

    Attributes
    ----------
    rows : ndarray of shape (n, d), or (n,) of objects
        Contiguous rows.
    order : ndarray of shape (m,)
        Rows, those of a group together.
    edges : ndarray of shape (n_groups + 1,)
        Edges of the groups in ``order``.
    plain : bool
        Whether to compute in plain numpy even where loops are compiled.
    n_threads : int or None
        Threads of the compiled loops; None for all cores.
    instructions : str, optional
        Instruction set of the compiled loops; None for the best of this machine.
    """

    rows: npt.NDArray[Any]
    order: Index
    edges: Index
    plain: bool = False
    n_threads: int | None = 1
    instructions: str | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.edges) - 1

    @property
    def numbers(self) -> Index:
        """Group of each row in ``order``: (m,)."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.edges))


def fourier_sums(
    groups: RowGroups,
    *,
    origin: Array,
    frequencies: Array,
    doublings: npt.NDArray[np.int32],
    bits: int,
    in_float32: bool = False,
) -> Array:
    """Return sums of cosines and sines over groups of rows in float64 or float32: (n_groups, n_levels, 2, f).

    Parameters
    ----------
    groups : RowGroups
        Rows of numbers in groups.
    origin : ndarray of shape (d,)
        Subtracted from every row.
    frequencies : ndarray of shape (f, d)
        Turns for a unit of each coordinate.
    doublings : ndarray of int32, shape (n_levels,)
        How often angles are doubled before each level.
    bits : int
        Cosines and sines are rounded to multiples of ``2**-bits``, and their sums are exact below ``2**(53 - bits)``.
    in_float32 : bool
        Whether to compute projections, cosines and sines in float32; ``bits`` are 20 at most then.
    """
    rows, n_bins, (f, d) = groups.rows, groups.n_groups, frequencies.shape
    sums = np.zeros((n_bins, len(doublings), 2, f), dtype=np.int64)
    arrays = groups.order, groups.edges, doublings, frequencies
    order, edges, steps, turns = map(np.ascontiguousarray, arrays)
    task = FourierTask(
        rows=rows.ctypes.data,
        order=order.ctypes.data,
        edges=edges.ctypes.data,
        origin=origin.ctypes.data,
        frequencies=turns.ctypes.data,
        doublings=steps.ctypes.data,
        sums=sums.ctypes.data,
        d=d,
        n_frequencies=f,
        n_levels=len(doublings),
        bits=bits,
        rows_are_float32=rows.dtype == np.float32,
        in_float32=in_float32,
        instructions=number_of(groups.instructions),
    )

    def run(first: int, last: int) -> None:
        own = FourierTask.from_buffer_copy(task)
        own.first_bin, own.last_bin = first, last
        if loaded().btests_fourier_sums(ctypes.byref(own)) != 0:
            raise MemoryError(f"no memory for rows of {d} columns")

    map_ranges(
        run, n_bins, len(order) * f * (d + 12 + 4 * len(doublings)) // (16 if in_float32 else 8), groups.n_threads
    )
    return np.asarray(sums * 2.0**-bits)  # exact
