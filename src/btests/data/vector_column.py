"""Arrow columns of lists of one length as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests._coordinates import unlike
from btests._imports import arrow
from btests.data.source import Rows


def is_list(dtype: Any) -> bool:
    """Return whether cells of an arrow type are lists of numbers."""
    types = arrow().types
    is_any = types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype)
    return bool(is_any and (types.is_integer(dtype.value_type) or types.is_floating(dtype.value_type)))


def vector_rows(column: Any, width: int, where: str, first_row: int = 0) -> Rows:
    """Return an arrow array of lists as rows of numbers (n, width); raise unless all have that length.

    Parameters
    ----------
    column : pyarrow.Array
        The lists.
    width : int
        Their length.
    where : str
        The column in messages.
    first_row : int
        Rows before the first of these.
    """
    if column.null_count:
        row = first_row + column.is_null().index(True).as_py()
        raise ValueError(f"{where} has a missing cell in row {row}; drop or fill such rows first")
    lengths = arrow("pyarrow.compute").list_value_length(column).to_numpy(zero_copy_only=False)
    odd = np.flatnonzero(lengths != width)
    if odd.size:
        raise unlike(where, first_row + int(odd[0]), int(lengths[odd[0]]), width)
    found: Rows = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), width)
    return found
