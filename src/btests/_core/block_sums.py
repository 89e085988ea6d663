"""Block values and moments by the compiled loops; ``btests.statistics.numpy_backend`` has the numpy version."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from btests._core.bandwidth_chain import Chain, Term, chain
from btests._core.constants import (
    ALL_STEPS,
    CONCLUDE_STEP,
    DIRECT_COORDINATES,
    FAMILIES,
    LARGE_BLOCK,
    MAX_GROUPS,
    N_GROUP_SUMS,
    N_PARTS,
    SHAPES,
    SUM_STEP,
)
from btests._core.library import PACKED_COORDINATES, Rows, Task, address_of, loaded, number_of
from btests._core.threads import map_ranges
from btests.block_range import BlockRange
from btests.plan import Array, Plan

# With fewer nodes than this, threads take parts of a large block instead of nodes.
_FEW_NODES = 16

# Distances are a smaller part of the work on a family of kernels, and the rest of it is faster with ManyBlocks.
_DIRECT_FAMILY_COORDINATES = 512


def lanes_are_blocks(plan: Plan, d: int, n_terms: int = 1, *, endless: bool = False) -> bool:
    """Return whether a lane of a vector is a block (ManyBlocks), not a row of one block (LargeBlocks).

    Parameters
    ----------
    plan : Plan
        Sizes of all blocks.
    d : int
        Coordinates of a row.
    n_terms : int, default 1
        Kernels that are computed together.
    endless : bool, default False
        Whether the number of blocks is unknown, as in streams: then the answer depends on their shape alone.

    Notes
    -----
    The answer never depends on the chunk at hand, so that chunks cannot change a bit of the result.
    """
    enough = endless or plan.n_blocks >= (8 if plan.block_size <= 64 else 24)
    narrow = d <= (DIRECT_COORDINATES if n_terms == 1 else _DIRECT_FAMILY_COORDINATES)
    fits = narrow and plan.block_size * d <= PACKED_COORDINATES
    return plan.paired and enough and (fits or plan.block_size <= 16)


def summarize(
    x: Rows, y: Rows, chunk: BlockRange, *, terms: tuple[Term, ...], dtype: str
) -> tuple[list[Array], list[Array]]:
    """Return for each term values (m,) of blocks and moments (q, k, k) of their nodes.

    Parameters
    ----------
    x, y : Sample
        Rows of both samples, in their order.
    chunk : BlockRange
        Blocks and nodes.
    terms : tuple of Radial
        One, or several that `belong_together`; several are always computed in float64.
    dtype : {"float64", "float32"}
        Precision of kernel values; sums are in float64.
    """
    links, plan = chain(terms), chunk.plan
    n_blocks, n_nodes, edges = chunk.n_blocks, chunk.n_nodes, chunk.edges
    values = np.empty((len(terms), n_blocks))
    moments = np.empty((len(terms), n_nodes, plan.moment_size, plan.moment_size))
    lanes = lanes_are_blocks(plan, x.rows.shape[1], len(terms), endless=chunk.goes_on)
    # Everything but the nodes: threads copy it, which takes little time under the interpreter's lock.
    task = _task(x, y, plan, terms[0], links, lanes=lanes)
    task.instructions = number_of(chunk.instructions)
    task.edges, task.values_step, task.moments_step = edges.ctypes.data, values[0].size, moments[0].size
    float32 = dtype == "float32" and len(terms) == 1
    values_at, moments_at = values.ctypes.data, moments.ctypes.data

    def run(first: int, last: int, *, step: int = ALL_STEPS, sums: Array | None = None, part: int = 0) -> None:
        own = Task.from_buffer_copy(task)
        own.first_node, own.last_node = first, last
        own.values = values_at + 8 * int(edges[first] - edges[0])
        own.moments = moments_at + 8 * first * plan.moment_size**2
        own.part, own.step = part, step
        own.sums = None if sums is None else sums.ctypes.data
        _run(own, float32)

    rows = max(plan.n_x, plan.n_y) * n_blocks // plan.n_blocks
    work = 2 * plan.block_size * rows * (task.d + 20 + 4 * len(terms)) // 20
    if n_nodes < _FEW_NODES and plan.block_size >= LARGE_BLOCK and not lanes:  # processors would be idle
        _in_parts(run, n_nodes, (n_blocks, N_GROUP_SUMS, MAX_GROUPS, MAX_GROUPS, len(terms)), work, chunk.n_threads)
    else:
        # A range of few blocks fills the last of its vectors of blocks badly.
        most = min(4, max(1, n_blocks // 128))
        map_ranges(run, n_nodes, work, chunk.n_threads, ranges_per_thread=most)
    back = np.argsort(links.order)  # the loops order kernels from the widest on
    return [values[i] for i in back], [moments[i] for i in back]


def _in_parts(run: Callable[..., None], n_nodes: int, shape: tuple[int, ...], work: int, n_threads: int | None) -> None:
    """Compute the sums of large blocks in parts, and values and moments from their totals."""

    def add_up(first: int, last: int) -> list[Array]:
        found = []
        for part in range(first, last):
            sums = np.zeros(shape)
            run(0, n_nodes, step=SUM_STEP, sums=sums, part=part)
            found.append(sums)
        return found

    parts = [sums for found in map_ranges(add_up, N_PARTS, work, n_threads) for sums in found]
    total = parts[0]
    for sums in parts[1:]:  # in their order: the same for any number of threads
        total = total + sums
    run(0, n_nodes, step=CONCLUDE_STEP, sums=total)


def _task(x: Rows, y: Rows, plan: Plan, term: Term, links: Chain, *, lanes: bool) -> Task:
    n_kernels, d = links.order.size, x.rows.shape[1]
    n_wide = links.n_wide(x.location.reach()) if lanes and n_kernels > 1 else 0
    return Task(
        x=address_of(x),
        y=address_of(y),
        order_x=None if x.order is None else x.order.ctypes.data,
        order_y=None if y.order is None else y.order.ctypes.data,
        origin=x.location.origin.ctypes.data,
        ratios=links.ratios.ctypes.data,
        squarings=links.squarings.ctypes.data,
        n_x=plan.n_x,
        n_y=plan.n_y,
        d=d,
        n_blocks=plan.n_blocks,
        n_groups=plan.n_groups,
        n_kernels=n_kernels,
        n_wide=n_wide,
        scale=links.scale * 2.0 ** max(n_wide - 1, 0),
        shape=(FAMILIES if n_kernels > 1 else SHAPES)[term.shape],
        power=term.power,
        rows_are_float32=x.rows.dtype == np.float32,
        paired=plan.paired,
        lanes_are_blocks=lanes,
    )


def _run(task: Task, float32: bool) -> None:
    status = loaded().btests_summarize(ctypes.byref(task), int(float32))
    if status == 2:
        raise MemoryError(f"no memory for the rows of a block of {task.n_x // task.n_blocks}")
    if status != 0:
        raise AssertionError(f"the compiled loops know no shape {task.shape} of power {task.power}")
