"""Numbers in the columns of a Parquet or Arrow (Feather) file, by row group or record batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btests._coordinates import check_width, coordinate_names
from btests._imports import arrow
from btests._memory import free_bytes
from btests._text import ENCODING
from btests.data.arrow_layout import refuse_large_batches
from btests.data.cell_checks import choose_columns, outcome
from btests.data.column_source import ColumnSource
from btests.data.columnar import FileLayout, batches, layout, outline
from btests.data.errors import DamagedError, reading
from btests.data.formats import LONGEST, refuse_misnamed
from btests.data.record_batches import is_list, vector_rows
from btests.plan import Index

# Numbers of a record batch of vectors at most, unless one row has more.
_CELLS = 2**22


@dataclass(frozen=True, slots=True)
class ColumnarUnits:
    """Some columns of a Parquet or Arrow file, in its row groups or record batches.

    Attributes
    ----------
    path : str
        The file.
    kind : str
        Its layout.
    places : tuple of (str, int or None)
        Columns to read, in this order: their names, and the coordinate of a column of vectors.
    widths : mapping of str to int
        Lengths of the vectors, by the names of their columns.
    outline : FileLayout
        Its units.
    """

    path: str
    kind: str
    places: tuple[tuple[str, int | None], ...]
    widths: Mapping[str, int]
    outline: FileLayout

    @property
    def edges(self) -> Index:
        """Rows before each unit, and all rows: (n_units + 1,)."""
        return self.outline.edges

    def batches(self, unit: int, n_rows: int) -> Iterator[Any]:
        """Yield the record batches of a unit, at most ``n_rows`` rows at a time."""
        columns, units = list(dict.fromkeys(name for name, _ in self.places)), (unit, unit + 1)
        if not self.widths:
            for batch in batches(self.path, self.kind, columns, units=units, n_rows=n_rows, starts=self.outline.starts):
                yield batch.select(columns)
            return
        done = int(self.edges[unit])
        n_rows = max(1, min(n_rows, _CELLS // len(self.places)))
        for batch in batches(self.path, self.kind, columns, units=units, n_rows=n_rows, starts=self.outline.starts):
            yield self._coordinates(batch, done)
            done += batch.num_rows

    def _coordinates(self, batch: Any, first_row: int) -> Any:
        """Return a record batch with a column for each coordinate of those of vectors."""
        pa = arrow()
        rows = {}
        for name, width in self.widths.items():
            rows[name] = vector_rows(batch[name], width, f"column {name!r} of {self.path!r}", first_row)
        columns = [batch[name] if j is None else pa.array(rows[name][:, j]) for name, j in self.places]
        return pa.record_batch(columns, names=[str(i) for i in range(len(columns))])


def open_arrow(path: str | os.PathLike[str], columns: tuple[str, ...] | None = None) -> ColumnSource:
    """Return the source of a Parquet or Arrow file, recognised by its first bytes.

    Parameters
    ----------
    path : str or path-like
        The file.
    columns : tuple of str or None
        Names of the columns to read, in this order; None is all of them.
    """
    path = os.fspath(path)
    kind = _layout(path)
    if kind in ("file", "stream"):
        refuse_large_batches(path, path, kind, most_batch=free_bytes() // 2)
    found = outline(path, kind)
    widths = _widths(path, kind, found, columns)
    present = [own for name in found.schema.names for own in _coordinates(name, widths)]
    wanted = None if columns is None else tuple(own for name in columns for own in _coordinates(name, widths))
    places = {own: (name, j) for name in found.schema.names for own, j in _coordinates(name, widths).items()}
    names = choose_columns(tuple(present), wanted, path)
    read = tuple(places[name] for name in names)
    types = [found.schema.field(column).type for column, _ in read]
    types = [type_.value_type if is_list(type_) else type_ for type_ in types]
    dtype = outcome([_number(type_, column, path) for (column, _), type_ in zip(read, types, strict=True)])
    units = ColumnarUnits(path, kind, read, {column: widths[column] for column, j in read if j is not None}, found)
    return ColumnSource(path, names, tuple(map(str, types)), dtype, len(names), units)


def _coordinates(name: str, widths: Mapping[str, int]) -> dict[str, int | None]:
    """Return the coordinates of a column of vectors by their names, or the column itself."""
    if name not in widths:
        return {name: None}
    return {own: j for j, own in enumerate(coordinate_names(name, widths[name]))}


def _widths(path: str, kind: str, found: FileLayout, columns: tuple[str, ...] | None) -> dict[str, int]:
    """Return the lengths of the vectors of those columns that are read and hold some, by the first row."""
    named = None if columns is None else {*columns, *(name.rpartition("[")[0] for name in columns)}
    vectors = [own.name for own in found.schema if is_list(own.type) and (named is None or own.name in named)]
    if not vectors or not found.edges[-1]:
        return {}
    unit = int(np.flatnonzero(np.diff(found.edges))[0])
    first = next(batches(path, kind, vectors, units=(unit, unit + 1), n_rows=1, starts=found.starts))
    widths = {}
    for name in vectors:
        where = f"column {name!r} of {path!r}"
        if not first[name][0].is_valid:
            raise ValueError(f"{where} has a missing cell in row 0; drop or fill such rows first")
        widths[name] = check_width(where, len(first[name][0]))
    return widths


def _layout(path: str) -> str:
    with reading(path), Path(path).open("rb") as file:
        start = file.read(LONGEST)
    if not start:
        raise DamagedError(f"{path!r} is empty")
    found = layout(start)
    if found is None:
        refuse_misnamed(start, path, "neither a Parquet nor an Arrow file,")
        raise DamagedError(f"{path!r} is neither a Parquet nor an Arrow file: it does not begin as one")
    return found


def _number(kind: Any, column: str, path: str) -> np.dtype[Any]:
    types = arrow("pyarrow").types
    if types.is_boolean(kind) or types.is_decimal(kind):
        return np.dtype(np.float64)
    if types.is_integer(kind) or types.is_floating(kind):
        found: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return found
    raise ValueError(f"column {column!r} of {path!r} holds {kind}, not numbers; encode it or leave it out{ENCODING}")
