"""Values of draws by the compiled loops; ``btests.symmetries`` has the numpy versions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from btests._core.constants import MAX_LABELS, MAX_SIGNS
from btests._core.library import loaded, number_of
from btests._core.threads import map_ranges
from btests.plan import Array, Index


def flip(
    moments: Array,
    words: npt.NDArray[np.uint64],
    n_draws: int,
    n_threads: int | None = None,
    instructions: str | None = None,
) -> Array:
    """Return ``sum_f s_f' C_f s_f`` for each draw of signs: moments (f, g, g) and words to (n_draws,).

    All instruction sets give the same bits: products with signs are exact, and a draw is a lane of its own.
    """
    library = loaded()
    n_strata, n_groups, n_words = words.shape
    if n_groups > MAX_SIGNS:
        raise ValueError(f"sign flips act on matrices of at most {MAX_SIGNS} rows, got {n_groups}")
    words = np.ascontiguousarray(words)
    out = np.empty(n_words * 64)
    moments = np.ascontiguousarray(moments)
    arrays, number = (moments.ctypes.data, words.ctypes.data, out.ctypes.data), number_of(instructions)

    def run(first: int, last: int) -> None:
        library.btests_flip(*arrays, n_strata, n_groups, n_words, first, last, number)

    map_ranges(run, n_words, moments.size * n_draws // 2, n_threads)
    return out[:n_draws]


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
