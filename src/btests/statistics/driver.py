"""Summaries of all blocks, with the typical size of a kernel value and what it is known to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

from btests.data.sample import AnySample, Sample
from btests.kernels.protocol import Kernel
from btests.plan import Plan
from btests.statistics.mmd import MMD
from btests.statistics.multi_kernel import Family, abs_errors
from btests.statistics.numpy_backend import kernel_scales
from btests.summary import Summary


class Elsewhere(Protocol):
    """A sample whose rows are not here: it knows how to reach them."""

    def summarize(self, family: Family, y: Any, plan: Plan, n_threads: int | None = None) -> Sequence[Summary]:
        """Return the summary of all blocks of this sample and another of the same kind, for each kernel."""
        ...


def summarize(statistic: MMD, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks, spread over threads where loops are compiled."""
    return summarize_family(statistic.family(), x, y, plan, n_threads)[0]


def summarize_family(
    family: Family, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each kernel of a family, in their order."""
    kernel_scale = kernel_scales(family.kernels, x, y) if family.shares else []
    family = family.suited(kernel_scale) if kernel_scale else family
    if isinstance(x, Sample) and isinstance(y, Sample):
        found = family.summarize(x, y, plan, n_threads=n_threads)
    else:
        found = tuple(cast(Elsewhere, x).summarize(family, y, plan, n_threads))
    # Of kernels that share nothing afterwards: one that fails should fail on a block.
    return measured(found, family.kernels, kernel_scale or kernel_scales(family.kernels, x, y))


def measured(
    found: Sequence[Summary], kernels: tuple[Kernel, ...], kernel_scale: Sequence[float]
) -> tuple[Summary, ...]:
    """Return the summaries of kernels with their typical sizes, and with what their values are known to."""
    return tuple(
        replace(summary, kernel_scale=size, abs_error=abs_error)
        for summary, size, abs_error in zip(found, kernel_scale, abs_errors(kernels, kernel_scale), strict=True)
    )
