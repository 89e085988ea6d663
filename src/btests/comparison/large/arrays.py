"""Rows of a .npy file as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests.comparison.delimited import shortly
from btests.comparison.sources import from_arrays
from btests.data.cell_checks import DamagedError


def array_rows(path: str, first: int, last: int) -> tuple[int, Any]:
    """Return how many rows an array has, and some of them as a table."""
    try:
        # A map for each batch: what it has touched leaves memory with it.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise ValueError(f"{path!r} holds Python objects, which are never loaded; save plain numbers") from None
        raise DamagedError(f"{path!r} is not a readable numpy file, or it is cut off: {shortly(error)}") from None
    return len(array), from_arrays({"": np.array(array[first:last])}, path)
