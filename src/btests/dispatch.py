"""Tests of rows that are not all in memory: files, batches, dask collections, and anything on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from btests._core.threads import limit_threads
from btests._validation import check_seed
from btests.block_size import check_block_rule
from btests.execution.checkpoint import Recorder, telling_how_to_go_on
from btests.execution.dask import connect
from btests.execution.samples import describe, is_elsewhere, left_out, matched, names_of, open_samples
from btests.kernels import Kernel
from btests.kernels.fingerprint import fingerprint
from btests.nulls import Null
from btests.nulls.null import kinds_of_blocks, wants_gram
from btests.pipeline import Question
from btests.result import TestResult
from btests.selection import Aggregate, Selector, Setting
from btests.streaming.row_queue import is_batches
from btests.streaming.stream import BatchQuestion


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

    def of(self, x: Any, y: Any, *, are_objects: bool) -> TestResult | None:
        """Return the answer, or None where all rows are here after all, as objects are, whatever they come in."""
        if not are_objects and (is_batches(x) or is_batches(y)):
            return self._in_batches(x, y)
        if self.workers is None and not is_elsewhere(x) and not is_elsewhere(y):
            return None
        rule = check_block_rule(self.block_size, self.block_exponent, self.budget, **kinds_of_blocks(self.null))
        if wants_gram(self.null):
            raise ValueError(f"{self.null!r} needs all rows in memory at once; load them, or take null=SignFlip()")
        return self._in_chunks(x, y, Setting(rule, self.dtype))

    def _in_batches(self, x: Any, y: Any) -> TestResult:
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
        return BatchQuestion(
            self.kernel,
            self.null,
            check_seed(self.seed),
            self.shuffle,
            self.block_size,
            self.dtype,
            self.n_threads,
            self.progress,
            self.began,
        ).of(x, y)

    def _in_chunks(self, x: Any, y: Any, setting: Setting) -> TestResult:
        with connect(self.workers, x, y) as cluster:
            sources = matched(x, y)
            setting.rule.check(min(source.n_rows for source in sources))
            kept = None if self.checkpoint is None else Path(self.checkpoint)
            names = names_of(x, sources[0]) or names_of(y, sources[1])
            scale = True if self.scale is None and names is not None and len(names) > 1 else self.scale
            told = (fingerprint(self.kernel), setting, self.null, self.shuffle, scale)
            run = repr((*told, *map(describe, sources))) if kept else ""
            recorder = Recorder(kept, run, self.seed, self.progress)
            with (
                telling_how_to_go_on(recorder),
                closing(open_samples(*sources, recorder.seed, self.shuffle, cluster)) as stored,
            ):
                setting = replace(setting, executor=stored.executor(recorder))
                options = (setting, stored.order, self.began, scale, names)
                question = Question(self.kernel, self.null, recorder.seed, *options)
                with limit_threads(self.n_threads):
                    found = question.of(stored.x, stored.y)
                note = "; ".join(filter(None, (found.note, left_out(*sources))))
                return replace(found, read=stored.read, note=note)
