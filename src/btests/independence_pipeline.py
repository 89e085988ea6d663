"""The pipeline of a test of independence: bandwidths, block size, HSIC and its symmetry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np

from btests.block_size import FEATURES, BlockRule, BlockSize
from btests.conclude import Provenance
from btests.data.sample import AnySample
from btests.designs import JointSample
from btests.kernels import Kernel, KernelPair, median_bandwidth
from btests.kernels.fingerprint import fingerprint
from btests.kernels.kernel import terms_of
from btests.kernels.random_fourier import has_features
from btests.nulls import Null, SignFlip
from btests.nulls.null import wants_gram
from btests.pipeline import Names, all_rows, run_test
from btests.plan import Plan
from btests.result import TestResult
from btests.scaling import coordinate_groups, scales_of, warn_of_scales
from btests.selection import Aggregate, MedianFamily, Setting
from btests.statistics import HSIC, Executor, FeatureHSIC, in_memory, plan_for
from btests.statistics.checks import check_kernel
from btests.statistics.cost import affordable_hsic_frequencies, hsic_pair_seconds
from btests.statistics.feature_hsic import CHUNK_ROWS
from btests.statistics.hsic import MIN_ROWS
from btests.symmetries import Redraw

#: One block of at most so many rows is permuted as a whole by default: of so few, tuples have few swaps.
MAX_PERMUTED = 64

# Rows that bandwidths and scales are estimated from: whole tuples of every size.
_ROWS = 1024

Family = MedianFamily | tuple[Kernel, ...]

#: Bandwidths of x and of y by default, in units of the median heuristic: where one block of all rows with all their
#: combinations is within the budget, and otherwise. docs/independence.md compares them.
DEFAULT_FAMILY = MedianFamily((0.25, 0.5, 1.0, 2.0, 4.0))
SMALLER_FAMILY = MedianFamily((0.5, 1.0, 2.0))


@dataclass(frozen=True, slots=True)
class IndependenceProcedure:
    """Test of independence: kernels, null distribution and settings, for samples of any kind.

    Attributes
    ----------
    kernels_x, kernels_y : MedianFamily or tuple of Kernel
        Kernels of x and of y.
    null, seed, setting, order, began, scale
        See :class:`btests.pipeline.Procedure`.
    names : tuple
        Names of the columns of x and of y, or None.
    permutes : bool
        Whether one block of few rows is permuted as a whole instead of within tuples.
    """

    kernels_x: Family
    kernels_y: Family
    null: Null
    seed: int
    setting: Setting
    order: str
    began: float
    scale: bool | None = False
    names: tuple[Names, Names] = (None, None)
    permutes: bool = False

    design: ClassVar[JointSample] = JointSample()

    def identity(self) -> str:
        """Return everything that the result depends on except rows and seed, as text."""
        kernels = fingerprint(self.kernels_x), fingerprint(self.kernels_y)
        return repr(("independence", *kernels, self.setting, self.null, self.scale))

    def opened(
        self, seed: int, order: str, names: tuple[Names, Names], executor: Executor = in_memory
    ) -> IndependenceProcedure:
        """Return the procedure for samples that were opened; several named columns are scaled by default."""
        named = any(len(coordinate_groups(own)) > 1 for own in names)
        scale = True if self.scale is None and named else self.scale
        setting = replace(self.setting, executor=executor)
        return replace(self, seed=seed, setting=setting, order=order, scale=scale, names=names)

    def run(self, x: AnySample, y: AnySample) -> TestResult:
        """Return the test of two paired samples."""
        self.design.check(len(x), len(y), x.width, y.width)
        if self.kernels_x is DEFAULT_FAMILY and self.kernels_y is DEFAULT_FAMILY and not self._affords_one_block(x, y):
            return replace(self, kernels_x=SMALLER_FAMILY, kernels_y=SMALLER_FAMILY).run(x, y)
        size, rule = self._size(x, y)
        # Full permutations leave nothing as it is but all rows together.
        some = len(x) if wants_gram(self.null) else _whole_blocks(Plan(len(x), len(y), len(x) // size))
        scales: list[float] = []
        if self.scale:
            both = []
            for sample, names in zip((x, y), self.names, strict=True):
                own = scales_of(sample.first(some).astype(np.float64), names)
                scales.extend(own.tolist())
                both.append(sample.scaled(own))
            x, y = both
        elif self.scale is None:
            for sample, names in zip((x, y), self.names, strict=True):
                warn_of_scales(sample, sample, names)
        of_x, of_y = _made(self.kernels_x, x, some), _made(self.kernels_y, y, some)
        for of_side, sample in ((of_x, x), (of_y, y)):
            for kernel in of_side:
                check_kernel(kernel, sample, sample)
        kernels = tuple(KernelPair(a, b) for a, b in product(of_x, of_y))
        statistic: HSIC | FeatureHSIC = HSIC(kernels, getattr(self.null, "order", 0))
        if rule == FEATURES:
            n_frequencies = affordable_hsic_frequencies(len(of_x), len(of_y), len(x), self.setting.rule.budget)
            statistic = FeatureHSIC(kernels, n_frequencies)
        elif self.permutes and size == len(x) <= MAX_PERMUTED and isinstance(self.null, SignFlip):
            statistic = HSIC(kernels, symmetry=Redraw(self.null.n_resamples, self.seed))
        return run_test(
            statistic,
            (x, y),
            plan_for(statistic, len(x), len(y), size),
            self.setting.executor,
            self.null,
            seed=self.seed,
            provenance=Provenance(
                Aggregate(kernels) if len(kernels) > 1 else None,
                order=self.order,
                block_rule=rule,
                n_frequencies=getattr(statistic, "n_frequencies", None),
                scale=tuple(scales) if self.scale else None,
                paired=True,
                began=self.began,
            ),
            n_threads=self.setting.n_threads,
        )

    def _size(self, x: AnySample, y: AnySample) -> BlockSize:
        n = len(x)
        if wants_gram(self.null):
            return all_rows(self.null, self.setting.rule, n, n)
        has_spectra = all(map(has_features, (*_around(self.kernels_x), *_around(self.kernels_y))))
        found = self.setting.rule.size_for(n, n, self._pair_seconds(x, y), has_features=has_spectra)
        if found.rule == FEATURES:
            return BlockSize(min(n, CHUNK_ROWS), FEATURES)
        return found if found.size >= MIN_ROWS else BlockSize(MIN_ROWS, found.rule)

    def _affords_one_block(self, x: AnySample, y: AnySample) -> bool:
        rule = BlockRule(budget=self.setting.rule.budget)
        return rule.size_for(len(x), len(y), self._pair_seconds(x, y)).rule == "one block"

    def _pair_seconds(self, x: AnySample, y: AnySample) -> float:
        of_x, of_y = _around(self.kernels_x), _around(self.kernels_y)
        compiled = all(terms_of(kernel) is not None for kernel in (*of_x, *of_y))
        return hsic_pair_seconds(len(of_x), len(of_y), x.width + y.width, compiled=compiled)


def _around(kernels: Family) -> tuple[Kernel, ...]:
    """Return kernels of any bandwidths, on which costs do not depend."""
    return kernels if isinstance(kernels, tuple) else kernels.around(1.0)


def _made(kernels: MedianFamily | tuple[Kernel, ...], sample: AnySample, n_rows: int) -> tuple[Kernel, ...]:
    """Return kernels; bandwidths are from the first ``n_rows`` rows of a sample."""
    if isinstance(kernels, tuple):
        return kernels
    return kernels.around(median_bandwidth(sample.first(n_rows).astype(np.float64)))


def _whole_blocks(plan: Plan) -> int:
    """Return how many rows the bandwidths are from: whole blocks, or whole tuples of the first.

    Swaps change neither, so that p-values stay exact.
    """
    if plan.start(1)[0] >= _ROWS:
        return _ROWS
    return max(plan.start(block)[0] for block in range(plan.n_blocks + 1) if plan.start(block)[0] <= _ROWS)
