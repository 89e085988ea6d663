"""Pending rows of a stream: checks of batches, a queue, and two samples that are read alternately."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from btests._validation import check_batch, check_names, column_names
from btests.data.permuted import PermutedRows
from btests.data.source import Rows
from btests.execution.samples import is_stored

# Rows of a batch of a sample that is no iterable of batches.
_BATCH_ROWS = 2**14


class Batch(NamedTuple):
    """Checked rows (m, d), and the names of their columns, if any."""

    rows: Rows
    names: Sequence[str] | None = None

    @classmethod
    def of(cls, label: str, value: Any, names: Sequence[str] | None = None) -> Batch | None:
        """Check a batch that a user has given; None if it has no rows."""
        if value is None:
            return None
        rows = check_batch(label, value)
        return cls(rows, column_names(value) or names) if len(rows) else None


@dataclass(slots=True)
class Columns:
    """Number of columns that all batches of both samples share, and their names, if any."""

    width: int | None = None
    names: list[str] | None = None

    def match(self, x: Batch | None, y: Batch | None) -> tuple[Rows | None, Rows | None]:
        """Return rows (m, d) with their columns in the order of the first batch; raise if either has other columns."""
        width, known = self.width, self.names
        matched: list[Rows | None] = []
        for label, batch in (("x", x), ("y", y)):
            if batch is None:
                matched.append(None)
                continue
            rows, names = batch
            if width is not None and rows.shape[1] != width:
                others = "those before had" if self.width is not None else "that of x has"
                raise ValueError(f"this batch of {label} has {rows.shape[1]} columns, and {others} {width}")
            if names is not None and known is not None and list(names) != known:
                check_names(names, known, "this batch", "those before", f"all batches of {label}")
                rows = np.ascontiguousarray(rows[:, [list(names).index(column) for column in known]])
            width, known = rows.shape[1], known or (None if names is None else list(names))
            matched.append(rows)
        self.width, self.names = width, known  # only if neither has raised
        return matched[0], matched[1]


@dataclass(slots=True)
class PairedColumns:
    """Columns of x and of y, which are different things."""

    x: Columns = field(default_factory=Columns)
    y: Columns = field(default_factory=Columns)

    @property
    def width(self) -> int | None:
        """Number of columns of both samples; None until both are known."""
        return None if self.x.width is None or self.y.width is None else self.x.width + self.y.width

    @property
    def names(self) -> None:
        """None: there are no columns that both have."""
        return

    def match(self, x: Batch | None, y: Batch | None) -> tuple[Rows | None, Rows | None]:
        """Return rows of x and of y with their columns in the order of their first batches."""
        return self.x.match(x, None)[0], self.y.match(None, y)[1]


@dataclass(slots=True)
class RowQueue:
    """Pending rows of one sample, first in, first out."""

    batches: deque[Rows] = field(default_factory=deque)
    n_rows: int = 0

    def put(self, rows: Rows) -> None:
        """Add rows (m, d), without a copy: see :meth:`detach`."""
        self.batches.append(rows[:])
        self.n_rows += len(rows)

    def take_back(self) -> int:
        """Remove what is left of the last batch, and return its number of rows."""
        n = len(self.batches.pop()) if self.batches else 0
        self.n_rows -= n
        return n

    def first(self, n: int) -> Rows:
        """Return the first n rows: (n, d), contiguous."""
        found, n_found = [], 0
        for batch in self.batches:
            if n_found == n:
                break
            found.append(batch[: n - n_found])
            n_found += len(found[-1])
        return np.ascontiguousarray(found[0]) if len(found) == 1 else np.concatenate(found)

    def drop(self, n: int) -> None:
        """Remove the first n rows."""
        self.n_rows -= n
        while n:
            batch = self.batches.popleft()
            if len(batch) > n:
                self.batches.appendleft(batch[n:])
            n -= min(n, len(batch))

    def detach(self) -> None:
        """Copy rows of which another array is the owner: the caller may change it, and it may be larger."""
        self.batches = deque(batch if batch.base is None else batch.copy() for batch in self.batches)


@dataclass(slots=True)
class PendingRows:
    """Pending rows of x and of y, and the columns of all batches so far."""

    columns: Columns | PairedColumns = field(default_factory=Columns)
    queues: tuple[RowQueue, RowQueue] = field(default_factory=lambda: (RowQueue(), RowQueue()))

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y."""
        x, y = self.queues
        return x.n_rows, y.n_rows

    @contextmanager
    def added(self, x: Batch | None, y: Batch | None) -> Iterator[None]:
        """Add batches for the block that uses their rows; after an exception, remove the rows that were not used."""
        before = deepcopy(self.columns)
        new: list[tuple[RowQueue, Rows]] = []
        try:
            for queue, rows in zip(self.queues, self.columns.match(x, y), strict=True):
                if rows is not None:
                    queue.put(rows)
                    new.append((queue, rows))
            yield
        except Exception:
            if [queue.take_back() for queue, _ in new] == [len(rows) for _, rows in new]:
                self.columns = before
            raise
        for queue, _ in new:
            queue.detach()

    def first(self, n_x: int, n_y: int) -> tuple[Rows, Rows]:
        """Return the first rows of both samples: (n_x, d) and (n_y, d), contiguous."""
        x, y = self.queues
        return x.first(n_x), y.first(n_y)

    def drop(self, n_x: int, n_y: int) -> None:
        """Remove the first rows of both samples."""
        for queue, n in zip(self.queues, (n_x, n_y), strict=True):
            queue.drop(n)


class TakesRows(Protocol):
    """Consumer of the rows of two samples (see :class:`btests.Stream`)."""

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of x and of y so far."""
        ...

    @property
    def n_full(self) -> tuple[int, int]:
        """Number of blocks that the rows of x fill, and those of y."""
        ...

    def update_checked(self, x: Batch | None, y: Batch | None) -> None:
        """Add checked rows of x or of y."""
        ...


class BatchIterator(Protocol):
    """Batches of one sample."""

    @property
    def names(self) -> Sequence[str] | None:
        """Names of the columns, once the first batch was read."""
        ...

    def __next__(self) -> Rows: ...


def is_batches(value: object) -> bool:
    """Return whether this is an iterable of batches, such as a data loader; not a sequence, a table or a set."""
    return (
        isinstance(value, Iterable)
        and not hasattr(value, "__getitem__")
        and not isinstance(value, (str, bytes, Mapping, set, frozenset))
        and not is_stored(value)
    )


@dataclass(slots=True)
class SampleBatches:
    """Rows of a sample that is no iterable of batches, as batches in the order of the test."""

    permuted: PermutedRows
    names: list[str] | None
    _next: int = field(init=False, default=0, repr=False)

    def __next__(self) -> Rows:
        first = self._next
        if first >= len(self.permuted):
            raise StopIteration
        self._next = min(len(self.permuted), first + _BATCH_ROWS)
        return self.permuted.window(first, self._next)

    @property
    def how(self) -> str:
        """What was done to the order of the rows."""
        return self.permuted.how

    def close(self) -> None:
        """Free what was read ahead, and remove temporary files."""
        self.permuted.close()


def feed(
    stream: TakesRows,
    x: BatchIterator,
    y: BatchIterator,
    *,
    progress: Callable[[int, int], None] | None = None,
    advice: str = "",
) -> None:
    """Add batches to a stream until x or y ends, always of the sample that has filled fewer blocks.

    So no more than a batch is pending, also if one sample is endless.

    Parameters
    ----------
    stream : TakesRows
        Consumer of the rows.
    x, y : BatchIterator
        Batches.
    progress : callable, optional
        Called with the number of rows so far, and 0: their total is unknown.
    advice : str
        Added to the note of an exception that says how many rows came before it.
    """

    def move(side: BatchIterator) -> bool:
        try:
            rows = next(side)
        except StopIteration:
            return False
        batch = Batch(rows, side.names)
        stream.update_checked(batch if side is x else None, None if side is x else batch)
        if progress is not None:
            progress(sum(stream.n_rows), 0)
        return True

    try:
        while True:
            n_x, n_y = stream.n_full
            here, there = (x, y) if n_x <= n_y else (y, x)
            if not move(here):
                break
        move(there)  # it may be at its end, too: then all rows were read
    except BaseException as error:
        error.add_note(f"until then: {stream!r}{advice}")
        raise
