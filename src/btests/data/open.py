"""Sources of rows from paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from btests._text import brief
from btests.data.arrow import open_arrow
from btests.data.column_source import ColumnSource
from btests.data.concat import Parts
from btests.data.csv import open_csv
from btests.data.dask_source import DaskSource
from btests.data.errors import good_part, reading
from btests.data.files import NUMBERS
from btests.data.npy import open_npy
from btests.data.source import Source

# Rows at a time where a part is read once to find damage.
_TRIAL_ROWS = 2**17

Columns = tuple[str, ...] | None


def open_source(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    columns: Iterable[str] | None = None,
    *,
    skip_bad_parts: bool = False,
    delimiter: str | None = None,
) -> Source:
    """Return the rows in a file, in the parts that a folder or a pattern holds, or in a list of them, as one source.

    Parameters
    ----------
    path : str, path-like or iterable of them
        A .npy, .parquet, .arrow or .csv file, a folder of such parts, a pattern such as ``"day-*.parquet"``, or a list.
    columns : iterable of str or None
        The columns to read; None is all of the first part. The other parts must have the same, in any order.
    skip_bad_parts : bool
        Skip damaged parts, and name them in ``skipped``. Every part is then read once when it is opened, because damage
        in the middle of a part is found only by reading it. Other columns, text and missing cells are not damage, but
        errors.
    delimiter : str or None
        Separates the cells of text files; None is a tab for .tsv and .tab and a comma for others.

    Returns
    -------
    Source
        Rows of float32 or float64.
    """
    given = _given(path)
    several = not isinstance(path, (str, os.PathLike))
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got {brief(columns)}; write [{columns!r}]")
    wanted = None if columns is None else tuple(columns)
    files = [file for one in given for file in NUMBERS.files(one)]
    if len(files) == 1 and not several and files[0] == given[0]:
        return _with_rows(_open_file(files[0], wanted, delimiter))
    parts: list[Source] = []
    skipped: list[str] = []
    for file in files:
        opening = partial(_open_part, file, wanted, delimiter, parts[0] if parts else None, trial=skip_bad_parts)
        part = good_part(opening, skipped if skip_bad_parts else None)
        if part is not None:
            parts.append(part)
    name = given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1} more"
    if not parts:
        raise ValueError(f"{name!r} has no part that can be read: {skipped[0]}")
    return _with_rows(Parts(name, tuple(parts), tuple(skipped)))


def with_columns(source: Source, columns: Iterable[str]) -> Source:
    """Return a source with these of its columns, in this order."""
    if isinstance(source, Parts):
        parts = tuple(with_columns(part, columns) for part in source.parts)
        return replace(source, parts=parts)
    if isinstance(source, DaskSource):
        return replace(source, columns=tuple(columns))
    if isinstance(source, ColumnSource):
        return _open_file(source.path, tuple(columns), source.delimiter)
    raise ValueError(f"the columns of {source.name!r} come in another order; open it with {list(columns)}")


def _given(path: object) -> list[str]:
    listed = path if isinstance(path, Iterable) and not isinstance(path, (str, bytes, Mapping)) else [path]
    given: list[str] = []
    for one in listed:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"a path, or a list of paths, is needed, got {brief(one)}")
        given.append(os.fspath(one))
    if not given:
        raise ValueError("there is no file in an empty list")
    return given


def _open_part(path: str, columns: Columns, delimiter: str | None, first: Source | None, *, trial: bool) -> Source:
    """Return one of several parts, with its columns in the order of the first part."""
    part = _open_file(path, columns, delimiter)
    names = None if first is None else first.names
    if names and part.names and part.names != names and set(part.names) == set(names):
        part = _open_file(path, names, delimiter)
    if trial:
        for _ in part.scan(_TRIAL_ROWS):
            pass
    return part


def _with_rows(source: Source) -> Source:
    if source.n_rows == 0:
        raise ValueError(f"{source.name!r} has no rows")
    return source


def _open_file(path: str, columns: Columns, delimiter: str | None) -> Source:
    opener = _OPENERS[NUMBERS.of(path)]
    with reading(path):
        return opener(path, columns, delimiter)


def _open_npy(path: str, columns: Columns, _: str | None) -> Source:
    if columns is not None:
        raise ValueError(f"the columns of {path!r} have no names: a .npy file is read whole")
    return open_npy(path)


def _open_columnar(path: str, columns: Columns, _: str | None) -> Source:
    return open_arrow(path, columns)


_OPENERS: dict[str, Callable[[str, Columns, str | None], Source]] = {
    "npy": _open_npy,
    "npz": _open_npy,
    "parquet": _open_columnar,
    "arrow": _open_columnar,
    "csv": open_csv,
    "tsv": open_csv,
}
