"""Conversion of arrow columns to rows of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests.data.cell_checks import check_cells, warn_of_huge_whole_numbers
from btests.data.optional import arrow
from btests.data.protocol import Rows


def to_rows(columns: list[Any], names: tuple[str, ...] | None, name: str, first_row: int, dtype: np.dtype[Any]) -> Rows:
    """Return arrow columns of numbers or booleans as rows (m, d); raise at missing and infinite cells."""
    found = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for j, cells in enumerate(columns):
        start = 0
        for chunk in getattr(cells, "chunks", [cells]):
            found[start : start + len(chunk), j] = _cells(chunk, names[j] if names else j, name, first_row + start)
            start += len(chunk)
    return check_cells(found, repr(name), names, lambda i: first_row + i)


def _cells(chunk: Any, column: str | int, name: str, first_row: int) -> Rows:
    if chunk.null_count:
        row = first_row + chunk.is_null().index(True).as_py()
        raise ValueError(f"{name!r} has a missing cell in row {row}, column {column!r}; drop or fill such rows first")
    is_decimal = arrow("pyarrow").types.is_decimal(chunk.type)
    cells: Rows = (chunk.cast("float64") if is_decimal else chunk).to_numpy(zero_copy_only=False)
    warn_of_huge_whole_numbers(cells, f"column {column!r} of {name!r}")
    return cells
