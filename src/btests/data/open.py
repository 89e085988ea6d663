"""Sources of rows from paths: one file, or the parts of a sample one after another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from btests._text import brief
from btests.data.arrow import open_arrow
from btests.data.cell_checks import check_same_columns
from btests.data.column_source import ColumnSource
from btests.data.csv import open_csv
from btests.data.dask_source import DaskSource
from btests.data.errors import good_part, reading
from btests.data.files import NUMBERS
from btests.data.images import open_images
from btests.data.npy import open_npy
from btests.data.remote import CopyFolder, fetched, is_url, naming_addresses, shown
from btests.data.source import Rows, Source
from btests.plan import Index

# Rows of a unit of parts without units of their own, such as .npy files, where other parts have units.
_UNIT_ROWS = 2**20


@dataclass(frozen=True, slots=True)
class Parts:
    """Concatenation of the rows of several parts with the same columns.

    Attributes
    ----------
    name : str
        Name in messages.
    parts : tuple of Source
        At least one.
    skipped : tuple of str
        Messages of damaged parts that were excluded.
    copies : CopyFolder or None
        Copies of files at addresses, which go with the source.
    """

    name: str
    parts: tuple[Source, ...]
    skipped: tuple[str, ...] = ()
    copies: CopyFolder | None = field(default=None, repr=False, compare=False)
    _edges: Index = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        first = self.parts[0]
        for part in self.parts[1:]:
            _refuse_unlike(first, part)
        counts = np.cumsum([part.n_rows for part in self.parts])
        object.__setattr__(self, "_edges", np.append(0, counts).astype(np.int64))

    @property
    def n_rows(self) -> int:
        """Number of rows in all parts."""
        return int(self._edges[-1])

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        return self.parts[0].width

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.parts[0].names

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows."""
        return self.parts[0].dtype

    def units(self) -> Index | None:
        """Return the edges of the units of all parts, (n_units + 1,), or None."""
        edges = [part.units() for part in self.parts]
        if all(e is None for e in edges):
            return None
        starts = []
        for part, e, start in zip(self.parts, edges, self._edges[:-1], strict=True):
            starts.append(start + (np.arange(0, part.n_rows, _UNIT_ROWS) if e is None else e[:-1]))
        return np.append(np.concatenate(starts), self.n_rows).astype(np.int64)

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        found = np.empty((last - first, self.width), dtype=self.dtype)
        for i, start, end in self._touched(first, last):
            low, high = max(first, start), min(last, end)
            found[low - first : high - first] = self.parts[i].read(low - start, high - start)
        return found

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        cuts = np.searchsorted(rows, self._edges)
        for i in np.flatnonzero(np.diff(cuts)).tolist():
            found[cuts[i] : cuts[i + 1]] = self.parts[i].take(rows[cuts[i] : cuts[i + 1]] - self._edges[i])
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        for part in self.parts:
            yield from part.scan(n_rows)

    def _touched(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        i = int(np.searchsorted(self._edges, first, side="right")) - 1
        while first < last and self._edges[i] < last:
            yield i, int(self._edges[i]), int(self._edges[i + 1])
            i += 1


def _refuse_unlike(first: Source, part: Source) -> None:
    both = f"the parts {first.name!r} and {part.name!r}"
    if (first.names is None) != (part.names is None) or first.width != part.width:
        raise ValueError(f"{both} have {_columns(first)} and {_columns(part)}; parts must have the same")
    if first.names != part.names:
        check_same_columns(first.name, first.names or (), part.name, part.names or ())
    types, others = getattr(first, "types", None), getattr(part, "types", None)
    if types is not None and others is not None and types != others and first.names is not None:
        j = next(j for j in range(first.width) if types[j] != others[j])
        raise ValueError(f"{both} hold column {first.names[j]!r} as {types[j]} and as {others[j]}; make it one type")
    if first.dtype != part.dtype:
        raise ValueError(f"{both} hold {first.dtype} and {part.dtype}; make it one type")


def _columns(source: Source) -> str:
    count = "1 column" if source.width == 1 else f"{source.width} columns"
    return count if source.names is not None else f"{count} without names"


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
        Files may be at addresses, such as ``"https://host/a.parquet"``; they are copied to a temporary folder.
    columns : iterable of str or None
        The columns to read; None is all of the first part. The other parts must have the same, in any order.
    skip_bad_parts : bool
        Skip damaged parts, and name them in ``skipped``. Every part is then read once when it is opened, because damage
        in the middle of a part is found only by reading it. Other columns, text and missing cells are not damage, but
        errors.
    delimiter : str or None
        Separates the cells of text files; None is a tab for .tsv and .tab and a comma for others. Beside ``";"``
        numbers may have decimal commas.

    Returns
    -------
    Source
        Rows of float32 or float64.
    """
    given = _given(path)
    if any(map(is_url, given)):
        return _open_copies(given, columns, skip_bad_parts=skip_bad_parts, delimiter=delimiter)
    several = not isinstance(path, (str, os.PathLike))
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got {brief(columns)}; write [{columns!r}]")
    wanted = None if columns is None else tuple(columns)
    files = [file for one in given for file in NUMBERS.files(one)]
    if NUMBERS.are_images(files):
        if wanted is not None:
            raise ValueError(f"the pixels of {given[0]!r} have no names: images are read whole")
        return open_images(given[0], files)
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


def _open_copies(given: list[str], columns: Iterable[str] | None, **options: Any) -> Parts:
    """Return the source of files some of which are at addresses, through copies of these."""
    folder = CopyFolder.make()
    with naming_addresses():
        paths = [fetched(one, folder.path) if is_url(one) else one for one in given]
        found = open_source(paths if len(paths) > 1 else paths[0], columns, **options)
    return Parts(shown(found.name), (found,), tuple(map(shown, found.skipped)), folder)


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
    form = NUMBERS.of(path)
    if form not in _OPENERS:
        raise ValueError(f"{path!r} is an image, and other parts are none; name the images by themselves")
    opener = _OPENERS[form]
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
