"""Arrow tables of data frames, arrays and mappings of columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from btests._imports import arrow, narwhals
from btests._option_checks import as_array
from btests._text import brief, converting, shortly
from btests.data.record_batches import simplified
from btests.data.table import from_arrays


def table_of(source: Any, where: str) -> Any:
    """Return the arrow table of a data frame (pandas, polars, pyarrow, ...), an array or a mapping of columns."""
    pa = arrow()
    if isinstance(source, pa.Table):
        found = source
    elif isinstance(source, pa.RecordBatch):
        found = pa.Table.from_batches([source])
    elif isinstance(source, Mapping):
        columns = {str(k): _as_array(f"column {brief(k)} of {where}", v) for k, v in source.items()}
        found = _from_arrays(columns, where)
    elif isinstance(source, (np.ndarray, list, tuple)):
        found = _from_arrays({"": _as_array(where, source)}, where)
    else:
        found = _from_frame(source, where)
    names = [str(name) for name in found.column_names]
    if len(set(names)) < len(names):
        raise ValueError(doubles(names, where))
    if found.num_columns == 0 or found.num_rows == 0:
        raise ValueError(f"{where} has no {'columns' if found.num_columns == 0 else 'rows'}")
    return simplified(found.rename_columns(names))


def _from_arrays(columns: Mapping[str, Any], where: str) -> Any:
    try:
        return from_arrays(columns, where)
    except UnicodeEncodeError as error:  # of lone surrogates
        raise ValueError(f"{where} has a name that is no text: {shortly(error)}") from None


def _as_array(what: str, values: Any) -> np.ndarray[Any, Any]:
    """Return values as an array, with its mask if they have one: masked cells are missing."""
    return values if isinstance(values, np.ma.MaskedArray) else as_array(what, values)


def _from_frame(frame: Any, where: str) -> Any:
    nw, pa = narwhals(), arrow()
    try:
        found = nw.from_native(frame, allow_series=True)
    except TypeError:
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        raise ValueError(
            f"{where} must be a file, a data frame (pandas, polars, pyarrow) or an array, got {type(frame).__name__}"
        ) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in frame.columns]
        raise ValueError(doubles(names, where)) from None
    except nw.exceptions.NarwhalsError as error:
        raise ValueError(f"{where} cannot be read: {shortly(error)}") from None
    if isinstance(found, nw.LazyFrame):
        with converting(where):
            found = found.collect()
    if isinstance(found, nw.Series):
        found = found.to_frame()
    names = [str(name) for name in found.columns]
    if len(set(names)) < len(names):
        raise ValueError(doubles(names, where))
    native = nw.to_native(found)
    if hasattr(native, "reset_index"):  # the index of pandas would become a column
        found = nw.from_native(native.reset_index(drop=True))
    try:
        return found.to_arrow()
    except (pa.ArrowException, nw.exceptions.NarwhalsError) as error:
        # The first argument of the error is the message, a later one the column.
        column = re.search(r"for column (.+) with type", str(error))
        name = f"column {column[1]!r} of {where}" if column else f"a column of {where}"
        raise ValueError(f"{name} holds values of several types: {str(error.args[0]).splitlines()[0]}") from None
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{where} is no table: {shortly(error)}") from None


def doubles(names: list[str], where: str) -> str:
    """Return the message on names that several columns of a table have."""
    twice = sorted({name for name in names if names.count(name) > 1})
    return f"{where} has more than one column called {', '.join(map(repr, twice))}; rename one"
