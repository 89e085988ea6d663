"""Sign flips of moments by the compiled loops; ``btests.symmetries.swap_groups`` has the numpy version."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from btests._core.constants import MAX_SIGNS
from btests._core.library import loaded, number_of
from btests._core.threads import map_ranges
from btests.plan import Array


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
