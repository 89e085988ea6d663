"""Two iterables of batches, read in turn as rows are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from btests._validation import column_names
from btests.data.batches import rows_of, shuffled
from btests.data.permutation import BUFFER_ROWS
from btests.data.protocol import Rows

#: Bytes of rows that a buffer holds which shuffles a stream of batches, for each sample.
BUFFER_BYTES = 2**26


class TakesRows(Protocol):
    """What fills blocks with the rows of two samples (see :class:`btests.Stream`)."""

    @property
    def n_full(self) -> tuple[int, int]:
        """Blocks that the rows of x and those of y would fill."""
        ...

    def update(self, x: Any = None, y: Any = None, *, names: Sequence[str] | None = None) -> None:
        """Take more rows of x or of y."""
        ...


class Rowwise(Protocol):
    """Rows of one sample, some at a time."""

    @property
    def names(self) -> Sequence[str] | None:
        """The names of their columns, once the first have come."""
        ...

    def __next__(self) -> Rows: ...


@dataclass(slots=True)
class Batches:
    """Batches of one sample as rows, as they come or through a buffer that shuffles them.

    Attributes
    ----------
    batches, label
        What is read, and what messages call it.
    key
        Seed and stream of the shuffle; None for none.
    buffer_bytes
        What the buffer may hold.
    names
        The columns of the first batch, where it is a data frame.
    how
        What has become of the order: ``exact`` where all rows have come and went through the buffer together.
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
        if hasattr(value, "shape"):  # its rows would be taken for batches
            raise TypeError(f"{self.label} must be an iterable of batches, and is one array; write [{self.label}]")
        if self.key is None:
            self._rows = rows_of(self._noted(iter(value)), self.label)
        else:
            self._rows = self._shuffled(self._noted(iter(value)), *self.key)

    def __next__(self) -> Rows:
        return next(self._rows)

    def close(self) -> None:
        """Let go of the buffer."""
        self._rows = iter(())

    def _noted(self, batches: Iterator[Any]) -> Iterator[Any]:
        first = True
        for batch in batches:
            if first:
                self.names, first = column_names(batch), False
            yield batch

    def _shuffled(self, batches: Iterator[Any], seed: int, stream: int) -> Iterator[Rows]:
        self.how = "buffered"
        seen: list[Any] = []
        width = 0
        for rows in rows_of(_copied(batches, seen), self.label):
            width = rows.shape[1]
            break
        # By the width alone, counted in float64: not by how the rows are batched.
        size = min(BUFFER_ROWS, max(2, self.buffer_bytes // (8 * max(1, width))))
        n_rows = 0
        for rows in shuffled(chain(seen, batches), size, seed, stream=stream, name=self.label):
            n_rows += len(rows)
            yield rows
        if n_rows <= size:
            self.how = "exact"


def feed(stream: TakesRows, x: Rowwise, y: Rowwise) -> None:
    """Give rows to a stream until x or y ends, always those of the sample that has filled fewer blocks.

    So no more than a batch waits for partners, also where one sample is endless.
    """
    try:
        while True:
            n_x, n_y = stream.n_full
            here, there = (x, y) if n_x <= n_y else (y, x)
            if not _moved(stream, here, is_x=here is x):
                break
        # The other one may be at its end, too: whoever asks afterwards whether all was read should know.
        _moved(stream, there, is_x=there is x)
    except BaseException as error:
        error.add_note(f"until then: {stream!r}")
        raise


def _moved(stream: TakesRows, side: Rowwise, *, is_x: bool) -> bool:
    try:
        rows = next(side)
    except StopIteration:
        return False
    stream.update(rows if is_x else None, None if is_x else rows, names=side.names)
    return True


def _copied(batches: Iterator[Any], seen: list[Any]) -> Iterator[Any]:
    for batch in batches:
        seen.append(batch)
        yield batch
