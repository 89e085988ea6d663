"""Tests of rows that are not all in memory: files, batches, dask collections, and anything on a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from btests._validation import check_seed
from btests.block_size import check_block_rule
from btests.data.batches import BUFFER_BYTES, Batches
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
from btests.pipeline import Procedure
from btests.result import TestResult
from btests.selection import KERNELS, Aggregate, Selector, Setting
from btests.statistics import StatisticFactory
from btests.statistics.feature_stream import RUN
from btests.streaming.row_queue import SampleBatches, feed, is_batches
from btests.streaming.stream import BLOCK_SIZE, Stream

if TYPE_CHECKING:
    from btests.independence_pipeline import IndependenceProcedure


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of a call of :func:`btests.btest` but the samples, and when it began; the null is an object.

    ``buffer_bytes`` is the size of the buffer, for each sample, that shuffles the rows of batches.
    """

    kernel: Kernel | Selector | Aggregate | str | None
    null: Null
    seed: int | None = None
    scale: bool | None = None
    shuffle: bool | str = True
    block_size: Any = None
    block_exponent: float | None = None
    budget: float | None = None
    dtype: str = "float64"
    n_threads: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    progress: Callable[[int, int], None] | None = None
    workers: Any = None
    began: float = field(default_factory=time.perf_counter)
    paired: bool = False
    statistic: StatisticFactory | None = None
    features: bool | None = False
    buffer_bytes: int = BUFFER_BYTES

    def run(self, x: Any, y: Any, *, are_objects: bool) -> TestResult | None:
        """Return the result, or None if both samples are in memory, as samples of objects always are."""
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
        where: dict[str, Any] = {"shuffle": self.shuffle, "checkpoint": self.checkpoint, "progress": self.progress}
        return run_out_of_core(procedure, x, y, self.seed, workers=self.workers, **where)

    def _in_batches(self, x: Any, y: Any) -> TestResult:
        if self.paired:
            raise ValueError("paired=True is for arrays, frames and files; btests.Stream takes batches in their order")
        if self.checkpoint is not None:
            raise ValueError(
                "checkpoint is for rows in files: batches cannot be read again from the middle; save the partial "
                "result of a btests.Stream instead"
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
        return self._run_batches(x, y)

    def _run_batches(self, x: Any, y: Any) -> TestResult:
        """Return the test of two samples of which one or both are iterables of batches."""
        seed, statistic = check_seed(self.seed), "features" if self.features else self.statistic
        kernel: Any = KERNELS["gaussian"] if self.kernel is None else self.kernel
        options: dict[str, Any] = {"dtype": self.dtype, "n_threads": self.n_threads, "statistic": statistic}
        stream = Stream(kernel, self.block_size, seed=seed, **options)
        with closing(self._side("x", x, seed, 1)) as side_x, closing(self._side("y", y, seed, 2)) as side_y:
            feed(stream, side_x, side_y, progress=self.progress, advice="; a stream of your own keeps what it has")
            order = weaker(side_x.how, side_y.how)
        if stream.n_blocks == 0:
            (n_x, n_y), sizes = stream.n_rows, f"block_size is {self.block_size or BLOCK_SIZE}"
            if statistic == "features":
                raise ValueError(f"x has {n_x} rows and y has {n_y}; features of batches need {RUN} of each")
            raise ValueError(f"x has {n_x} rows and y has {n_y}, and {sizes}; name one that they fill")
        found = replace(stream.partial(), order=order).result(self.null, self.n_threads)
        chosen_by = KERNELS[kernel] if isinstance(kernel, str) else kernel
        selector = chosen_by if isinstance(chosen_by, (Selector, Aggregate)) else None
        return replace(found, selector=selector, seconds=time.perf_counter() - self.began)

    def _side(self, label: str, value: Any, seed: int, stream: int) -> Batches | SampleBatches:
        if is_batches(value):
            return Batches(value, label, (seed, stream) if self.shuffle else None, self.buffer_bytes)
        source = source_of(label, value)
        return SampleBatches(permuted(source, seed, stream, self.shuffle), names_of(value, source))


def run_out_of_core(
    procedure: Procedure | IndependenceProcedure,
    x: Any,
    y: Any,
    seed: int | None,
    *,
    shuffle: bool | str,
    checkpoint: str | os.PathLike[str] | None,
    progress: Callable[[int, int], None] | None,
    workers: Any,
) -> TestResult:
    """Return the test of two samples that are in files, in dask collections or on a cluster.

    Other parameters are as in :func:`btests.btest`.
    """
    with connect(workers, x, y) as cluster:
        sources = matched(x, y, procedure.design, cluster)
        if shuffle == "buffered" and len(set(procedure.design.streams)) == 1:
            raise ValueError(
                "shuffle='buffered' would take the rows of x and y apart, which belong together; take True or False"
            )
        procedure.setting.rule.check(min(source.n_rows for source in sources))
        path = None if checkpoint is None else Path(checkpoint)
        run = repr((procedure.identity(), shuffle, *map(describe, sources))) if path else ""
        recorder = Recorder(path, run, seed, progress)
        # Features are sums over rows, which stay where they are.
        moves_rows = procedure.setting.rule.features is False
        where: dict[str, Any] = {"workers": cluster, "streams": procedure.design.streams, "moves_rows": moves_rows}
        with (
            explaining_resume(recorder),
            closing(open_samples(*sources, recorder.seed, shuffle, **where)) as stored,
        ):
            names = names_of(x, sources[0]), names_of(y, sources[1])
            test = procedure.opened(recorder.seed, stored.executor(recorder), stored.order, names)
            found = test.run(stored.x, stored.y)
            note = "; ".join(filter(None, (found.note, excluded_parts(*sources))))
            return replace(found, read=stored.read, note=note)
