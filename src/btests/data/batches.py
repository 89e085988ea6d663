"""Rows from iterators of batches: arrays, tensors, data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from btests._validation import column_names, warn_of_huge_whole_numbers
from btests.data.cell_checks import check_cells, outcome
from btests.data.row_permutation import BUFFER_ROWS
from btests.data.source import Rows

#: Bytes of the buffer, for each sample, that shuffles the rows of batches.
BUFFER_BYTES = 2**26


def rows_of(batches: Iterable[Any], name: str = "x") -> Iterator[Rows]:
    """Yield every batch as rows (m, d) of one type, float32 or float64, all of one width.

    A batch is an array, a tensor (such as torch's), a list of rows, a data frame (columns are matched by name to those
    of the first), or a tuple or list whose first entry is one of these, as a DataLoader yields. Vectors are refused:
    they may be a row, or rows of one column. Exceptions of the iterator are propagated with a note that counts the
    batches and rows so far.

    Parameters
    ----------
    batches : iterable
        Batches of rows.
    name : str
        Name in messages.
    """
    try:
        source = iter(batches)
    except TypeError:
        raise TypeError(f"{name} must be an iterator of batches, got {type(batches).__name__}") from None
    first: Rows | None = None
    names: list[str] | None = None
    number = n_rows = 0
    while True:
        try:
            batch = next(source)
        except StopIteration:
            return
        except Exception as error:
            error.add_note(f"{name} failed after {number} batches with {n_rows} rows")
            raise
        label = f"batch {number} of {name}"
        batch = _batch_itself(batch, label)
        names = _column_names(batch, label) if number == 0 else names
        rows = _rows(batch, names, label)
        number += 1
        if not len(rows):
            continue
        if first is None:
            first = rows[:1]
        if rows.shape[1] != first.shape[1]:
            raise ValueError(
                f"{label} has {_columns(rows.shape[1])} and those before it {first.shape[1]}; all must have the same"
            )
        if rows.dtype != first.dtype:
            raise ValueError(f"{label} comes as {rows.dtype} and those before it as {first.dtype}; make them one type")
        n_rows += len(rows)
        yield rows


def shuffled(
    batches: Iterable[Any], buffer_rows: int, seed: int, *, stream: int = 1, name: str = "x"
) -> Iterator[Rows]:
    """Yield the same rows in a random order, with at most 1.5 ``buffer_rows`` rows in memory.

    A full buffer is shuffled, one half of it is yielded, and the other half is mixed with the rows that follow. The
    result depends on the rows and their order, not on the sizes of batches. Rows that fit into the buffer are shuffled
    exactly. In longer streams a row seldom moves far: sorted data remain sorted on large scales.

    Parameters
    ----------
    batches : iterable
        Batches of rows, as in `rows_of`.
    buffer_rows : int
        Rows of the buffer.
    seed, stream : int
        Seed of the random numbers; streams are independent.
    name : str
        Name in messages.
    """
    if buffer_rows < 1:
        raise ValueError(f"buffer_rows must be at least 1, got {buffer_rows}")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, stream])))
    buffer: Rows | None = None
    filled = 0
    for rows in rows_of(batches, name):
        if buffer is None:
            buffer = np.empty((buffer_rows, rows.shape[1]), dtype=rows.dtype)
        while len(rows):
            count = min(len(rows), buffer_rows - filled)
            buffer[filled : filled + count] = rows[:count]
            rows, filled = rows[count:], filled + count  # noqa: PLW2901
            if filled == buffer_rows:
                order = rng.permutation(buffer_rows)
                leaving = -(-buffer_rows // 2)
                yield np.take(buffer, order[:leaving], axis=0)
                filled = buffer_rows - leaving
                buffer[:filled] = np.take(buffer, order[leaving:], axis=0)
    if buffer is not None and filled:
        yield np.take(buffer, rng.permutation(filled), axis=0)


@dataclass(slots=True)
class Batches:
    """Checked batches of one sample, in their order or shuffled in a buffer.

    Attributes
    ----------
    batches : iterable
        Of arrays, tensors or data frames.
    label : str
        Name of the sample in messages.
    key : (int, int), optional
        Seed and stream of the shuffle; None for none.
    buffer_bytes : int
        Size of the buffer.
    names : list of str, optional
        Columns of the first batch, if it is a data frame.
    how : str
        What was done to the order of the rows: ``exact`` if the buffer held all of them together.
    """

    batches: Iterable[Any]
    label: str
    key: tuple[int, int] | None = None
    buffer_bytes: int = BUFFER_BYTES
    names: list[str] | None = None
    how: str = "as stored"
    _rows: Iterator[Rows] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        value = self.batches
        if not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)) or hasattr(value, "columns"):
            raise TypeError(f"{self.label} must be an iterable of batches, got {type(value).__name__}")
        if hasattr(value, "shape"):  # its rows would be read as batches
            raise TypeError(f"{self.label} must be an iterable of batches, and is one array; write [{self.label}]")
        self._rows = self._in_order() if self.key is None else self._shuffled(*self.key)

    def __next__(self) -> Rows:
        return next(self._rows)

    def close(self) -> None:
        """Free the buffer."""
        self._rows = iter(())

    def _in_order(self) -> Iterator[Rows]:
        return rows_of(self._with_names(), self.label)

    def _with_names(self) -> Iterator[Any]:
        first = True
        for batch in self.batches:
            if first:
                self.names, first = column_names(batch), False
            yield batch

    def _shuffled(self, seed: int, stream: int) -> Iterator[Rows]:
        self.how = "buffered"
        batches = self._with_names()
        seen: list[Any] = []
        width = 0
        for rows in rows_of(_recorded(batches, seen), self.label):
            width = rows.shape[1]
            break
        # From the width alone, as float64: the result does not depend on the sizes of batches.
        size = min(BUFFER_ROWS, max(2, self.buffer_bytes // (8 * max(1, width))))
        n_rows = 0
        for rows in shuffled(chain(seen, batches), size, seed, stream=stream, name=self.label):
            n_rows += len(rows)
            yield rows
        if n_rows <= size:
            self.how = "exact"


def _recorded(batches: Iterator[Any], seen: list[Any]) -> Iterator[Any]:
    for batch in batches:
        seen.append(batch)
        yield batch


def _batch_itself(batch: Any, label: str) -> Any:
    """Return the batch of an item of an iterator, such as a list of a batch and its labels."""
    if isinstance(batch, dict):
        raise TypeError(f"{label} is a dictionary; yield its array, such as (batch['x'] for batch in loader)")
    if isinstance(batch, (str, bytes)) or batch is None:
        raise TypeError(f"{label} must be rows of numbers, got {type(batch).__name__}")
    if not isinstance(batch, (list, tuple)) or not batch:
        return batch
    entry = batch[0]
    # A list of vectors is a list of rows, unless they are tensors: a DataLoader yields such lists.
    n_dimensions = getattr(entry, "ndim", 0)
    least = 1 if isinstance(batch, tuple) or hasattr(entry, "detach") else 2
    return entry if hasattr(entry, "columns") or n_dimensions >= least else batch


def _column_names(batch: Any, label: str) -> list[str] | None:
    """Return the columns of a data frame (pandas, polars, pyarrow), None for anything else."""
    names = column_names(batch)
    if names is not None and len(set(names)) < len(names):
        raise ValueError(f"{label} has more than one column of the same name")
    return names


def _rows(batch: Any, names: list[str] | None, label: str) -> Rows:
    if names is not None:
        present = _column_names(batch, label)
        if present is None or set(present) != set(names):
            raise ValueError(f"{label} does not have the columns of the first, {', '.join(map(repr, names))}")
        columns = [_numbers(np.asarray(batch[c]), f"column {c!r} of {label}") for c in names]
        if not columns:
            raise ValueError(f"{label} has no columns")
        array: Rows = np.column_stack(columns)
        types = [column.dtype for column in columns]
    else:
        array = _numbers(_array(batch, label), label)
        types = [array.dtype]
    if array.ndim in (1, 2) and not len(array):
        return np.empty((0, 1))
    if array.ndim == 1:
        # Items of iter(x) for an array x are indistinguishable from batches of a stream of one column.
        count = "1 number" if len(array) == 1 else f"{len(array)} numbers"
        raise ValueError(
            f"{label} is a vector of {count}, which may be a row, or rows of one column; yield batches (m, d), such as "
            "numpy.reshape(batch, (1, -1)) for a row or (-1, 1) for a column, or give btest the whole array"
        )
    if array.ndim == 0:
        raise ValueError(f"{label} is a single number; yield batches of rows, of shape (m, d)")
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{label} must have rows and columns, (m, d), got shape {array.shape}")
    rows = np.ascontiguousarray(array, dtype=outcome(types))
    return check_cells(rows, label, tuple(map(str, names)) if names else None, lambda i: i)


def _array(batch: Any, label: str) -> Rows:
    if hasattr(batch, "detach"):  # a tensor, perhaps on another device, perhaps part of a graph
        batch = batch.detach().cpu()
        try:
            return np.asarray(batch.numpy())
        except TypeError:  # a type that numpy does not have, such as bfloat16
            return np.asarray(batch.float().numpy())
    try:
        return np.asarray(batch)
    except ValueError:
        raise ValueError(f"{label} has rows of different lengths") from None


def _numbers(array: Rows, label: str) -> Rows:
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(f"{label} holds {array.dtype}, not numbers; encode or drop it")
    warn_of_huge_whole_numbers(array, label)
    return array


def _columns(n: int) -> str:
    return "1 column" if n == 1 else f"{n} columns"
