"""Conclude a test: from summaries of all blocks to a result."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from btests.kernels.protocol import Kernel
from btests.nulls import Null, NullDistribution, SignFlip
from btests.result import TestResult
from btests.result_notes import note_on, warn_of_order, warn_of_rounding
from btests.selection import Aggregate, Candidate, Selection, Selector
from btests.statistics import Gram
from btests.summary import Summary

OVERFLOWED = "the kernel overflowed or gave NaN here; scale the data down or take a bounded kernel"


def conclude(
    kernels: Sequence[Kernel],
    summaries: Sequence[Summary],
    null: Null,
    seed: int,
    *,
    selector: Selector | Aggregate | None = None,
    selection: Selection | None = None,
    gram: Gram | None = None,
    distribution: NullDistribution | None = None,
    engine: str = "",
    order: str = "as stored",
    n_pending: tuple[int, int] = (0, 0),
    began: float | None = None,
) -> TestResult:
    """Return the result of a test; of several kernels, that of the strongest.

    This is the only place where a test is concluded.

    Parameters
    ----------
    kernels : sequence of Kernel
        One kernel, or those that are tested at once.
    summaries : sequence of Summary
        Summary of all blocks for each kernel, of the same blocks.
    null : Null
        Null distribution; ``SignFlip`` for several kernels, which share its draws.
    seed : int
        Seed of the null distribution.
    selector : Selector or Aggregate, optional
        How the kernel was selected, or several kernels are corrected for.
    selection : Selection, optional
        What the selector returned; candidates, note and numbers of rows go into the result.
    gram : Gram, optional
        Gram matrix of all rows, for a null distribution that needs it.
    distribution : NullDistribution, optional
        Null distribution if it is known already.
    engine, order, n_pending
        See :class:`btests.TestResult`.
    began : float, optional
        Start of the work on ``time.perf_counter``; now by default.

    Returns
    -------
    TestResult

    Raises
    ------
    ValueError
        If blocks are missing, or values are not finite.
    """
    began = time.perf_counter() if began is None else began
    for kernel, summary in zip(kernels, summaries, strict=True):
        _check(summary, kernel if len(kernels) > 1 else None)
    candidates = () if selection is None else selection.candidates
    best, summary = 0, summaries[0]
    if len(summaries) > 1:
        if not isinstance(null, SignFlip):
            raise ValueError(
                f"Aggregate needs sign flips that its kernels share: null must be SignFlip(), got {null!r}"
            )
        aggregate = selector if isinstance(selector, Aggregate) else Aggregate(kernels)
        verdict = aggregate.conclude(summaries, null, seed)
        best, distribution = verdict.selected, verdict.null_distribution
        summary = summaries[best] if verdict.is_resolved else summaries[best].zeroed()
        candidates = tuple(
            Candidate(kernel, float(score), float(j == best))
            for j, (kernel, score) in enumerate(zip(kernels, verdict.scores, strict=True))
        )
    else:
        summary = summary.resolved()
    warn_of_rounding(summary, kernels[best])
    evidence = summary if gram is None else gram
    distribution = null.distribution(evidence, seed) if distribution is None else distribution
    statistic = null.statistic(evidence)
    warn_of_order(summary, order)
    note = "" if selection is None else selection.note
    return TestResult(
        statistic=statistic,
        pvalue=distribution.pvalue(statistic),
        n_blocks=summary.plan.n_blocks,
        block_size=summary.plan.block_size,
        n_x=summary.plan.n_x,
        n_y=summary.plan.n_y,
        null=null,
        kernel=kernels[best],
        seed=seed,
        engine=engine,
        seconds=time.perf_counter() - began,
        summary=summary,
        null_distribution=distribution,
        selector=selector,
        candidates=candidates,
        note=note or note_on(summary, distribution),
        n_train=(0, 0) if selection is None else selection.n_train,
        order=order,
        n_pending=n_pending,
    )


def _check(summary: Summary, member: Kernel | None) -> None:
    """Raise unless all blocks are present and finite, those of a member of a family by its name."""
    if not summary.is_complete:
        raise ValueError(f"{summary.values.size} of {summary.plan.n_blocks} blocks are there; add the others first")
    if not (np.isfinite(summary.values).all() and np.isfinite(summary.moments).all()):
        if member is None:
            raise ValueError(OVERFLOWED)
        raise ValueError(f"{member!r} overflowed or gave NaN here; scale the data down or take it out of the family")
