"""Anything that holds a table to an arrow table with a name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btests.tables.need import arrow, narwhals


@dataclass(frozen=True, slots=True)
class Loaded:
    """An arrow table and what to call it."""

    table: Any
    name: str


def load(source: Any, fallback: str, delimiter: str | None = None) -> Loaded:
    """Return the table in a file, a data frame (pandas, polars, pyarrow, ...), an array or a mapping of columns."""
    pa = arrow()
    if isinstance(source, (str, os.PathLike)):
        from btests.tables.reading import read

        path = os.fspath(source)
        return Loaded(read(path, delimiter), "standard input" if path == "-" else Path(path).name or path)
    if isinstance(source, pa.Table):
        return Loaded(_checked(source, fallback), fallback)
    if isinstance(source, Mapping):
        return Loaded(
            _checked(from_arrays({str(k): np.asarray(v) for k, v in source.items()}, fallback), fallback), fallback
        )
    if isinstance(source, (np.ndarray, list, tuple)):
        return Loaded(_checked(from_arrays({"": np.asarray(source)}, fallback), fallback), fallback)
    return Loaded(_checked(_from_frame(source, fallback), fallback), fallback)


def _from_frame(frame: Any, where: str) -> Any:
    nw, pa = narwhals(), arrow()
    try:
        found = nw.from_native(frame, allow_series=True)
    except TypeError:
        raise ValueError(
            f"{where} must be a file, a data frame (pandas, polars, pyarrow) or an array, got {type(frame).__name__}"
        ) from None
    except nw.exceptions.NarwhalsError as error:
        raise ValueError(f"{where} cannot be read: {str(error).splitlines()[0]}") from None
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if isinstance(found, nw.Series):
        found = found.to_frame()
    native = nw.to_native(found)
    if hasattr(native, "reset_index"):  # the index of pandas is no column, and would become one
        found = nw.from_native(native.reset_index(drop=True))
    try:
        return found.to_arrow()
    except (pa.ArrowException, nw.exceptions.NarwhalsError) as error:
        raise ValueError(f"{where} has a column of mixed types: {str(error).splitlines()[0]}") from None


def _checked(table: Any, where: str) -> Any:
    names = [str(name) for name in table.column_names]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ValueError(f"{where} has more than one column called {', '.join(map(repr, doubles))}")
    if table.num_columns == 0 or table.num_rows == 0:
        raise ValueError(f"{where} has no {'columns' if table.num_columns == 0 else 'rows'}")
    return table.rename_columns(names)


def from_arrays(arrays: Mapping[str, np.ndarray[Any, Any]], where: str) -> Any:
    """Return named arrays as a table: vectors are columns, the columns of a matrix are numbered."""
    pa = arrow()
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
    try:
        return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{where!r} has a column that is no column of a table: {str(error).splitlines()[0]}") from None
