"""Tests of rows that are not all in memory: files, batches, dask collections, and anything on a cluster."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from btests._option_checks import check_seed
from btests.common_options import CommonOptions
from btests.conclude import with_notes
from btests.data.batches import BUFFER_BYTES, Batches
from btests.data.remote import is_url, local_copies
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
from btests.nulls.null import wants_gram
from btests.pipeline import Procedure
from btests.result import TestResult
from btests.selection import Aggregate, Selector, selector_of
from btests.statistics import StatisticFactory
from btests.statistics.feature_stream import RUN
from btests.streaming.row_queue import SampleBatches, feed, is_batches
from btests.streaming.stream import BLOCK_SIZE, Stream

if TYPE_CHECKING:
    from btests.independence_pipeline import IndependenceProcedure


def run_stored(
    procedure: Procedure | IndependenceProcedure, x: Any, y: Any, options: CommonOptions
) -> TestResult | None:
    """Return the test of samples in files, in dask collections or on a cluster; None if both are in memory."""
    if options.workers is None and not is_stored(x) and not is_stored(y):
        return None
    if options.checkpoint is not None and any(map(is_url, (x, y))):
        raise ValueError("checkpoint is for files that stay as they are; save the one at an address")
    if wants_gram(procedure.null):
        raise ValueError(f"{procedure.null!r} needs all rows in memory at once; load them, or take null=SignFlip()")
    shuffle, streams = options.shuffle, procedure.design.streams
    with local_copies(x, y) as (one, two), connect(options.workers, x, y) as cluster:
        sources = matched(one, two, procedure.design, cluster)
        if shuffle == "buffered" and len(set(streams)) == 1:
            raise ValueError(
                "shuffle='buffered' would take the rows of x and y apart, which belong together; take True or False"
            )
        procedure.setting.rule.check(min(source.n_rows for source in sources))
        path = None if options.checkpoint is None else Path(options.checkpoint)
        run = repr((procedure.identity(), shuffle, *map(describe, sources))) if path else ""
        recorder = Recorder(path, run, options.seed, options.progress)
        # Features are sums over rows, which stay where they are.
        where: dict[str, Any] = {"workers": cluster, "streams": streams}
        where["moves_rows"] = procedure.setting.rule.features is False
        with (
            explaining_resume(recorder),
            closing(open_samples(*sources, recorder.seed, shuffle, **where)) as stored,
        ):
            names = names_of(one, sources[0]), names_of(two, sources[1])
            test = procedure.opened(recorder.seed, stored.order, names, stored.executor(recorder))
            found = test.run(stored.x, stored.y)
            return replace(with_notes(found, excluded_parts(*sources)), read=stored.read)


def run_batches(
    x: Any,
    y: Any,
    kernel: Kernel | Selector | Aggregate | str | None,
    null: Null,
    options: CommonOptions,
    *,
    paired: bool = False,
    statistic: StatisticFactory | str | None = None,
    buffer_bytes: int = BUFFER_BYTES,
) -> TestResult | None:
    """Return the test of samples of which one or both are iterables of batches; None if neither is.

    ``buffer_bytes`` is the size of the buffer, for each sample, that shuffles the rows of batches.
    """
    if not is_batches(x) and not is_batches(y):
        return None
    _check_batches(options, paired)
    seed = check_seed(options.seed)
    chosen: Any = "gaussian" if kernel is None else kernel
    stream = Stream(
        chosen, options.block_size, seed=seed, dtype=options.dtype, n_threads=options.n_threads, statistic=statistic
    )

    def side(label: str, value: Any, number: int) -> Batches | SampleBatches:
        if is_batches(value):
            return Batches(value, label, (seed, number) if options.shuffle else None, buffer_bytes)
        source = source_of(label, value)
        return SampleBatches(permuted(source, seed, number, options.shuffle), names_of(value, source))

    with (
        local_copies(x, y) as (one, two),
        closing(side("x", one, 1)) as side_x,
        closing(side("y", two, 2)) as side_y,
    ):
        feed(stream, side_x, side_y, progress=options.progress, advice="; a stream of your own keeps what it has")
        order = weaker(side_x.how, side_y.how)
    if stream.n_blocks == 0:
        (n_x, n_y), sizes = stream.n_rows, f"block_size is {options.block_size or BLOCK_SIZE}"
        if statistic == "features":
            raise ValueError(f"x has {n_x} rows and y has {n_y}; features of batches need {RUN} of each")
        raise ValueError(f"x has {n_x} rows and y has {n_y}, and {sizes}; name one that they fill")
    found = replace(stream.partial(), order=order).result(null, options.n_threads)
    return replace(found, selector=selector_of(chosen), seconds=time.perf_counter() - options.began)


def _check_batches(options: CommonOptions, paired: bool) -> None:
    """Raise ``ValueError`` for options that rows which are read once, and are not counted, cannot have."""
    if paired:
        raise ValueError("paired=True is for arrays, frames and files; btests.Stream takes batches in their order")
    if options.checkpoint is not None:
        raise ValueError(
            "checkpoint is for rows in files: batches cannot be read again from the middle; save the partial "
            "result of a btests.Stream instead"
        )
    if options.workers is not None:
        raise ValueError(
            "workers read rows by themselves, and batches are read here, once; save them to files, or add the "
            "partial results of one btests.Stream for each worker"
        )
    if options.scale:
        raise ValueError("scale needs all rows, and batches are read once; scale them before")
    if isinstance(options.block_size, str) or options.block_exponent is not None or options.budget is not None:
        raise ValueError(
            "block_exponent, budget and block_size='sqrt' need the number of rows, which batches do not tell; "
            "give block_size as a number"
        )
