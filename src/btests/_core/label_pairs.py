"""Sums over pairs of labelled bins by the compiled loop; ``btests.symmetries.relabel_bins`` has the numpy version."""

from __future__ import annotations

import numpy as np

from btests._core.constants import MAX_LABELS
from btests._core.library import loaded, number_of
from btests._core.threads import map_ranges
from btests.plan import Array, Index


def label_pairs(matrix: Array, labels: Index, n_threads: int | None = None, instructions: str | None = None) -> Array:
    """Return the sums of ``matrix[labels[r, i], labels[r, j]]`` over j < i: (n, n) and (r, k) to (r,).

    The bits are those of numpy's sum over pairs in this order, for all instruction sets.
    """
    library, (n_draws, k) = loaded(), labels.shape
    if k > MAX_LABELS:
        raise ValueError(f"at most {MAX_LABELS} bins of a sample have labels, got {k}")
    matrix, labels, out = np.ascontiguousarray(matrix), np.ascontiguousarray(labels), np.empty(n_draws)
    arrays, number = (matrix.ctypes.data, labels.ctypes.data, out.ctypes.data), number_of(instructions)

    def run(first: int, last: int) -> None:
        library.btests_label_pairs(*arrays, len(matrix), k, first, last, number)

    map_ranges(run, n_draws, n_draws * k * k, n_threads)
    return out
