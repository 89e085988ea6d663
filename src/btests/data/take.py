"""Gather and scatter of rows, ten times as fast as fancy indexing for rows of a few cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from btests.data.source import Rows


def gather(rows: Rows, index: npt.NDArray[Any]) -> Rows:
    """Return ``rows[index]``: (n, d) and (m,) to (m, d)."""
    return np.take(rows, index, axis=0)


def scatter(rows: Rows, index: npt.NDArray[Any]) -> Rows:
    """Return the rows with row ``i`` moved to ``index[i]``, a permutation: (m, d) to (m, d)."""
    found = np.empty_like(rows)
    _whole(found)[index] = _whole(rows)
    return found


def put(rows: Rows, index: npt.NDArray[Any], found: Rows) -> None:
    """Write row ``i`` to ``found[index[i]]``: (m, d) and (m,) into (n, d)."""
    _whole(found)[index] = _whole(rows)


def _whole(rows: Rows) -> npt.NDArray[Any]:
    """Return a view with each row as one void item: (m, d) to (m,)."""
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]


def octets(part: npt.NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array as a view."""
    view: Any = part
    return memoryview(view).cast("B")
