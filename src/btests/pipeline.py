"""Two-sample test of samples of any kind; tests of independence share ``run_test``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from btests._core import engine_name
from btests._core.threads import one_blas_thread
from btests.block_size import FEATURES, BlockRule, BlockSize
from btests.conclude import BlockSummaries, Provenance, conclude, shared_flips, with_notes
from btests.data.sample import AnySample, Sample
from btests.data.unit_sample import UnitSample
from btests.designs import Design, MatchedSamples, TwoSample
from btests.designs.units import UnitDesign
from btests.kernels import Kernel, properties_of
from btests.kernels.fingerprint import fingerprint
from btests.nulls import Null
from btests.nulls.null import check_sizes, wants_gram
from btests.plan import Plan
from btests.result import TestResult
from btests.scaling import coordinate_groups, pooled_scales, warn_of_scales
from btests.selection import Aggregate, PerCoordinate, Selection, Selector, Setting, choose, selector_of
from btests.statistics import (
    MMD,
    Executor,
    FeatureMMD,
    Gram,
    PairedGram,
    Statistic,
    StatisticFactory,
    in_memory,
    make_statistic,
    plan_for,
    require_rows,
    summarize_prepared,
    with_row_moments,
)
from btests.statistics.checks import check_kernel, check_precision
from btests.statistics.cost import affordable_frequencies, affordable_landmarks, affordable_rows
from btests.statistics.feature_mmd import features_chunk

Names = Sequence[str] | None

# Kernels of a family that depends on the data, for an estimate of time before it is made.
_SEVERAL = 10


@dataclass(frozen=True, slots=True)
class Procedure:
    """Two-sample test: kernel, null distribution and settings, for samples of any kind.

    Attributes
    ----------
    kernel : Kernel, Selector, Aggregate, str or None
        As in :func:`btests.btest`.
    null : Null
        Null distribution.
    seed : int
        Seed of the shuffle and of the null distribution.
    setting : Setting
        How blocks are made and computed.
    order : str
        Order of the rows: see :attr:`btests.TestResult.order`.
    began : float
        Start of the work on ``time.perf_counter``.
    scale : bool or None
        Whether each column is divided by its robust pooled scale; None is no, with a warning where scales differ by
        orders of magnitude.
    names : sequence of str or None
        Of the columns, for that warning.
    paired : bool
        Whether rows i of x and of y are of one subject.
    statistic : callable or None
        Makes the statistic from the kernels; None is :class:`btests.MMD`.
    """

    kernel: Kernel | Selector | Aggregate | str | None
    null: Null
    seed: int
    setting: Setting
    order: str
    began: float = field(default_factory=time.perf_counter)
    scale: bool | None = False
    names: Names = None
    paired: bool = False
    statistic: StatisticFactory | None = None

    @property
    def design(self) -> Design:
        """Independent samples, or two of the same subjects."""
        return MatchedSamples() if self.paired else TwoSample()

    def identity(self) -> str:
        """Return everything that the result depends on except rows and seed, as text."""
        parts = fingerprint(self.kernel), fingerprint(self.statistic)
        return repr((*parts, self.setting, self.null, self.scale, self.paired))

    def opened(self, seed: int, order: str, names: tuple[Names, Names], executor: Executor = in_memory) -> Procedure:
        """Return the procedure for samples that were opened; data frames and named columns are scaled by default."""
        named = names[0] or names[1]
        scale = True if self.scale is None and len(coordinate_groups(named)) > 1 else self.scale
        setting = replace(self.setting, executor=executor)
        return replace(self, seed=seed, setting=setting, order=order, names=named, scale=scale)

    def run(self, x: AnySample, y: AnySample) -> TestResult:
        """Return the test of two samples."""
        self.design.check(len(x), len(y), x.width, y.width)
        if self.paired and wants_gram(self.null):
            raise ValueError(f"{self.null!r} relabels rows, which breaks pairs; paired=True takes null=SignFlip()")
        if isinstance(x, UnitSample) and wants_gram(self.null):
            raise ValueError(f"{self.null!r} is for rows that count equally; units and weights take null=SignFlip()")
        if wants_gram(self.null):  # before a choice is made for nothing
            check_sizes(self.null, len(x), len(y))
        scales = None
        if self.scale and not x.is_numeric:
            raise ValueError("scale is for columns of numbers, and these rows are objects")
        if self.scale:
            scales = pooled_scales(x, y, self.names)
            x, y = x.scaled(scales), y.scaled(scales)
        elif x.is_numeric and self.scale is None and _mixes_columns(self.kernel):
            warn_of_scales(x, y, self.names)
        selector = selector_of(self.kernel)
        if isinstance(selector, Aggregate):
            shared_flips(self.null)
        scale = None if scales is None else tuple(scales.tolist())
        return self._run(selector, choose(self.kernel, x, y, self.setting), scale)

    def _run(self, selector: Selector | None, selection: Selection, scale: tuple[float, ...] | None) -> TestResult:
        kernels: tuple[Kernel, ...] = (selection.kernel,)
        if isinstance(selector, Aggregate):
            kernels = tuple(candidate.kernel for candidate in selection.candidates)
        x, y = selection.x, selection.y
        if self._has_features(x, y, kernels):
            statistic: Statistic = self._features(x, y, kernels)
            size, rule = BlockSize(features_chunk(x, y), FEATURES)
        else:
            for kernel in kernels:
                check_kernel(kernel, x, y)
            if len(kernels) == 1:
                check_precision(kernels[0], x, y, self.setting.dtype)
            statistic = make_statistic(self.statistic, kernels, self.setting.dtype)
            statistic.design.check(len(x), len(y), x.width, y.width)
            if len(statistic.kernels) < len(kernels):  # of its own, which nothing has selected
                selector, selection = None, Selection(statistic.kernels[0], x, y)
            size, rule = self._size(x, y, kernels, statistic)
        sizes = statistic.sizes() if isinstance(statistic, FeatureMMD) else {}
        found = run_test(
            statistic,
            (x, y),
            plan_for(statistic, len(x), len(y), size),
            self.setting.executor,
            self.null,
            seed=self.seed,
            provenance=Provenance(
                selector,
                selection,
                order=self.order,
                block_rule=rule,
                n_frequencies=sizes.get("n_frequencies"),
                n_landmarks=sizes.get("n_landmarks"),
                scale=scale,
                paired=self.paired,
                began=self.began,
            ),
            n_threads=self.setting.n_threads,
        )
        if not isinstance(statistic, (MMD, FeatureMMD)):
            return found
        return replace(found, summary=with_row_moments(found.summary, found.kernel, x, y))

    def _has_features(self, x: AnySample, y: AnySample, kernels: Sequence[Kernel]) -> bool:
        blocks = wants_gram(self.null) or self.statistic is not None
        return not blocks and self.setting.block_size(x, y, kernels).rule == FEATURES

    def _features(self, x: AnySample, y: AnySample, kernels: tuple[Kernel, ...]) -> FeatureMMD:
        budget = self.setting.rule.budget
        n_rows = len(x) + len(y)
        n_frequencies = affordable_frequencies(len(kernels), n_rows, x.width, budget)
        n_landmarks = affordable_landmarks(kernels, n_rows, x.width, budget)
        return FeatureMMD(
            kernels, n_frequencies, streams=self.design.streams, dtype=self.setting.dtype, n_landmarks=n_landmarks
        )

    def _size(self, x: AnySample, y: AnySample, kernels: Sequence[Kernel], statistic: Statistic) -> BlockSize:
        if not wants_gram(self.null):
            found = self.setting.block_size(x, y, kernels)
            largest: int = getattr(statistic, "largest_block", found.size)
            return (
                found if self.setting.rule.size is not None or found.size <= largest else BlockSize(largest, "budget")
            )
        return all_rows(self.null, self.setting.rule, len(x), len(y))


def run_units(procedure: Procedure, design: UnitDesign, *, n_kernels: int, shuffle: bool) -> TestResult:
    """Return the test of samples of units, or of weighted rows; ``n_kernels`` is 0 if it depends on the data."""
    x, y, paired, weighting = design.samples(procedure.seed, shuffle=shuffle, paired=procedure.paired)
    rule = procedure.setting.rule
    rule.check(min(len(x), len(y)))
    thinning = ""
    if rule.size is None and rule.exponent is None:
        most = affordable_rows(n_kernels or _SEVERAL, x, y, rule.budget)
        if most is not None:
            x, y = x.thinned(most), y.thinned(most)
            thinning = f"of larger units, {most} rows each were tested, evenly spaced, to keep within the budget"
    found = replace(procedure, paired=paired).run(x, y)
    n_rows = None if design.labels is None else (len(design.x), len(design.y))
    return replace(with_notes(found, weighting, thinning), unit_rows=n_rows)


def all_rows(null: Null, rule: BlockRule, n_x: int, n_y: int) -> BlockSize:
    """Return the block of all rows, for a null that needs it; raise if another was asked for or memory is short."""
    n = min(n_x, n_y)
    if rule.exponent is not None or rule.size not in (None, n):
        asked = rule.size if rule.exponent is None else f"[n^{rule.exponent:g}]"
        raise ValueError(f"{null!r} tests all rows at once: block_size must be {n} or None, got {asked}")
    check_sizes(null, n_x, n_y)
    return BlockSize(n, "one block")


def run_test(
    statistic: Statistic,
    samples: tuple[AnySample, AnySample],
    plan: Plan,
    executor: Executor,
    null: Null,
    *,
    seed: int,
    provenance: Provenance | None = None,
    n_threads: int | None = None,
) -> TestResult:
    """Return the test of two samples by a statistic: summarize all blocks, then conclude.

    Parameters
    ----------
    statistic : Statistic
        Values and moments of the blocks, for one kernel or several.
    samples : tuple of AnySample
        x and y, rows in the order in which they fill blocks; in memory, in files or on a cluster.
    plan : Plan
        Layout of the blocks: see :func:`btests.statistics.plan_for`.
    executor : Executor
        Computes the blocks.
    null : Null
        Null distribution.
    seed : int
    provenance : Provenance, optional
    n_threads : int, optional
        See :func:`btests.conclude.conclude`.

    Returns
    -------
    TestResult
    """
    n = len(statistic.kernels)
    if n > 1:  # an error now rather than after all blocks
        shared_flips(null, f"the {n} members of {type(statistic).__name__}")
    found = summarize(statistic, samples, plan, executor, with_gram=wants_gram(null), n_threads=n_threads)
    return conclude(found, null, seed, provenance, n_threads=n_threads)


def summarize(
    statistic: Statistic,
    samples: tuple[AnySample, AnySample],
    plan: Plan,
    executor: Executor,
    *,
    with_gram: bool = False,
    n_threads: int | None = None,
) -> BlockSummaries:
    """Return the summaries of all blocks, and Gram matrices of rows in memory if they are wanted; as in `run_test`."""
    x, y = samples
    require_rows(statistic, in_memory=isinstance(x, Sample) and isinstance(y, Sample))
    engine = engine_name(statistic.engine(x), executor.instructions)
    gram: Gram | PairedGram | None = None
    if with_gram and isinstance(x, Sample) and isinstance(y, Sample):
        gram = statistic.gram(x, y)
    with one_blas_thread():
        if isinstance(gram, Gram) and engine == "numpy":
            return BlockSummaries(statistic.kernels, (), engine, gram)
        statistic = statistic.prepare(x, y)
        summaries = summarize_prepared(statistic, x, y, plan, n_threads, executor=executor)
    return BlockSummaries(statistic.kernels, summaries, engine, gram)


def _mixes_columns(kernel: object) -> bool:
    """Whether distances over all columns matter to a kernel or to the members of a family.

    Of a user's function it is not known.
    """
    ours = kernel is None or isinstance(kernel, str) or type(kernel).__module__.startswith("btests.")
    apart = properties_of(kernel).columns is not None or isinstance(getattr(kernel, "family", None), PerCoordinate)
    return ours and not apart
