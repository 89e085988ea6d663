"""Arrow tables, each with a name, from files, data frames, arrays and mappings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from btests.comparison.reading import read
from btests.data.array_table import from_arrays
from btests.data.optional import arrow, narwhals


@dataclass(frozen=True, slots=True)
class Loaded:
    """An arrow table and its name."""

    table: Any
    name: str


def load(source: Any, fallback: str, delimiter: str | None = None, skipped: list[str] | None = None) -> Loaded:
    """Return the table in a file, a data frame (pandas, polars, pyarrow, ...), an array or a mapping of columns.

    Damaged parts of a folder or pattern are excluded and named in ``skipped`` if it is given.
    """
    pa = arrow()
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return Loaded(read(path, delimiter, skipped), _called(path))
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return Loaded(_checked(source, fallback), fallback)
    if isinstance(source, Mapping):
        return Loaded(
            _checked(from_arrays({str(k): np.asarray(v) for k, v in source.items()}, fallback), fallback), fallback
        )
    if isinstance(source, (np.ndarray, list, tuple)):
        return Loaded(_checked(from_arrays({"": np.asarray(source)}, fallback), fallback), fallback)
    return Loaded(_checked(_from_frame(source, fallback), fallback), fallback)


def _called(path: str) -> str:
    """Return the name of a file or folder without its path, and a pattern unchanged."""
    if path == "-":
        return "standard input"
    return path if has_magic(path) and not Path(path).exists() else Path(path).name or path


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
        raise ValueError(_doubles(names, where)) from None
    except nw.exceptions.NarwhalsError as error:
        raise ValueError(f"{where} cannot be read: {str(error).splitlines()[0]}") from None
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if isinstance(found, nw.Series):
        found = found.to_frame()
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


def _checked(table: Any, where: str) -> Any:
    names = [str(name) for name in table.column_names]
    if len(set(names)) < len(names):
        raise ValueError(_doubles(names, where))
    if table.num_columns == 0 or table.num_rows == 0:
        raise ValueError(f"{where} has no {'columns' if table.num_columns == 0 else 'rows'}")
    return table.rename_columns(names)


def _doubles(names: list[str], where: str) -> str:
    twice = sorted({name for name in names if names.count(name) > 1})
    return f"{where} has more than one column called {', '.join(map(repr, twice))}"
