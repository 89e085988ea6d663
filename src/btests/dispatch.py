"""Tests of rows that are not all in memory: files, batches, dask collections, and anything on a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from btests._validation import check_seed
from btests.block_size import check_block_rule
from btests.data.batches import BUFFER_BYTES, Batches
from btests.data.sample import AnySample
from btests.designs import Design
from btests.execution.checkpoint import Recorder, explaining_resume
from btests.execution.dask import connect
from btests.execution.samples import (
    describe,
    excluded_parts,
    is_stored,
    matched,
    names_of,
    open_samples,
    permuted,
    source_of,
    weaker,
)
from btests.kernels import Kernel
from btests.nulls import Null
from btests.nulls.null import kinds_of_blocks, wants_gram
from btests.pipeline import Names, Procedure
from btests.result import TestResult
from btests.selection import Aggregate, Selector, Setting
from btests.selection.named_kernels import KERNELS
from btests.statistics import Executor, StatisticFactory
from btests.statistics.feature_stream import RUN
from btests.streaming.row_queue import SampleBatches, feed, is_batches
from btests.streaming.stream import BLOCK_SIZE, Stream


@dataclass(frozen=True, slots=True)
class Call:
    """How :func:`btests.btest` was called, but for the samples, and when; the null is an object."""

    kernel: Kernel | Selector | Aggregate | str | None
    null: Null
    seed: int | None
    scale: bool | None
    shuffle: bool | str
    block_size: int | tuple[int, int] | str | None
    block_exponent: float | None
    budget: float | None
    dtype: str
    n_threads: int | None
    checkpoint: str | os.PathLike[str] | None
    progress: Callable[[int, int], None] | None
    workers: Any
    began: float
    paired: bool = False
    statistic: StatisticFactory | None = None
    features: bool | None = False

    def run(self, x: Any, y: Any, *, are_objects: bool) -> TestResult | None:
        """Return the answer, or None where all rows are here after all, as objects are, whatever they come in."""
        if not are_objects and (is_batches(x) or is_batches(y)):
            return self._in_batches(x, y)
        if self.workers is None and not is_stored(x) and not is_stored(y):
            return None
        kinds = kinds_of_blocks(self.null)
        rule = check_block_rule(self.block_size, self.block_exponent, self.budget, **kinds, features=self.features)
        if wants_gram(self.null):
            raise ValueError(f"{self.null!r} needs all rows in memory at once; load them, or take null=SignFlip()")
        setting, paired = Setting(rule, self.dtype, n_threads=self.n_threads), self.paired
        procedure = Procedure(
            self.kernel, self.null, 0, setting, "", self.began, self.scale, None, paired, self.statistic
        )
        chunks = Chunks(self.shuffle, self.checkpoint, self.progress, self.workers)
        return chunks.run(procedure, x, y, self.seed)

    def _in_batches(self, x: Any, y: Any) -> TestResult:
        if self.paired:
            raise ValueError("paired=True is for arrays, frames and files; btests.Stream takes batches in their order")
        if self.checkpoint is not None:
            raise ValueError(
                "checkpoint is for rows in files: batches cannot be read again from the middle; save the partial "
                "result of a "
                "btests.Stream instead"
            )
        if self.workers is not None:
            raise ValueError(
                "workers read rows by themselves, and batches are read here, once; save them to files, or add the "
                "partial results of one btests.Stream for each worker"
            )
        if self.scale:
            raise ValueError("scale needs all rows, and batches are read once; scale them before")
        if isinstance(self.block_size, str) or self.block_exponent is not None or self.budget is not None:
            raise ValueError(
                "block_exponent, budget and block_size='sqrt' need the number of rows, which batches do not tell; "
                "give block_size as a number"
            )
        return BatchProcedure(
            self.kernel,
            self.null,
            check_seed(self.seed),
            self.shuffle,
            self.block_size,
            self.dtype,
            self.n_threads,
            self.progress,
            self.began,
            statistic="features" if self.features else self.statistic,
        ).run(x, y)


class AnyProcedure(Protocol):
    """A test of samples that may be in files or on a cluster: see :class:`btests.pipeline.Procedure`."""

    @property
    def design(self) -> Design:
        """Which samples there are."""
        ...

    @property
    def setting(self) -> Setting:
        """How blocks are made and computed."""
        ...

    def identity(self) -> str:
        """Return everything that the result depends on except rows and seed, as text."""
        ...

    def opened(self, seed: int, executor: Executor, order: str, names: tuple[Names, Names]) -> AnyProcedure:
        """Return the procedure for samples that were opened, with columns of these names."""
        ...

    def run(self, x: AnySample, y: AnySample) -> TestResult:
        """Return the test of two samples."""
        ...


@dataclass(frozen=True, slots=True)
class Chunks:
    """How rows that are not in memory are read: options of :func:`btests.btest`."""

    shuffle: bool | str
    checkpoint: str | os.PathLike[str] | None
    progress: Callable[[int, int], None] | None
    workers: Any

    def run(self, procedure: AnyProcedure, x: Any, y: Any, seed: int | None) -> TestResult:
        """Return the test of two samples that are in files, in dask collections or on a cluster."""
        with connect(self.workers, x, y) as cluster:
            sources = matched(x, y, procedure.design, cluster)
            if self.shuffle == "buffered" and len(set(procedure.design.streams)) == 1:
                raise ValueError(
                    "shuffle='buffered' would take the rows of x and y apart, which belong together; take True or False"
                )
            procedure.setting.rule.check(min(source.n_rows for source in sources))
            path = None if self.checkpoint is None else Path(self.checkpoint)
            run = repr((procedure.identity(), self.shuffle, *map(describe, sources))) if path else ""
            recorder = Recorder(path, run, seed, self.progress)
            # Features are sums over rows, which stay where they are.
            moves_rows = procedure.setting.rule.features is False
            where: dict[str, Any] = {"workers": cluster, "streams": procedure.design.streams, "moves_rows": moves_rows}
            with (
                explaining_resume(recorder),
                closing(open_samples(*sources, recorder.seed, self.shuffle, **where)) as stored,
            ):
                names = names_of(x, sources[0]), names_of(y, sources[1])
                test = procedure.opened(recorder.seed, stored.executor(recorder), stored.order, names)
                found = test.run(stored.x, stored.y)
                note = "; ".join(filter(None, (found.note, excluded_parts(*sources))))
                return replace(found, read=stored.read, note=note)


@dataclass(frozen=True, slots=True)
class BatchProcedure:
    """Test of two samples of which one or both are iterables of batches.

    Attributes
    ----------
    kernel, null, seed, shuffle, dtype, n_threads, statistic
        As in :func:`btests.btest`.
    block_size : int or (int, int), optional
        Rows of a block; two numbers if they differ. None is 256.
    progress : callable, optional
        Called with the number of rows so far, and 0: their total is unknown.
    began : float
        When the work began, on ``time.perf_counter``.
    buffer_bytes : int
        Size of the buffer, for each sample, that shuffles rows.
    """

    kernel: Kernel | Selector | Aggregate | str | None
    null: Null
    seed: int
    shuffle: bool | str
    block_size: Any = None
    dtype: str = "float64"
    n_threads: int | None = None
    progress: Callable[[int, int], None] | None = None
    began: float = field(default_factory=time.perf_counter)
    buffer_bytes: int = BUFFER_BYTES
    statistic: StatisticFactory | str | None = None

    def run(self, x: Any, y: Any) -> TestResult:
        """Return the test of x and y."""
        kernel: Any = KERNELS["gaussian"] if self.kernel is None else self.kernel
        options: dict[str, Any] = {"dtype": self.dtype, "n_threads": self.n_threads, "statistic": self.statistic}
        stream = Stream(kernel, self.block_size, seed=self.seed, **options)
        with closing(self._side("x", x, 1)) as side_x, closing(self._side("y", y, 2)) as side_y:
            feed(stream, side_x, side_y, progress=self.progress, advice="; a stream of your own keeps what it has")
            order = weaker(side_x.how, side_y.how)
        if stream.n_blocks == 0:
            (n_x, n_y), sizes = stream.n_rows, f"block_size is {self.block_size or BLOCK_SIZE}"
            if self.statistic == "features":
                raise ValueError(f"x has {n_x} rows and y has {n_y}; features of batches need {RUN} of each")
            raise ValueError(f"x has {n_x} rows and y has {n_y}, and {sizes}; name one that they fill")
        found = replace(stream.partial(), order=order).result(self.null, self.n_threads)
        chosen_by = KERNELS[kernel] if isinstance(kernel, str) else kernel
        selector = chosen_by if isinstance(chosen_by, (Selector, Aggregate)) else None
        return replace(found, selector=selector, seconds=time.perf_counter() - self.began)

    def _side(self, label: str, value: Any, stream: int) -> Batches | SampleBatches:
        if is_batches(value):
            return Batches(value, label, (self.seed, stream) if self.shuffle else None, self.buffer_bytes)
        source = source_of(label, value)
        return SampleBatches(permuted(source, self.seed, stream, self.shuffle), names_of(value, source))
