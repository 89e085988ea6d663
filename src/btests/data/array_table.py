"""Numpy arrays, and .npy and .npz files, as tables."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from btests.data.errors import DamagedError, shortly
from btests.data.optional import arrow


def from_arrays(arrays: Mapping[str, np.ndarray[Any, Any]], where: str) -> Any:
    """Return named arrays as a table: vectors are columns, the columns of a matrix are numbered."""
    columns: dict[str, Any] = {}
    for name, array in arrays.items():
        if array.dtype.names:
            columns.update({field: array[field] for field in array.dtype.names})
        elif array.ndim == 2:
            columns.update({f"{name or 'x'}{j}": array[:, j] for j in range(array.shape[1])})
        elif array.ndim == 1:
            columns[name or "x0"] = array
        else:
            raise ValueError(f"{where!r} has an array of {array.ndim} dimensions; rows and columns are two")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"{where!r} has arrays of different lengths, {min(lengths)} to {max(lengths)}")
    return arrow().table({name: _from_array(name, column, where) for name, column in columns.items()})


def _from_array(name: str, column: np.ndarray[Any, Any], where: str) -> Any:
    pa = arrow()
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        what = str(error).splitlines()[0]
        raise ValueError(f"{where!r} has a column, {name!r}, that is no column of a table: {what}") from None


def load_arrays(file: Any, where: str, *, mapped: bool = False) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays in a .npy or .npz file by their names; that of a .npy file has none.

    Parameters
    ----------
    file : str or file object
        The file.
    where : str
        Its name in messages.
    mapped : bool
        Whether to map a .npy file to memory; it must then be a path.
    """
    try:
        found = np.load(file, mmap_mode="r" if mapped else None, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return {"": found}
        with found:
            return {name: found[name] for name in found.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, KeyError) as error:
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise ValueError(f"{where!r} holds Python objects, which are never loaded; save plain numbers") from None
        raise DamagedError(f"{where!r} is not a readable numpy file, or it is cut off: {shortly(error)}") from None
