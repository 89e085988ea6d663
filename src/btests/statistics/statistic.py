"""Protocols of a statistic and of an executor, and the summary of blocks that they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeGuard, cast

import numpy as np

from btests._core.threads import one_blas_thread
from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.data.unit_sample import UnitSample
from btests.designs import Design
from btests.pairwise_sum import Part
from btests.plan import Array, Plan
from btests.summary import Summary
from btests.symmetries import Symmetry


class Accuracy(NamedTuple):
    """Root mean square of a kernel value, and its absolute error; 0.0 if not estimated or accurate to rounding."""

    kernel_scale: float = 0.0
    abs_error: float = 0.0


class Statistic(Protocol):
    """Value of each block and additive moments for the null distribution, of one or several kernels at once.

    A new statistic is one class with these members. Arrays, files, streams and clusters call them alone, and these,
    which most statistics do not have:

    - ``largest_block``, int: rows of a block at most.
    - ``wants_all_rows``, bool: see :func:`wants_all_rows`.
    - ``adds_rows``, bool: see :func:`adds_rows`. Then ``blocks`` returns sums that all members share, one for each
      level, of shape ``moment_shape(n_x, n_y, n_blocks)``, and ``members(summaries)`` the summary of each member.
    """

    @property
    def kernels(self) -> tuple[Any, ...]:
        """Members of the statistic, named in results; each has values and moments of its own."""
        ...

    @property
    def design(self) -> Design:
        """Which samples there are, and how their rows are ordered."""
        ...

    @property
    def symmetry(self) -> Symmetry:
        """Group that leaves the null hypothesis invariant, and how it acts on the moments."""
        ...

    def engine(self, x: AnySample) -> str:
        """Return the name of the backend: ``numpy`` or ``compiled``."""
        ...

    def gram(self, x: Sample, y: Sample) -> Any:
        """Return the Gram matrices of all rows, for null distributions that need them, or raise ``ValueError``."""
        ...

    def prepare(self, x: AnySample, y: AnySample) -> Statistic:
        """Return the statistic in the form that is computed on these samples."""
        ...

    def accuracy(self, x: AnySample, y: AnySample) -> Sequence[Accuracy]:
        """Return scale and error of each member on these samples."""
        ...

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> Sequence[tuple[Array, Array]]:
        """Return values and moments of a range of blocks for each member.

        Values are (m,), one for each block; moments are (q, *shape), summed over the blocks of each node of the tree
        (see :meth:`btests.block_range.BlockRange.sum_nodes`).
        """
        ...


def is_statistic(value: object) -> TypeGuard[Statistic]:
    """Return whether a value is a statistic, and not a kernel or a selector."""
    return hasattr(value, "blocks") and hasattr(value, "symmetry") and not isinstance(value, type)


def wants_all_rows(statistic: Statistic) -> bool:
    """Return whether a block of a statistic may hold any rows, so that all of them must be in memory."""
    return bool(getattr(statistic, "wants_all_rows", False))


def adds_rows(statistic: Statistic) -> bool:
    """Return whether the moments are sums over rows, in any order, and ``members`` makes of them those of the kernels.

    Such a statistic has no blocks: their numbers stand for chunks of rows, which need not be in random order.
    """
    return bool(getattr(statistic, "adds_rows", False))


def plan_for(statistic: Statistic, n_x: int, n_y: int, block_size: int) -> Plan:
    """Return the plan of blocks of at least ``block_size`` rows for a statistic."""
    n_blocks = min(n_x, n_y) // block_size
    shape = getattr(statistic, "moment_shape", statistic.symmetry.moment_shape)(n_x, n_y, n_blocks)
    return Plan(n_x, n_y, n_blocks, len(statistic.kernels), shape)


def summarize_blocks(
    statistic: Statistic,
    x: Sample | RowSlice,
    y: Sample | RowSlice,
    plan: Plan,
    numbers: tuple[int, int] | None = None,
    *,
    n_threads: int | None = 1,
    goes_on: bool = False,
    instructions: str | None = None,
) -> tuple[Summary, ...]:
    """Return the summary of blocks ``numbers[0] .. numbers[1] - 1``, or of all, for each member of a statistic."""
    chunk = BlockRange.of(plan, numbers, n_threads, goes_on=goes_on, instructions=instructions)
    # Values that are not finite are refused when a test is concluded.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        found = statistic.blocks(x, y, chunk)
    span = np.array([(chunk.first, chunk.last)], dtype=np.int64)
    return tuple(
        Summary((Part(0, plan, span, values, chunk.nodes, moments),), symmetry=statistic.symmetry)
        for values, moments in found
    )


class Executor(Protocol):
    """Computes the blocks of a statistic: in memory, chunk by chunk, or on a cluster."""

    @property
    def instructions(self) -> str | None:
        """Instruction set of the compiled loops; None for the best of this machine."""
        ...

    def __call__(
        self, statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
    ) -> Sequence[Summary]:
        """Return the summary of all blocks for each member of the statistic."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory:
    """Executor for samples in memory: all blocks at once, spread over threads where loops are compiled."""

    instructions: str | None = None

    def __call__(
        self, statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None
    ) -> tuple[Summary, ...]:
        """Return the summary of all blocks for each member of the statistic."""
        assert isinstance(x, (Sample, UnitSample))
        assert isinstance(y, (Sample, UnitSample))
        # Samples of units go to statistics that take them alone: see MMD.
        p, q = cast(Sample, x), cast(Sample, y)
        return summarize_blocks(statistic, p, q, plan, n_threads=n_threads, instructions=self.instructions)


#: Executor with the best instruction set of this machine.
in_memory = InMemory()


def summarize_all(
    statistic: Statistic,
    x: AnySample,
    y: AnySample,
    plan: Plan,
    n_threads: int | None = None,
    *,
    executor: Executor = in_memory,
) -> tuple[Summary, ...]:
    """Return the summary of all blocks for each member of a statistic, with scale and error of its kernel."""
    return summarize_prepared(statistic.prepare(x, y), x, y, plan, n_threads, executor=executor)


def summarize_prepared(
    statistic: Statistic,
    x: AnySample,
    y: AnySample,
    plan: Plan,
    n_threads: int | None = None,
    *,
    executor: Executor = in_memory,
) -> tuple[Summary, ...]:
    """Return the same for a statistic that was prepared for these samples."""
    found = executor(statistic, x, y, plan, n_threads)
    if (members := getattr(statistic, "members", None)) is not None:  # from sums that all of them share
        found = members(found)
    # Scales last: a kernel that fails should fail on a block.
    accuracy = statistic.accuracy(x, y)
    if not len(found) == len(accuracy) == len(statistic.kernels):
        raise ValueError(
            f"{type(statistic).__name__} has {len(statistic.kernels)} members, its kernels, and returned blocks of "
            f"{len(found)} and accuracies of {len(accuracy)}"
        )
    return with_accuracy(found, accuracy)


def with_accuracy(found: Sequence[Summary], accuracy: Sequence[Accuracy]) -> tuple[Summary, ...]:
    """Return summaries with scale and absolute error of their kernels."""
    return tuple(
        replace(summary, kernel_scale=scale, abs_error=error)
        for summary, (scale, error) in zip(found, accuracy, strict=True)
    )


def summarize(statistic: Statistic, x: AnySample, y: AnySample, plan: Plan, n_threads: int | None = None) -> Summary:
    """Return the summary of all blocks of two samples in memory for a statistic of one member."""
    (found,) = summarize_all(statistic, x, y, plan, n_threads=n_threads)
    return found
