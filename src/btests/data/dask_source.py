"""Rows of the partitions of a dask array or data frame, computed on reading."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests._text import converting
from btests._validation import warn_of_huge_whole_numbers
from btests.data.cell_checks import check_cells, choose_columns, outcome
from btests.data.source import Rows
from btests.plan import Index

#: Function from delayed values of dask to their results.
Compute = Callable[[Sequence[Any]], list[Any]]


def compute_here(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of delayed values by the scheduler that dask has for them."""
    import dask

    with converting("a partition of the dask collection"):
        return list(dask.compute(*tasks))


def is_dask(value: object) -> bool:
    """Return whether this is a dask collection, without importing dask."""
    package = type(value).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and "dask" in sys.modules and hasattr(value, "__dask_graph__")


@dataclass(frozen=True, slots=True)
class Outline:
    """Columns and type of the rows of every partition; converts partitions to rows in any process.

    Attributes
    ----------
    name : str
        Name of the sample in messages.
    names : tuple of str or None
        Names of the columns of a data frame; None for an array.
    width : int
        Number of columns.
    dtype : numpy.dtype
        Type of the rows.
    """

    name: str
    names: tuple[str, ...] | None
    width: int
    dtype: np.dtype[Any]

    def rows(self, partition: Any, number: int, first_row: int) -> Rows:
        """Return the value of a partition as checked, contiguous rows (m, width)."""
        label = f"{self.name}, in partition {number},"
        columns = [partition] if self.names is None else [partition[c] for c in self.names]
        cells = [self._numbers(column, label) for column in columns]
        if not len(cells[0]):
            return np.empty((0, self.width), dtype=self.dtype)
        found = np.column_stack(cells) if len(cells) > 1 else cells[0].reshape(len(cells[0]), -1)
        if found.shape[1] != self.width:
            raise ValueError(f"{label} has {found.shape[1]} columns and not {self.width}")
        found = np.ascontiguousarray(found, dtype=self.dtype)
        return check_cells(found, label, self.names, lambda i: first_row + i)

    def _numbers(self, column: Any, label: str) -> Rows:
        if hasattr(column, "isna") and column.isna().any():  # missing cells of any type are NaN
            column = column.to_numpy(dtype=np.float64, na_value=np.nan)
        cells = np.asarray(column)
        if cells.dtype == object and cells.size:  # such as nullable whole numbers
            with suppress(TypeError, ValueError):
                cells = cells.astype(np.float64)
        if cells.dtype.kind not in "biuf" and cells.size:
            raise TypeError(f"{label} holds {cells.dtype}, not numbers; encode or drop such columns")
        warn_of_huge_whole_numbers(cells, label)
        return cells


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DaskSource:
    """Rows of a dask array (n, d) or (n,), or of a dask data frame of numbers; partitions are read as a whole.

    Unknown lengths of partitions are determined on construction, by computing all partitions once.

    Attributes
    ----------
    collection : dask.array.Array, dask.dataframe.DataFrame or dask.dataframe.Series
        The collection.
    name : str
        Name in messages.
    columns : tuple of str or None
        Names of the columns of a data frame, in this order; None is all of them.
    compute : callable
        Computes delayed values, such as on a cluster. It is an argument, since ``client.as_current()`` changes dask's
        settings for all threads, and does not restore them if two contexts overlap.
    outline : Outline
        Columns and type of the rows.
    """

    collection: Any
    name: str = "the dask collection"
    columns: tuple[str, ...] | None = None
    compute: Compute = compute_here
    outline: Outline = field(init=False)
    _edges: Index = field(init=False)

    def __post_init__(self) -> None:
        outline = _outline(self.collection, self.name, self.columns)
        object.__setattr__(self, "outline", outline)
        if not hasattr(self.collection, "chunks"):
            object.__setattr__(self, "collection", self._chosen(outline))
        elif self.collection.ndim == 2 and len(self.collection.chunks[1]) > 1:
            object.__setattr__(self, "collection", self.collection.rechunk({1: -1}))
        object.__setattr__(
            self, "_edges", np.append(0, np.cumsum(_lengths(self.collection, self.compute))).astype(np.int64)
        )

    def _chosen(self, outline: Outline) -> Any:
        return self.collection if outline.names is None else self.collection[list(outline.names)]

    def __repr__(self) -> str:
        # The name of a dask collection is a digest of its graph.
        name = getattr(self.collection, "name", None) if hasattr(self.collection, "chunks") else self.collection._name
        return f"DaskSource({name}, {self.n_rows} rows, {self.outline})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._edges[-1])

    @property
    def width(self) -> int:
        """Number of columns that are read."""
        return self.outline.width

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of those columns; None for an array."""
        return self.outline.names

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows: float32 or float64."""
        return self.outline.dtype

    @property
    def skipped(self) -> tuple[str, ...]:
        """No part was skipped."""
        return ()

    def units(self) -> Index:
        """Return the edges of the partitions: (n_partitions + 1,)."""
        return self._edges

    def partitions(self) -> list[Any]:
        """Return the partitions as delayed values of arrays (m, d) or data frames."""
        return list(np.ravel(np.asarray(self.collection.to_delayed(), dtype=object)))

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        return self.take(np.arange(first, last, dtype=np.int64))

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        cuts = np.searchsorted(rows, self._edges)
        partitions = self.partitions()
        for i in np.flatnonzero(np.diff(cuts)).tolist():
            inside = rows[cuts[i] : cuts[i + 1]] - self._edges[i]
            found[cuts[i] : cuts[i + 1]] = self._computed(partitions[i], i)[inside]
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        for i, partition in enumerate(self.partitions()):
            rows = self._computed(partition, i)
            for first in range(0, len(rows), n_rows):
                yield rows[first : first + n_rows]

    def _computed(self, partition: Any, number: int) -> Rows:
        rows = self.outline.rows(self.compute([partition])[0], number, int(self._edges[number]))
        if len(rows) != self._edges[number + 1] - self._edges[number]:
            raise ValueError(f"{self.name}, in partition {number}, has another number of rows than before")
        return rows


def _outline(collection: Any, name: str, columns: Sequence[str] | None) -> Outline:
    kind = type(collection).__name__  # not hasattr: a Delayed has every attribute
    if kind not in ("Array", "DataFrame", "Series"):
        raise TypeError(f"{name} must be a dask array or data frame, got a dask {kind}")
    if kind == "Array":
        return _outline_of_array(collection, name)
    if collection.ndim == 1:
        kinds, names = [collection.dtype], None
    else:
        present = tuple(collection.columns)
        names = choose_columns(present, None if columns is None else tuple(columns), name)
        kinds = [collection.dtypes[c] for c in names]
    for i, dtype in enumerate(kinds):
        if getattr(dtype, "kind", "O") not in "biuf":
            column = name if names is None else f"column {names[i]!r} of {name}"
            raise TypeError(f"{column} holds {dtype}, not numbers; encode or drop it")
    plain = [dtype if isinstance(dtype, np.dtype) else np.dtype(np.float64) for dtype in kinds]
    return Outline(name, names, len(kinds), outcome(plain))


def _outline_of_array(array: Any, name: str) -> Outline:
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have rows and columns, (n, d) or (n,), got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} holds {array.dtype}, not numbers; encode it as numbers")
    width = 1 if array.ndim == 1 else array.shape[1]
    if width == 0:
        raise ValueError(f"{name} has no columns")
    if np.isnan(width):
        raise ValueError(f"{name} has an unknown number of columns; {name}.compute_chunk_sizes() finds it out")
    return Outline(name, None, int(width), outcome([array.dtype]))


def _lengths(collection: Any, compute: Compute) -> list[int]:
    import dask

    if hasattr(collection, "chunks"):
        known = collection.chunks[0]
        if not np.isnan(known).any():
            return [int(n) for n in known]
    else:  # one column is enough, and the others of a Parquet file are not read
        collection = collection if collection.ndim == 1 else collection[collection.columns[0]]
    partitions = np.ravel(np.asarray(collection.to_delayed(), dtype=object))
    return [int(n) for n in compute([dask.delayed(len)(part) for part in partitions])]
