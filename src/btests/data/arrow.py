"""Numbers in the columns of a Parquet or Arrow (Feather) file, by row group or record batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests._memory import free_bytes
from btests.data.arrow_layout import refuse_large_batches
from btests.data.cell_checks import choose_columns, outcome
from btests.data.column_source import ColumnSource
from btests.data.columnar import Outline, batches, layout, outline
from btests.data.errors import DamagedError, reading
from btests.data.formats import LONGEST, refuse_misnamed
from btests.plan import Index


@dataclass(frozen=True, slots=True)
class ColumnarUnits:
    """Some columns of a Parquet or Arrow file, in its row groups or record batches.

    Attributes
    ----------
    path : str
        The file.
    kind : str
        Its layout.
    columns : tuple of str
        Names of the columns to read, in this order.
    outline : Outline
        Its units.
    """

    path: str
    kind: str
    columns: tuple[str, ...]
    outline: Outline

    @property
    def edges(self) -> Index:
        """Rows before each unit, and all rows: (n_units + 1,)."""
        return self.outline.edges

    def batches(self, unit: int, n_rows: int) -> Iterator[Any]:
        """Yield the record batches of a unit, at most ``n_rows`` rows at a time."""
        columns, units = list(self.columns), (unit, unit + 1)
        for batch in batches(self.path, self.kind, columns, units=units, n_rows=n_rows, starts=self.outline.starts):
            yield batch.select(columns)


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
    names = choose_columns(tuple(found.schema.names), columns, path)
    types = [found.schema.field(name).type for name in names]
    dtype = outcome([_number(type_, column, path) for column, type_ in zip(names, types, strict=True)])
    units = ColumnarUnits(path, kind, names, found)
    return ColumnSource(path, names, tuple(map(str, types)), dtype, len(names), units)


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
    raise ValueError(f"column {column!r} of {path!r} holds {kind}, not numbers; encode it or leave it out")
