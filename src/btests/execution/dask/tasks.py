"""What workers are asked to do. Every task is told all that it needs, so that any worker can do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests import _core
from btests.data.cell_checks import check_cells
from btests.data.dask_source import Outline
from btests.data.location import Frame
from btests.data.permutation import Order
from btests.data.protocol import Rows, Source
from btests.data.row_slice import Window
from btests.data.take import put
from btests.execution.dask.kept import Kept
from btests.execution.out_of_core import divided
from btests.plan import Array, Index, Plan
from btests.statistics import Statistic, summarize_blocks
from btests.summary import Summary

#: Places of some rows, (m,), and the rows, (m, width).
Piece = tuple[Any, Rows]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a part belong: rows ``first .. last - 1`` of the sample, and in which order they are dealt.

    ``positions`` are told where the order is a permutation that is held as a whole: no worker has to hold it, then.
    """

    first: int
    last: int
    order: Order | None
    positions: Index | None

    def where(self) -> Index:
        """Return the position of each row: (last - first,)."""
        if self.positions is not None:
            return self.positions.astype(np.int64)
        assert self.order is not None, "positions or an order are told"
        return self.order.positions(np.arange(self.first, self.last, dtype=np.int64))


def keep_range(source: Source, place: Place) -> Kept:
    """Read rows of a source, which the worker must reach by the same path, and keep them."""
    return Kept.write(place.where(), source.read(place.first, place.last))


def keep_array(rows: Rows, name: str, place: Place) -> Kept:
    """Keep rows that came with the task."""
    return Kept.write(place.where(), check_cells(rows, name, None, lambda i: place.first + i))


def keep_partitions(partitions: Sequence[Any], outline: Outline, numbers: tuple[int, int], place: Place) -> Kept:
    """Keep the rows of consecutive partitions of a dask collection, of these ``numbers``, the end excluded."""
    first, pieces = place.first, []
    for number, partition in enumerate(partitions, numbers[0]):
        pieces.append(outline.rows(partition, number, first))
        first += len(pieces[-1])
    if first != place.last:
        raise ValueError(
            f"{outline.name} has {first - place.first} rows in partitions {numbers[0]} to {numbers[1] - 1}, and had "
            f"{place.last - place.first} before; a dask graph must give the same rows whenever it is computed"
        )
    return Kept.write(place.where(), pieces[0] if len(pieces) == 1 else np.concatenate(pieces))


def rows_at(positions: Index, parts: Sequence[Kept]) -> tuple[Index, Rows]:
    """Return the rows at those of some positions that a worker has, and these positions: (m,) and (m, width)."""
    return _together([part.at(positions) for part in parts])


def pieces_of(parts: Sequence[Sequence[Kept]], ranges: Sequence[tuple[int, int]]) -> list[Piece]:
    """Return what a worker has of the positions that some blocks need of x, and of y; places count from the first."""
    found = []
    for own, (first, last) in zip(parts, ranges, strict=True):
        positions, rows = _together([part.between(first, last) for part in own])
        found.append(((positions - first).astype(np.uint32 if last - first < 2**32 else np.int64), rows))
    return found


def _together(found: Sequence[tuple[Index, Rows]]) -> tuple[Index, Rows]:
    if not found:
        return np.empty(0, dtype=np.int64), np.empty((0, 1))
    return np.concatenate([positions for positions, _ in found]), np.concatenate([rows for _, rows in found])


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows of a sample that some blocks need: ``n_rows`` of them, the first at position ``start`` of the sample.

    With ``scales`` (width,), each column is divided by its own.
    """

    start: int
    n_rows: int
    width: int
    dtype: np.dtype[Any]
    frame: Frame
    scales: Array | None = None

    def window(self, pieces: Sequence[Piece]) -> Window:
        """Return the rows in their order from the pieces that workers have of them."""
        if sum(len(places) for places, _ in pieces) != self.n_rows:
            raise AssertionError(f"{self.n_rows} rows are dealt here, and other numbers came")
        rows = np.empty((self.n_rows, self.width), dtype=self.dtype)
        for places, piece in pieces:
            if len(places):
                put(np.ascontiguousarray(piece, dtype=self.dtype), places, rows)
        return Window(divided(rows, self.scales), self.start, self.frame)


@dataclass(frozen=True, slots=True)
class Job:
    """What is computed on all blocks, and with which instruction set."""

    statistic: Statistic
    plan: Plan
    instructions: str


def summarize(
    pieces: Sequence[Sequence[Piece]], stretches: Sequence[Stretch], job: Job, numbers: tuple[int, int]
) -> tuple[Summary, ...]:
    """Return the summaries of some blocks for each kernel, on one thread: a worker has as many tasks as threads."""
    if _core.is_available() and _core.instruction_set() != job.instructions:
        _core.use_instruction_set(job.instructions)
    x, y = (stretch.window([of_both[i] for of_both in pieces]) for i, stretch in enumerate(stretches))
    return summarize_blocks(job.statistic, x, y, job.plan, numbers, n_threads=1)


def join(found: Sequence[tuple[Summary, ...]]) -> tuple[Summary, ...]:
    """Return the summaries of some stretches as one, for each kernel."""
    return tuple(Summary.join(of_one) for of_one in zip(*found, strict=True))


def extents(parts: Sequence[Kept]) -> list[tuple[int, int]]:
    """Return for each part the positions that its rows lie between, the end excluded."""
    return [part.extent() for part in parts]
