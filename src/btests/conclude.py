"""Conclude a test: from summaries of all blocks to a result with its notes and warnings.

Tests of arrays, files and clusters (:func:`btests.pipeline.run_test`), streams and sums of partial results end here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from btests._core.threads import one_blas_thread
from btests._text import brief
from btests._warnings import OrderWarning, PrecisionWarning, warn
from btests.diagnostics import serial_score
from btests.kernels.kernel import Kernel, properties_of
from btests.nulls import Null, SignFlip
from btests.nulls.distributions import NullDistribution, RankDistribution, ResampledDistribution
from btests.report.number_format import whole_percent
from btests.result import TestResult
from btests.selection import Aggregate, Candidate, Selection, Selector
from btests.statistics import Gram, PairedGram
from btests.statistics.checks import overflow_error
from btests.summary import Summary
from btests.symmetries import Redraw, SwapTuples

# Blocks with a larger serial correlation than this, in standard deviations, are not of rows in random order: of those,
# one test in ten million is.
_SERIAL = 5.2

# A spread over all swaps of fewer roundings than this is no spread to rely on.
_ROUNDINGS = 1e3

# Ties of more than this share of the draws make the level of a test visibly smaller than its nominal one.
_MANY_TIES = 0.05

# The level that a test should be able to reach.
_USUAL = 0.05


def note_on(summary: Summary, null_distribution: NullDistribution, statistic: float) -> str:
    """Return one sentence if no swap changes the statistic, swaps are few or ties are many, else an empty one."""
    if not summary.values.any() and not summary.moments.any():
        if isinstance(summary.symmetry, (Redraw, SwapTuples)):
            return "no permutation of y changes anything for these kernels: x or y is constant, or nearly so for them"
        return (
            "no swap of x and y changes anything for this kernel: all rows are equal, or those of x and y are the "
            "same in the same order, or the kernel is much too wide or too narrow for them, or they are so far from 0 "
            "that rounding hides what differs"
        )
    if (
        isinstance(null_distribution, ResampledDistribution)
        and null_distribution.exhaustive
        and null_distribution.smallest() > _USUAL
    ):
        more = "" if summary.plan.n_blocks == 1 else ", or larger blocks"
        least = f"no p-value here is below {null_distribution.smallest():.2g}"
        return f"so few swaps are possible that {least}: take larger samples{more}"
    tied = 0.0
    if isinstance(null_distribution, RankDistribution) or (
        isinstance(null_distribution, ResampledDistribution) and null_distribution.tie_weight == 1.0
    ):
        tied = null_distribution.tied(statistic)
    if tied > _MANY_TIES:
        named = "with correction='max' " if isinstance(null_distribution, RankDistribution) else ""
        return (
            f"{whole_percent(tied)}% of the swaps give the same statistic and count against rejection: the p-value is "
            f"conservative; {named}SignFlip(ties='midp') or ties='random', chosen before the test, is not"
        )
    return ""


def warn_of_rounding(summary: Summary, kernel: Kernel) -> None:
    """Warn where the values of a kernel are so large that they differ in their last digits only."""
    if not properties_of(kernel).centers_rows and 0.0 < summary.deviation() < _ROUNDINGS * summary.rounding:
        warn(
            "the values of this kernel are so large that rounding hides most of their differences; subtract a "
            "common offset from the data",
            PrecisionWarning,
        )


def warn_of_order(summary: Summary, order: str) -> None:
    """Warn where the values of neighbouring blocks are correlated, and rows were not put in random order."""
    if order != "exact" and serial_score(summary.values) > _SERIAL:
        warn(
            "values of neighbouring blocks are correlated: the rows are sorted, or depend on one another, or the "
            "difference changes along them, and then the p-value does not hold; shuffle=True puts rows of arrays "
            "and files in random order, and those of batches within a buffer",
            OrderWarning,
        )


@dataclass(frozen=True, slots=True)
class BlockSummaries:
    """What all blocks have left behind, wherever they were computed.

    Attributes
    ----------
    kernels : sequence of Kernel
        Members of the statistic: one kernel, or those that are tested at once.
    summaries : sequence of Summary
        Summary of all blocks for each kernel, of the same blocks; empty if ``gram`` has the one of all rows.
    engine : str
        See :class:`btests.TestResult`.
    gram : Gram or PairedGram, optional
        Gram matrices of all rows, for a null distribution that needs them.
    """

    kernels: Sequence[Kernel]
    summaries: Sequence[Summary]
    engine: str = ""
    gram: Gram | PairedGram | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the blocks of a test come from, for its result.

    Attributes
    ----------
    selector : Selector or Aggregate, optional
        How the kernel was selected, or several kernels are corrected for.
    selection : Selection, optional
        What the selector returned; candidates, note and numbers of rows go into the result.
    order, n_pending, read, block_rule, n_frequencies, n_landmarks, scale, paired
        See :class:`btests.TestResult`.
    began : float
        Start of the work on ``time.perf_counter``.
    """

    selector: Selector | Aggregate | None = None
    selection: Selection | None = None
    order: str = "as stored"
    n_pending: tuple[int, int] = (0, 0)
    read: str = "at once"
    block_rule: str = "given"
    n_frequencies: int | None = None
    n_landmarks: int | None = None
    scale: tuple[float, ...] | None = None
    paired: bool = False
    began: float = field(default_factory=time.perf_counter)


def shared_flips(null: Null, members: str = "the kernels of Aggregate") -> SignFlip:
    """Return the null of several kernels, or raise if it is not of sign flips that these ``members`` share."""
    if not isinstance(null, SignFlip):
        raise ValueError(f"{members} share their sign flips: null must be SignFlip(), got {brief(null)}")
    return null


def with_notes(result: TestResult, *notes: str) -> TestResult:
    """Return a result with more notes; empty ones say nothing."""
    return replace(result, note="; ".join(filter(None, (result.note, *notes))))


@one_blas_thread()
def conclude(
    found: BlockSummaries,
    null: Null,
    seed: int,
    provenance: Provenance | None = None,
    *,
    n_threads: int | None = None,
) -> TestResult:
    """Return the result of a test; of several kernels, that of the strongest.

    Every :class:`btests.TestResult` is made here.

    Parameters
    ----------
    found : BlockSummaries
        Summaries of all blocks, and their kernels.
    null : Null
        Null distribution; ``SignFlip`` for several kernels, which share its draws.
    seed : int
        Seed of the null distribution.
    provenance : Provenance, optional
        Where the blocks come from.
    n_threads : int, optional
        Threads of the null distribution; None is all cores of this process.

    Returns
    -------
    TestResult

    Raises
    ------
    ValueError
        If blocks are missing, or values are not finite.
    """
    about, kernels = provenance or Provenance(), found.kernels
    selector, selection = about.selector, about.selection
    summaries, distribution = found.summaries, None
    if found.gram is not None:
        distribution = null.distribution(found.gram, seed, n_threads)
        if isinstance(found.gram, Gram) and not summaries:  # of the same pass over the tiles, so it comes second
            summaries = (found.gram.summary(),)
    for kernel, summary in zip(kernels, summaries, strict=True):
        _check(summary, kernel if len(kernels) > 1 else None)
    candidates = () if selection is None else selection.candidates
    best, summary = 0, summaries[0]
    if len(summaries) > 1:
        null = shared_flips(null)
        aggregate = selector if isinstance(selector, Aggregate) else Aggregate()
        outcome = aggregate.conclude(summaries, null, seed, n_threads)
        best, distribution = outcome.selected, outcome.null_distribution
        summary = summaries[best] if outcome.is_resolved else summaries[best].zeroed()
        candidates = tuple(
            Candidate(kernel, float(score), float(j == best))
            for j, (kernel, score) in enumerate(zip(kernels, outcome.scores, strict=True))
        )
    else:
        summary = summary.resolved()
    warn_of_rounding(summary, kernels[best])
    evidence = summary if found.gram is None else found.gram
    if distribution is None:
        distribution = null.distribution(evidence, seed, n_threads)
    statistic = null.statistic(evidence)
    warn_of_order(summary, about.order)
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
        engine=found.engine,
        seconds=time.perf_counter() - about.began,
        summary=summary,
        null_distribution=distribution,
        selector=selector,
        candidates=candidates,
        note=note or note_on(summary, distribution, statistic),
        n_train=(0, 0) if selection is None else selection.n_train,
        order=about.order,
        n_pending=about.n_pending,
        read=about.read,
        block_rule=about.block_rule,
        n_frequencies=about.n_frequencies,
        n_landmarks=about.n_landmarks,
        scale=about.scale,
        paired=about.paired,
    )


def _check(summary: Summary, member: Kernel | None) -> None:
    """Raise unless all blocks are present and finite, those of a member of a family by its name."""
    if not summary.is_complete:
        raise ValueError(f"{summary.values.size} of {summary.plan.n_blocks} blocks are there; add the others first")
    if not (np.isfinite(summary.values).all() and np.isfinite(summary.moments).all()):
        raise overflow_error(member, in_family=member is not None)
