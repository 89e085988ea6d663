"""Paths to sources."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from btests.data.arrow import ArrowSource
from btests.data.cell_checks import DamagedError, shortly
from btests.data.concat import Parts
from btests.data.csv import CsvSource
from btests.data.dask_source import DaskSource
from btests.data.npy import NpySource
from btests.data.protocol import Source

# Rows at a time where a part is read for no other reason than to see whether that works.
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
    path
        A .npy, .parquet, .arrow or .csv file, a folder of such parts, a pattern such as ``"day-*.parquet"``, or a list.
    columns
        The columns to read; None is all of the first part, and the others must have the same, in any order.
    skip_bad_parts
        Go on without the parts that are damaged, and name them in ``skipped``. Every part is then read once before
        anything else, because damage in the middle of a part is seen only there. Other columns, text, and missing cells
        are no damage, and refused.
    delimiter
        What separates the cells of text files; None is a tab for .tsv and .tab and a comma for others.
    """
    given = _given(path)
    several = not isinstance(path, (str, os.PathLike))
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got {columns!r}; write [{columns!r}]")
    wanted = None if columns is None else tuple(columns)
    files = [file for one in given for file in _files(one)]
    if len(files) == 1 and not several and files[0] == given[0]:
        return _with_rows(_open_file(files[0], wanted, delimiter))
    parts: list[Source] = []
    skipped: list[str] = []
    for file in files:
        try:
            part = _open_file(file, wanted, delimiter)
            if parts and part.names != parts[0].names and _alike(parts[0], part):
                # Columns are matched by name, in the order of the first part.
                part = _open_file(file, parts[0].names, delimiter)
            if skip_bad_parts:
                for _ in part.scan(_TRIAL_ROWS):
                    pass
        except DamagedError as error:
            if not skip_bad_parts:
                raise
            skipped.append(str(error))
            continue
        parts.append(part)
    name = given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1} more"
    if not parts:
        raise ValueError(f"{name!r} has no part that can be read: {skipped[0]}")
    return _with_rows(Parts(name, tuple(parts), tuple(skipped)))


def with_columns(source: Source, columns: Iterable[str]) -> Source:
    """Return a source that was opened, with these of its columns in this order."""
    if isinstance(source, Parts):
        parts = tuple(with_columns(part, columns) for part in source.parts)
        return replace(source, parts=parts)
    if not isinstance(source, (ArrowSource, CsvSource, DaskSource)):
        raise ValueError(f"the columns of {source.name!r} come in another order; open it with {list(columns)}")
    return replace(source, columns=tuple(columns))


def _given(path: object) -> list[str]:
    listed = path if isinstance(path, Iterable) and not isinstance(path, (str, bytes, Mapping)) else [path]
    given: list[str] = []
    for one in listed:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"a path, or a list of paths, is needed, got {one!r}")
        given.append(os.fspath(one))
    if not given:
        raise ValueError("there is no file in an empty list")
    return given


def _alike(first: Source, part: Source) -> bool:
    return first.names is not None and set(first.names) == set(part.names or ())


def _with_rows(source: Source) -> Source:
    if source.n_rows == 0:
        raise ValueError(f"{source.name!r} has no rows")
    return source


def _files(path: str) -> list[str]:
    """Return the files that a path means, or say that there are none, or that they cannot be looked for."""
    try:
        return _found(path)
    except OSError as error:  # such as a folder that is closed, or a name that is too long
        where = path if error.filename is None else os.fspath(error.filename)
        raise ValueError(f"{where!r} cannot be read: {error.strerror or shortly(error)}") from None


def _found(path: str) -> list[str]:
    found = Path(path)
    if not path:
        raise ValueError("there is no file ''")
    if found.is_dir():
        os.listdir(found)  # a closed folder says so here; what looks for files below takes it for an empty one
        inside = sorted(f for f in found.rglob("*") if f.is_file() and not re.match(r"[._]", f.name))
        # Notes beside the parts end with .txt as a rule; who means such a file names it.
        files = [str(f) for f in inside if _suffix(str(f)) in _OPENERS and ".txt" not in _suffix(str(f))]
        if not files:
            raise ValueError(f"the folder {path!r} holds no data files ({known_suffixes()})")
        return files
    if not found.exists() and glob.has_magic(path):
        files = [f for f in sorted(glob.glob(path, recursive=True)) if Path(f).is_file()]
        if not files:
            raise ValueError(f"no file matches {path!r}")
        return files
    if not found.exists():
        raise ValueError(f"there is no file {path!r}")
    return [path]


def _open_file(path: str, columns: Columns, delimiter: str | None) -> Source:
    opener = _OPENERS.get(_suffix(path))
    if opener is None:
        raise ValueError(f"{path!r} is of no known format by its name; known are {known_suffixes()}")
    try:
        return opener(path, columns, delimiter)
    except OSError as error:
        raise DamagedError(f"{path!r} cannot be read: {error.strerror or shortly(error)}") from None


def _suffix(path: str) -> str:
    suffixes = [s.lower() for s in Path(path).suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def known_suffixes() -> str:
    """Return the endings of file names that can be opened, as a list in words."""
    return ", ".join(_OPENERS)


def _open_npy(path: str, columns: Columns, _: str | None) -> Source:
    if columns is not None:
        raise ValueError(f"the columns of {path!r} have no names: a .npy file is read whole")
    return NpySource(path)


def _open_arrow(path: str, columns: Columns, _: str | None) -> Source:
    return ArrowSource(path, columns)


_OPENERS: dict[str, Callable[[str, Columns, str | None], Source]] = {
    ".npy": _open_npy,
    ".npz": _open_npy,
    ".parquet": _open_arrow,
    ".pq": _open_arrow,
    ".arrow": _open_arrow,
    ".arrows": _open_arrow,
    ".feather": _open_arrow,
    ".ipc": _open_arrow,
} | {suffix + packed: CsvSource for suffix in (".csv", ".tsv", ".tab", ".txt") for packed in ("", ".gz")}
