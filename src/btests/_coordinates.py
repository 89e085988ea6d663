"""Columns of vectors, such as embeddings, as one column for each of their coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from btests._text import brief, converting

#: Coordinates of a vector at most.
MOST_COORDINATES = 100_000

_REMEDY = "a column of vectors has one length: drop it, or cut or pad its lists"


def coordinate_names(name: object, width: int) -> list[str]:
    """Return the names of the coordinates of a column of vectors.

    Examples
    --------
    >>> coordinate_names("v", 3)
    ['v[0]', 'v[1]', 'v[2]']
    """
    return [f"{name}[{j}]" for j in range(width)]


def check_width(where: str, width: int) -> int:
    """Return the length of the vectors of a column; raise where there is nothing to compare, or too much."""
    if not 0 < width <= MOST_COORDINATES:
        raise ValueError(f"{where} holds lists of {width} numbers; vectors have 1 to {MOST_COORDINATES}")
    return width


def unlike(where: str, row: int, length: int, width: int) -> ValueError:
    """Return the error for a list of another length than that of the first row."""
    return ValueError(f"{where} holds a list of {length} numbers in row {row}, and one of {width} in row 0; {_REMEDY}")


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateFrame:
    """Data frame whose columns of vectors are columns of their coordinates.

    Attributes
    ----------
    cells : mapping of str to column
        Columns by their names; those of coordinates are arrays (n,).
    """

    cells: Mapping[Any, Any]

    def __len__(self) -> int:
        return len(next(iter(self.cells.values())))

    def __getitem__(self, name: Any) -> Any:
        return self.cells[name]

    @property
    def columns(self) -> list[Any]:
        """Names of the columns."""
        return list(self.cells)

    def select(self, names: Sequence[Any]) -> CoordinateFrame:
        """Return some of the columns."""
        return CoordinateFrame({name: self.cells[name] for name in names})


def with_coordinates(name: str, frame: Any, names: Sequence[Any]) -> Any:
    """Return a data frame with a column for each coordinate of its columns of vectors; itself if it has none.

    Parameters
    ----------
    name : str
        Name of the frame in messages.
    frame : data frame
        A frame of pandas, polars, pyarrow, ...
    names : sequence
        Names of its columns.
    """
    given = {}
    for column in names:
        with converting(f"column {brief(column)} of {name}"):
            given[column] = frame[column]
    vectors = [column for column in names if is_vectors(given[column])]
    if not vectors:
        return frame
    cells: dict[Any, Any] = {}
    for column in names:
        if column not in vectors:
            cells[column] = given[column]
            continue
        rows = stacked(f"column {brief(column)} of {name}", given[column])
        for own, values in zip(coordinate_names(column, rows.shape[1]), rows.T, strict=True):
            if own in cells or own in names:
                raise ValueError(
                    f"{name} has the columns {brief(column)}, a vector, and {brief(own)}; rename one of them"
                )
            cells[own] = values
    return CoordinateFrame(cells)


def is_vectors(column: Any) -> bool:
    """Return whether the first cell of a column is a list or an array of one dimension."""
    try:
        first = np.asarray(column[:1])
    except Exception:  # of an object of the user, which is read, and refused, later
        return False
    return len(first) == 1 and (first.ndim == 2 or (first.dtype == object and _is_vector(first[0])))


def _is_vector(cell: object) -> bool:
    return isinstance(cell, (list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim == 1)


def stacked(where: str, column: Any) -> npt.NDArray[Any]:
    """Return the vectors of a column as rows of numbers (n, d); raise unless all have one length."""
    cells = np.asarray(column)
    if cells.dtype == object:
        first = check_width(where, len(cells[0]))
        for row, cell in enumerate(cells):
            if not _is_vector(cell):
                raise ValueError(f"{where} has a missing cell in row {row}; drop or fill such rows first")
            if len(cell) != first:
                raise unlike(where, row, len(cell), first)
        try:
            cells = np.array(cells.tolist() if isinstance(cells[0], (list, tuple)) else list(cells))
        except ValueError:  # lists of lists of several lengths
            cells = np.empty((0, 0), dtype=object)
    if cells.dtype.kind not in "biuf" or cells.ndim != 2:
        raise TypeError(f"{where} holds lists of other things than numbers; encode or drop it")
    check_width(where, cells.shape[1])
    return cells
