"""The one pipeline: choose the kernel, summarize the blocks, conclude."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from btests.block_size import BlockSize
from btests.conclude import conclude
from btests.data.sample import AnySample, Sample
from btests.designs import Design, MatchedSamples, TwoSample
from btests.kernels import Kernel, properties_of
from btests.kernels.fingerprint import fingerprint
from btests.nulls import Null, SignFlip
from btests.nulls.null import check_sizes, wants_gram
from btests.plan import Plan
from btests.result import TestResult
from btests.scaling import pooled_scales, warn_of_scales
from btests.selection import Aggregate, PerCoordinate, Selection, Selector, Setting
from btests.selection.named_kernels import KERNELS
from btests.statistics import (
    MMD,
    Executor,
    Gram,
    PairedGram,
    Statistic,
    plan_for,
    summarize_all,
    with_row_moments,
)
from btests.statistics.checks import check_kernel, check_precision

Names = Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Procedure:
    """Two-sample test: kernel, null distribution and settings, for samples of any kind.

    Attributes
    ----------
    kernel, null, seed
        As in :func:`btests.btest`, None and names for kernels included.
    setting
        How blocks are made and computed.
    order
        How rows are put in order.
    began
        When the work began, on ``time.perf_counter``.
    scale
        Whether each column is divided by its robust pooled scale; None is no, with a warning where scales differ by
        orders of magnitude.
    names
        Of the columns, for that warning.
    paired
        Whether rows i of x and of y are of one subject.
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

    @property
    def design(self) -> Design:
        """Independent samples, or two of the same subjects."""
        return MatchedSamples() if self.paired else TwoSample()

    def identity(self) -> str:
        """Return everything that the result depends on except rows and seed, as text."""
        return repr((fingerprint(self.kernel), self.setting, self.null, self.scale, self.paired))

    def opened(self, seed: int, executor: Executor, order: str, names: tuple[Names, Names]) -> Procedure:
        """Return the procedure for samples that were opened; data frames and named columns are scaled by default."""
        named = names[0] or names[1]
        scale = True if self.scale is None and named is not None and len(named) > 1 else self.scale
        setting = replace(self.setting, executor=executor)
        return replace(self, seed=seed, setting=setting, order=order, names=named, scale=scale)

    def run(self, x: AnySample, y: AnySample) -> TestResult:
        """Return the test of two samples."""
        self.design.check(len(x), len(y), x.width, y.width)
        if self.paired and wants_gram(self.null):
            raise ValueError(f"{self.null!r} relabels rows, which breaks pairs; paired=True takes null=SignFlip()")
        if wants_gram(self.null):  # before a choice is made for nothing
            check_sizes(self.null, len(x), len(y))
        scales = None
        if self.scale and not x.is_numeric:
            raise ValueError("scale is for columns of numbers, and these rows are objects")
        if self.scale:
            scales = pooled_scales(x, y)
            x, y = x.scaled(scales), y.scaled(scales)
        elif x.is_numeric and self.scale is None and _mixes_columns(self.kernel):
            warn_of_scales(x, y, self.names)
        selector = selector_of(self.kernel)
        if isinstance(selector, Aggregate) and not isinstance(self.null, SignFlip):
            raise ValueError(
                f"Aggregate needs sign flips that its kernels share: null must be SignFlip(), got {self.null!r}"
            )
        found = self._run(selector, choose(self.kernel, x, y, self.setting))
        return found if scales is None else replace(found, scale=tuple(scales.tolist()))

    def _run(self, selector: Selector | None, selection: Selection) -> TestResult:
        kernels: tuple[Kernel, ...] = (selection.kernel,)
        if isinstance(selector, Aggregate):
            kernels = tuple(candidate.kernel for candidate in selection.candidates)
        x, y = selection.x, selection.y
        for kernel in kernels:
            check_kernel(kernel, x, y)
        if len(kernels) == 1:  # a family is always in float64: its flat members are nothing but rounding in float32
            check_precision(kernels[0], x, y, self.setting.dtype)
        statistic = MMD(kernels, self.setting.dtype if len(kernels) == 1 else "float64")
        size, rule = self._size(x, y, kernels)
        found = run_test(
            statistic,
            (x, y),
            plan_for(statistic, len(x), len(y), size),
            self.setting.executor,
            self.null,
            seed=self.seed,
            selector=selector,
            selection=selection,
            order=self.order,
            began=self.began,
        )
        summary = with_row_moments(found.summary, found.kernel, x, y)
        return replace(found, summary=summary, block_rule=rule, paired=self.paired)

    def _size(self, x: AnySample, y: AnySample, kernels: Sequence[Kernel]) -> BlockSize:
        if not wants_gram(self.null):
            return self.setting.block_size(x, y, kernels)
        n, rule = min(len(x), len(y)), self.setting.rule
        if rule.exponent is not None or rule.size not in (None, n):
            asked = rule.size if rule.exponent is None else f"[n^{rule.exponent:g}]"
            raise ValueError(f"{self.null!r} tests all rows at once: block_size must be {n} or None, got {asked}")
        check_sizes(self.null, len(x), len(y))
        return BlockSize(n, "one block")


def run_test(
    statistic: Statistic,
    samples: tuple[AnySample, AnySample],
    plan: Plan,
    executor: Executor,
    null: Null,
    *,
    seed: int,
    selector: Selector | Aggregate | None = None,
    selection: Selection | None = None,
    order: str = "as stored",
    began: float | None = None,
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
    seed, selector, selection, order, began
        See :func:`btests.conclude.conclude`.

    Returns
    -------
    TestResult
    """
    x, y = samples
    engine = statistic.engine(x)
    gram: Gram | PairedGram | None = None
    if wants_gram(null) and isinstance(x, Sample) and isinstance(y, Sample):
        gram = statistic.gram(x, y)
    distribution = None if gram is None else null.distribution(gram, seed)
    by_tiles = (gram.summary(),) if isinstance(gram, Gram) and engine == "numpy" else None
    summaries = summarize_all(statistic, x, y, plan, executor=executor) if by_tiles is None else by_tiles
    return conclude(
        statistic.kernels,
        summaries,
        null,
        seed,
        selector=selector,
        selection=selection,
        gram=gram,
        distribution=distribution,
        engine=engine,
        order=order,
        began=began,
    )


def _mixes_columns(kernel: object) -> bool:
    """Whether distances over all columns matter to a kernel or to the members of a family.

    Of a user's function it is not known.
    """
    ours = kernel is None or isinstance(kernel, str) or type(kernel).__module__.startswith("btests.")
    apart = properties_of(kernel).columns is not None or isinstance(getattr(kernel, "family", None), PerCoordinate)
    return ours and not apart


def choose(
    kernel: Kernel | Selector | str | None, x: AnySample, y: AnySample, setting: Setting | None = None
) -> Selection:
    """Return the kernel that was asked for or selected, and the rows that are valid for testing with it."""
    selector = selector_of(kernel)
    if selector is not None:
        return selector.select(x, y, setting or Setting())
    fixed: Any = KERNELS[kernel] if isinstance(kernel, str) else kernel
    return Selection(fixed, x, y)


def selector_of(kernel: Kernel | Selector | str | None) -> Selector | None:
    """Return what chooses the kernel, None where it is given."""
    if kernel is None or isinstance(kernel, str):
        kernel = KERNELS[kernel or "gaussian"]
    return kernel if isinstance(kernel, Selector) else None
