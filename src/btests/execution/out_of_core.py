"""Samples whose rows are somewhere else, and a loop over chunks of blocks that holds no more than two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from btests.data.sample import LOCATION_ROWS, AnySample, Location, RowSlice, Sample
from btests.kernels.fingerprint import fingerprint
from btests.plan import Array, Index, Plan
from btests.statistics import Statistic, in_memory, summarize_blocks
from btests.summary import Summary


class Observer(Protocol):
    """Informed of every chunk that is done; may have results of an interrupted run."""

    def begin(self, task: str, n_rows: int) -> tuple[Summary, ...] | None:
        """Begin a task of so many rows, identified by a digest of its inputs; return what is done of it."""
        ...

    def keep(self, task: str, pending: list[tuple[Summary, ...]]) -> None:
        """Take note of the summaries of all chunks so far, now: the task is about to fail."""
        ...

    def advance(self, task: str, n_rows: int, pending: list[tuple[Summary, ...]]) -> None:
        """Take note that so many rows more are done, and of the summaries of all chunks so far."""
        ...


Rows = npt.NDArray[Any]

#: Bytes of the rows of a chunk, x and y together; one block at least. Another chunk is read meanwhile.
CHUNK_BYTES = 2**25

# Kernel values of a chunk: a second or two of one core where a kernel is an exponential.
_VALUES = 4e9

# So many summaries of chunks are put together at a time.
_JOINED = 64


#: Numbers of rows, of x and y together, and the summaries of their blocks; who stops early closes it.
Found = Generator[tuple[int, tuple[Summary, ...]], None, None]


class RowOrder(Protocol):
    """Rows in the order in which they are dealt (see :class:`btests.data.permuted.PermutedRows`)."""

    @property
    def how(self) -> str:
        """What was done to their order."""
        ...

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        ...

    @property
    def identity(self) -> str:
        """What tells these rows in this order from others."""
        ...

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``: (last - first, width)."""
        ...

    def at(self, positions: Index) -> Rows:
        """Return the rows at a few positions: (m,) to (m, width)."""
        ...

    def close(self) -> None:
        """Let go of what was read ahead, and of temporary files."""
        ...


class Runner(Protocol):
    """Who computes the summaries of stretches of blocks, a few at a time, in whatever order."""

    def __call__(
        self,
        statistic: Statistic,
        x: OutOfCoreSample,
        y: OutOfCoreSample,
        plan: Plan,
        done: Done,
        *,
        n_threads: int | None,
    ) -> Found:
        """Yield numbers of rows, of x and y together, and the summaries of their blocks, without those ``done``."""
        ...


@dataclass(frozen=True, slots=True)
class OutOfCoreSample:
    """The rows at positions ``begin .. end - 1`` of what is dealt from somewhere else, and who computes on them.

    With ``scales`` (d,), each column is divided by its own as it is read.
    """

    permuted: RowOrder
    begin: int
    end: int
    scales: Array | None = field(default=None, repr=False, compare=False)
    location: Location = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "location", Location.of(self.first(LOCATION_ROWS)))

    def __len__(self) -> int:
        return self.end - self.begin

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return self.permuted.width

    @property
    def is_numeric(self) -> bool:
        """True: the rows are points."""
        return True

    @property
    def is_shuffled(self) -> bool:
        """Whether rows are dealt in an order of our own."""
        return self.permuted.how != "as stored"

    def first(self, n_rows: int) -> Rows:
        """Return the first ``n_rows`` rows that are dealt, or all where they are fewer."""
        return self._at(np.arange(min(n_rows, len(self)), dtype=np.int64))

    def head(self, n_rows: int) -> Rows:
        """Return ``n_rows`` rows, the first in the order, or spread evenly where they are as stored."""
        if self.is_shuffled:
            return self.first(n_rows)
        return self._at(np.arange(n_rows, dtype=np.int64) * len(self) // n_rows)

    def take(self, positions: Index) -> Sample:
        """Return a few rows, in memory, in the order given."""
        return Sample(self._at(positions), np.arange(len(positions)))

    def split(self, n_rows: int) -> tuple[OutOfCoreSample, OutOfCoreSample]:
        """Return the first ``n_rows`` rows in the order, and all others: no row is in both."""
        middle = self.begin + n_rows
        return replace(self, end=middle), replace(self, begin=middle)

    def scaled(self, scales: Array) -> OutOfCoreSample:
        """Return the same rows with each column divided by its scale: (d,)."""
        return replace(self, scales=scales)

    def close(self) -> None:
        """Let go of what was read ahead, and of temporary files."""
        self.permuted.close()

    def window(self, first: int, last: int) -> RowSlice:
        """Return the rows at positions ``first .. last - 1`` of this sample."""
        rows = divided(self.permuted.window(self.begin + first, self.begin + last), self.scales)
        return RowSlice(np.ascontiguousarray(rows), first, self.location)

    def _at(self, positions: Index) -> Rows:
        return divided(self.permuted.at(self.begin + positions), self.scales)


@dataclass(frozen=True, slots=True)
class Chunked:
    """Executor for samples that are not in memory: one chunk of blocks after another.

    Attributes
    ----------
    run : Runner, optional
        Computes the chunks; in this process by default.
    observer : Observer, optional
        Informed of every chunk that is done, for progress and checkpoints.
    """

    run: Runner | None = None
    observer: Observer | None = None

    def __call__(
        self, statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
    ) -> Sequence[Summary]:
        """Return the summary of all blocks for each member of the statistic."""
        if not (
            isinstance(x, OutOfCoreSample) and isinstance(y, OutOfCoreSample)
        ):  # a few rows that were taken into memory
            return in_memory(statistic, x, y, plan, n_threads)
        observer, task = self.observer, describe(statistic, x, y, plan)
        known = None if observer is None else observer.begin(task, plan.n_x + plan.n_y)
        pending = [] if known is None else [known]
        run = self.run or in_this_process
        try:
            with closing(run(statistic, x, y, plan, Done(known), n_threads=n_threads)) as chunks_done:
                for n_rows, found in chunks_done:
                    pending.append(found)
                    if len(pending) == _JOINED:
                        pending = [tuple(Summary.join(of_one) for of_one in zip(*pending, strict=True))]
                    if observer is not None:
                        observer.advance(task, n_rows, pending)
        except BaseException:
            if observer is not None and pending:
                observer.keep(task, pending)
            raise
        joined = [Summary.join(of_one) for of_one in zip(*pending, strict=True)]
        # A checkpoint does not hold the symmetry.
        return [replace(summary, symmetry=statistic.symmetry) for summary in joined]


@dataclass(frozen=True, slots=True)
class Done:
    """The blocks that are summarized already, from before an interruption."""

    summaries: tuple[Summary, ...] | None = None

    def left_of(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return what is missing of blocks ``first .. last - 1``, as stretches."""
        left = []
        for a, b in self._spans():
            if first < min(a, last):
                left.append((first, min(a, last)))
            first = max(first, b)
        return left + ([(first, last)] if first < last else [])

    def _spans(self) -> list[tuple[int, int]]:
        if self.summaries is None:
            return []
        return [(int(a), int(b)) for a, b in self.summaries[0].parts[0].spans]


def in_this_process(
    statistic: Statistic, x: OutOfCoreSample, y: OutOfCoreSample, plan: Plan, done: Done, *, n_threads: int | None
) -> Found:
    """Yield the summaries of all chunks, the next of which is read while one is computed."""
    cut = chunks(plan, row_bytes(x, y), n_kernels=len(statistic.kernels))
    todo = [stretch for chunk in cut for stretch in done.left_of(*chunk)]

    def fetch(chunk: tuple[int, int]) -> tuple[RowSlice, RowSlice]:
        (x_first, y_first), (x_last, y_last) = plan.start(chunk[0]), plan.start(chunk[1])
        windows = x.window(x_first, x_last), y.window(y_first, y_last)
        return windows if x.permuted.dtype == y.permuted.dtype else (windows[0].widened(), windows[1].widened())

    with ThreadPoolExecutor(1, thread_name_prefix="btests-reader") as reader:
        nexts = [reader.submit(fetch, todo[0])] if todo else []
        for i, (first, last) in enumerate(todo):
            windows = nexts.pop().result()
            if i + 1 < len(todo):
                nexts.append(reader.submit(fetch, todo[i + 1]))
            n_rows = sum(len(window.rows) for window in windows)
            yield n_rows, summarize_blocks(statistic, *windows, plan, (first, last), n_threads=n_threads)


def divided(rows: Rows, scales: Array | None) -> Rows:
    """Return rows (m, d) with each column divided by its scale (d,), None for as they are."""
    return rows if scales is None else rows / scales


def row_bytes(x: OutOfCoreSample, y: OutOfCoreSample) -> int:
    """Return the bytes of a row of x and one of y."""
    return x.width * (x.permuted.dtype.itemsize + y.permuted.dtype.itemsize)


def chunks(plan: Plan, bytes_per_pair: int, budget: int | None = None, *, n_kernels: int = 1) -> list[tuple[int, int]]:
    """Return all blocks as stretches ``first .. last - 1`` whose rows take ``budget`` bytes at most, if they can.

    None is ``CHUNK_BYTES``. Nor do they take more than some seconds: what is done is noted at the end of each.
    """
    size = max(plan.n_x, plan.n_y) / plan.n_blocks
    budget = CHUNK_BYTES if budget is None else budget
    n = max(1, int(min(budget / (size * bytes_per_pair), _VALUES / (2.0 * size**2 * n_kernels))))
    if n >= 64:  # whole vectors, whole nodes
        n = n // 64 * 64
    return [(first, min(first + n, plan.n_blocks)) for first in range(0, plan.n_blocks, n)]


def describe(statistic: Statistic, x: OutOfCoreSample, y: OutOfCoreSample, plan: Plan) -> str:
    """Return a digest of all that the summary depends on."""
    places = [(s.permuted.identity, s.begin, s.end, None if s.scales is None else s.scales.tolist()) for s in (x, y)]
    told = (fingerprint(statistic), plan, places)
    return hashlib.sha256(repr(told).encode()).hexdigest()
