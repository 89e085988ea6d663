"""The kernel test of all columns together, on all rows of both sides."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from btests.block_size import BlockRule
from btests.comparison.together import CENTRE, DEFAULT_KERNELS
from btests.comparison.wording import option
from btests.conclude import conclude
from btests.data.permuted import Dealt
from btests.data.protocol import Source
from btests.execution.checkpoint import Recorder
from btests.execution.out_of_core import Stored
from btests.execution.samples import StoredSamples, open_samples
from btests.nulls import Null, SignFlip
from btests.nulls.protocol import wants_gram
from btests.nulls.registry import null_of
from btests.pipeline import Question
from btests.result import TestResult
from btests.selection import Setting
from btests.statistics import Family, plan_for, summarize_all, with_row_moments
from btests.summary import Summary

# Draws of a null that nobody looks at.
_FEW_RESAMPLES = 19


@dataclass(frozen=True, slots=True)
class Joint:
    """The test of all rows, and the one whose MMD^2 is the effect: of one kernel, on the same blocks."""

    result: TestResult
    effect: TestResult


def null_in_pieces(null: object) -> Null:
    """Return the null of the joint test, or say that it needs all rows in memory."""
    found = null_of(null)
    if wants_gram(found):
        raise ValueError(
            f"{option('null')} {null} needs all rows in memory at once, and these tables are larger; "
            f"draw some of their rows with {option('max_rows')}, or take another null"
        )
    return found


def jointly(
    x: Source,
    y: Source,
    recorder: Recorder,
    *,
    kernel: Any,
    null: Null,
    rule: BlockRule,
    streams: tuple[int, int],
    report: Callable[[int], None],
    workers: Any = None,
) -> Joint:
    """Test all rows of two sources in random order; ``streams`` say in which, 1 or 2 for each."""
    began = time.perf_counter()
    with closing(shuffled(x, y, recorder.seed, streams, report, workers=workers)) as samples:
        read = samples.read
        setting = Setting(rule, executor=samples.executor(recorder))
        if kernel is None and isinstance(null, SignFlip):
            result, central = _all_kernels(samples, null, setting, recorder.seed, began)
        else:
            question = Question(kernel, null, recorder.seed, setting, samples.order, began)
            result = question.of(samples.x, samples.y)
            central = result.summary, result.kernel
    effect = conclude((central[1],), (central[0],), SignFlip(_FEW_RESAMPLES), 0, engine=result.engine)
    return Joint(replace(result, read=read), effect)


def shuffled(
    x: Source, y: Source, seed: int, streams: tuple[int, int], report: Callable[[int], None], *, workers: Any = None
) -> StoredSamples:
    """Return both in random order: on workers, or each through a temporary file, in one pass over the source."""
    if workers is not None:
        return open_samples(x, y, seed, True, workers, streams=streams)
    # No rows are held ahead, so that nothing is taken from the source but in that pass.
    dealt = [Dealt.of(source, seed, stream, True, memory=1) for source, stream in zip((x, y), streams, strict=True)]
    dealt[0].prepare(report)
    dealt[1].prepare(lambda done: report(x.n_rows + done))
    return StoredSamples(Stored(dealt[0], 0, x.n_rows), Stored(dealt[1], 0, y.n_rows))


def _all_kernels(
    samples: StoredSamples, null: SignFlip, setting: Setting, seed: int, began: float
) -> tuple[TestResult, tuple[Summary, Any]]:
    """Return the test with Gaussians of several bandwidths, and the summary of the one of median bandwidth."""
    selection = DEFAULT_KERNELS.select(samples.x, samples.y, setting)
    kernels = tuple(candidate.kernel for candidate in selection.candidates)
    size = setting.block_size(samples.x, samples.y, kernels).size
    statistic = Family(kernels)
    plan = plan_for(statistic, len(samples.x), len(samples.y), size)
    summaries = summarize_all(statistic, samples.x, samples.y, plan, executor=setting.executor)
    result = conclude(
        kernels,
        summaries,
        null,
        seed,
        selector=DEFAULT_KERNELS,
        selection=selection,
        engine=statistic.engine(samples.x),
        order=samples.order,
        began=began,
    )
    result = replace(result, block_rule=setting.block_size(samples.x, samples.y, kernels).rule)
    central = with_row_moments(summaries[CENTRE], kernels[CENTRE], samples.x, samples.y)
    return result, (central, kernels[CENTRE])
