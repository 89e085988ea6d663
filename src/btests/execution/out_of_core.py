"""Summaries of the blocks of samples that are not in memory, in chunks."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from btests.data.sample import AnySample, RowSlice
from btests.execution.out_of_core_sample import OutOfCoreSample, row_bytes
from btests.kernels.fingerprint import fingerprint
from btests.plan import Plan
from btests.statistics import InMemory, Statistic, adds_rows, summarize_blocks
from btests.summary import Summary

#: Bytes of the rows of a chunk, x and y together; at least one block. The next chunk is read concurrently.
CHUNK_BYTES = 2**25

# Kernel values per chunk: one or two seconds on one core for exponential kernels.
_VALUES = 4e9

# Number of chunk summaries that are joined at a time.
_JOINED = 64

#: Generator of numbers of rows, of x and y together, and the summaries of their blocks; to be closed by the consumer.
Found = Generator[tuple[int, tuple[Summary, ...]], None, None]


class Observer(Protocol):
    """Protocol of observers of finished chunks, for progress and checkpoints."""

    def begin(self, task: str, n_rows: int) -> tuple[Summary, ...] | None:
        """Start a task of ``n_rows`` rows, identified by a digest; return its summaries from an interrupted run."""
        ...

    def keep(self, task: str, pending: list[tuple[Summary, ...]]) -> None:
        """Save the summaries of all chunks so far immediately, because the task has failed."""
        ...

    def advance(self, task: str, n_rows: int, pending: list[tuple[Summary, ...]]) -> None:
        """Record ``n_rows`` more finished rows, and the summaries of all chunks so far."""
        ...


class Runner(Protocol):
    """Protocol of functions that compute summaries of ranges of blocks, in any order."""

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
        """Yield numbers of rows, of x and y together, and summaries of their blocks, except those in ``done``."""
        ...


@dataclass(frozen=True, slots=True)
class Chunked:
    """Executor for samples that are not in memory: one chunk of blocks after another.

    Attributes
    ----------
    run : Runner, optional
        Computes the chunks; in this process by default.
    observer : Observer, optional
        Informed of every chunk that is done, for progress and checkpoints.
    instructions : str, optional
        Instruction set of the compiled loops, on workers and for training rows; None for the best of this machine.
    """

    run: Runner | None = None
    observer: Observer | None = None
    instructions: str | None = None

    def __call__(
        self, statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
    ) -> Sequence[Summary]:
        """Return the summary of all blocks for each member of the statistic."""
        if not (
            isinstance(x, OutOfCoreSample) and isinstance(y, OutOfCoreSample)
        ):  # training rows that a selector has taken into memory
            return InMemory(self.instructions)(statistic, x, y, plan, n_threads)
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
    """Blocks that were summarized before an interruption."""

    summaries: tuple[Summary, ...] | None = None

    def left_of(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the ranges of blocks ``first .. last - 1`` that are not summarized yet."""
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
    """Yield the summaries of all chunks; the next chunk is read in a thread while one is computed."""
    cut = chunks(plan, row_bytes(x, y), n_kernels=len(statistic.kernels))
    todo = [stretch for chunk in cut for stretch in done.left_of(*chunk)]

    read = OutOfCoreSample.stored if adds_rows(statistic) else OutOfCoreSample.window

    def fetch(chunk: tuple[int, int]) -> tuple[RowSlice, RowSlice]:
        (x_first, y_first), (x_last, y_last) = plan.start(chunk[0]), plan.start(chunk[1])
        windows = read(x, x_first, x_last), read(y, y_first, y_last)
        return windows if x.permuted.dtype == y.permuted.dtype else (windows[0].widened(), windows[1].widened())

    with ThreadPoolExecutor(1, thread_name_prefix="btests-reader") as reader:
        nexts = [reader.submit(fetch, todo[0])] if todo else []
        for i, (first, last) in enumerate(todo):
            windows = nexts.pop().result()
            if i + 1 < len(todo):
                nexts.append(reader.submit(fetch, todo[i + 1]))
            n_rows = sum(len(window.rows) for window in windows)
            yield n_rows, summarize_blocks(statistic, *windows, plan, (first, last), n_threads=n_threads)


def chunks(plan: Plan, bytes_per_pair: int, budget: int | None = None, *, n_kernels: int = 1) -> list[tuple[int, int]]:
    """Return all blocks as ranges ``(first, last)`` for chunks of bounded memory and time.

    Parameters
    ----------
    plan : Plan
        Plan of the blocks.
    bytes_per_pair : int
        Bytes of a row of x and one of y.
    budget : int, optional
        Maximum bytes of the rows of a chunk, at least one block; by default ``CHUNK_BYTES``. Chunks are also limited to
        some seconds of computation, since checkpoints are saved between chunks.
    n_kernels : int
        Number of kernels of the statistic.
    """
    size = max(plan.n_x, plan.n_y) / plan.n_blocks
    budget = CHUNK_BYTES if budget is None else budget
    n = max(1, int(min(budget / (size * bytes_per_pair), _VALUES / (2.0 * size**2 * n_kernels))))
    if n >= 64:  # whole SIMD vectors, and whole nodes of the summation tree
        n = n // 64 * 64
    return [(first, min(first + n, plan.n_blocks)) for first in range(0, plan.n_blocks, n)]


def describe(statistic: Statistic, x: OutOfCoreSample, y: OutOfCoreSample, plan: Plan) -> str:
    """Return a digest of everything that the summary depends on."""
    places = [(s.permuted.identity, s.begin, s.end, None if s.scales is None else s.scales.tolist()) for s in (x, y)]
    settings = (fingerprint(statistic), plan, places)
    return hashlib.sha256(repr(settings).encode()).hexdigest()
