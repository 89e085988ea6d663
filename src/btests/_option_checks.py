"""Checks of options, and conversion of objects of users, whatever they are."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Mapping
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np

from btests._text import brief, converting

# Types of names and of cells.
_SCALARS = (str, int, float, np.str_, np.integer, np.floating)


def check_dtype(dtype: object) -> None:
    """Raise unless this names the type of the arithmetic."""
    if not isinstance(dtype, (str, np.dtype)) or dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {brief(dtype)}")


def check_flag(name: str, value: object) -> bool:
    """Return a flag, or raise unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {brief(value)}")
    return bool(value)


def check_delimiter(delimiter: object) -> str | None:
    """Return the delimiter of text files, or None; raise unless it is one character that can be one."""
    if delimiter is None:
        return None
    if not isinstance(delimiter, str):
        raise TypeError(f"delimiter must be one ASCII character and no quote, or None, got {brief(delimiter)}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ValueError(f"delimiter must be one ASCII character and no quote, or None, got {brief(delimiter)}")
    return str(delimiter)


def check_decimal(decimal: object) -> str | None:
    """Return the mark before the fraction of a number, or None; raise unless it is a comma or a point."""
    if decimal is not None and not (isinstance(decimal, str) and decimal in (",", ".")):
        raise ValueError(f"decimal must be ',' or '.', or None, got {brief(decimal)}")
    return None if decimal is None else str(decimal)


def check_encoding(encoding: object) -> str | None:
    """Return the name of an encoding of text, as Python has it, or None; raise if there is none of that name."""
    if encoding is None:
        return None
    try:
        "a".encode(encoding).decode(encoding)  # type: ignore[arg-type]
        found = codecs.lookup(encoding).name  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        such = "such as 'latin-1' or 'utf-16'"
        raise ValueError(f"encoding must be the name of an encoding, {such}, or None, got {brief(encoding)}") from None
    return {"utf-8": "utf-8-sig", "iso8859-1": "latin-1"}.get(found, found)


def is_one_of(value: object, *options: str) -> bool:
    """Whether this is one of some texts; arrays and frames would be compared cell by cell."""
    return isinstance(value, str) and value in options


def is_finite(value: object) -> bool:
    """Whether this is a number that is finite as a float."""
    value = value.item() if isinstance(value, np.generic) else value  # numpy casts the bound to float32
    return isinstance(value, Real) and not isinstance(value, bool) and bool(abs(value) <= sys.float_info.max)  # type: ignore[operator]


def check_name(name: str, value: object) -> None:
    """Raise unless this is the name of a column, or None."""
    if value is not None and not isinstance(value, _SCALARS):
        raise TypeError(f"{name} must be the name of a column, or None, got {brief(value)}")


def check_texts(name: str, values: object) -> tuple[str, ...]:
    """Return names or cells as a tuple of texts: one of them, several, or none for None."""
    if values is None:
        return ()
    listed: list[Any] = [values]
    if not isinstance(values, _SCALARS):
        if not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping)) or hasattr(values, "columns"):
            raise TypeError(f"{name} must be a text or a list of texts, got {brief(values)}")
        with converting(name):
            listed = list(values)
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, _SCALARS):
            raise TypeError(f"{name} must be a text or a list of texts, got {brief(one)}")
    return tuple(map(str, listed))


def is_data(value: object) -> bool:
    """Whether this is an array, a data frame or a module: an object with many methods, and none of ours."""
    marks = ("__array__", "__arrow_c_stream__", "__dask_graph__", "collect_schema")
    return isinstance(value, ModuleType) or any(hasattr(type(value), mark) for mark in marks)


def as_array(what: str, value: object) -> np.ndarray[Any, Any]:
    """Return an object of the user as an array, or raise an error that names it."""
    with converting(what):
        return np.asarray(value)
