"""HSIC of blocks by the compiled loops; ``btests.statistics.walsh_tiles`` has the numpy version."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from btests._core.bandwidth_chain import Chain, Term, chain
from btests._core.constants import (
    ALL_STEPS,
    CONCLUDE_STEP,
    DIRECT_COORDINATES,
    FAMILIES,
    LARGE_BLOCK,
    SHAPES,
    SUM_STEP,
)
from btests._core.library import PACKED_COORDINATES, Rows, Task, address_of, loaded, number_of
from btests._core.threads import map_ranges
from btests.block_range import BlockRange
from btests.plan import Array, Plan

# Elementary steps for a pair of rows: of a kernel, and of a pair of kernels.
_STEPS, _PRODUCT_STEPS = 4, 1

# Blocks that fill the lanes of HSIC well, and rows of a block whose tuples fill them badly.
_ENOUGH_BLOCKS, _SMALL_BLOCK = 8, 96


def tuples_are_in_blocks(plan: Plan, d: int, *, endless: bool = False) -> bool:
    """Return whether a lane of a vector is a block in the loops of HSIC, not a tuple of one block.

    Parameters
    ----------
    plan : Plan
        Sizes of all blocks.
    d : int
        Coordinates of x and y together.
    endless : bool, default False
        Whether the number of blocks is unknown: see `btests._core.lanes_are_blocks`.

    Notes
    -----
    Vectors of tuples of one group have empty lanes at the end of the group, which matters in small blocks.
    """
    enough = endless or plan.n_blocks >= _ENOUGH_BLOCKS
    fits = d <= 2 * DIRECT_COORDINATES and plan.block_size * d <= PACKED_COORDINATES
    return enough and plan.block_size < LARGE_BLOCK and (fits or plan.block_size <= _SMALL_BLOCK)


class Side(NamedTuple):
    """Rows of x or of y in blocks, and kernels of them that `belong_together`."""

    rows: Rows
    terms: tuple[Term, ...]


def hsic(x: Side, y: Side, chunk: BlockRange, *, tuples: tuple[int, int]) -> tuple[Array, Array]:
    """Return HSIC (i, j, m) of blocks and moments (i, j, q, k, k) of their nodes.

    Parameters
    ----------
    x, y : Side
        Rows and kernels of x, i of them, and of y, j of them; all combinations are computed.
    chunk : BlockRange
        Blocks and nodes.
    tuples : tuple of int
        Rows of a tuple, and groups of tuples of a block.
    """
    links, plan = (chain(x.terms), chain(y.terms)), chunk.plan
    shape, n_groups = (len(x.terms), len(y.terms)), tuples[1]
    k = (tuples[0] - 1) * n_groups + 1
    n_blocks, n_nodes, edges = chunk.n_blocks, chunk.n_nodes, chunk.edges
    values, moments = np.empty((*shape, n_blocks)), np.empty((*shape, n_nodes, k, k))
    widths = x.rows.rows.shape[1], y.rows.rows.shape[1]
    in_blocks = tuples_are_in_blocks(plan, sum(widths), endless=chunk.goes_on)
    tasks = [_task(side, own, plan, tuples, in_blocks) for side, own in zip((x, y), links, strict=True)]
    tasks[0].edges, tasks[0].values_step, tasks[0].moments_step = edges.ctypes.data, n_blocks, n_nodes * k * k
    tasks[0].instructions = number_of(chunk.instructions)
    n_parts = n_groups + 1  # those of each group of tuples, and of the rows that are in none

    def run(first: int, last: int, step: int = ALL_STEPS, sums: Array | None = None, part: int = 0) -> None:
        own = Task.from_buffer_copy(tasks[0])
        own.first_node, own.last_node, own.step, own.part = first, last, step, part
        own.values = values.ctypes.data + 8 * int(edges[first] - edges[0])
        own.moments = moments.ctypes.data + 8 * first * k * k
        own.sums = None if sums is None else sums.ctypes.data
        status = loaded().btests_hsic(ctypes.byref(own), ctypes.byref(tasks[1]))
        if status == 2:
            raise MemoryError(f"no memory for the rows of a block of {plan.block_size}")
        assert status == 0, f"the compiled loops have no shapes {x.terms[0]} and {y.terms[0]}"

    steps = _STEPS * sum(shape) + _PRODUCT_STEPS * shape[0] * shape[1] + sum(widths)
    work = n_blocks * plan.block_size**2 // 2 * steps
    if n_blocks < n_parts and plan.block_size >= LARGE_BLOCK:  # processors would be idle
        size = loaded().btests_hsic_sums(ctypes.byref(tasks[0]), ctypes.byref(tasks[1]))
        sums = np.empty((n_blocks, n_parts, size))

        def add_up(first: int, last: int) -> None:
            for part in range(first, last):
                run(0, n_nodes, SUM_STEP, sums, part)

        map_ranges(add_up, n_parts, work, chunk.n_threads, ranges_per_thread=n_parts)
        run(0, n_nodes, CONCLUDE_STEP, sums)
    else:
        map_ranges(run, n_nodes, work, chunk.n_threads)
    if all(np.all(np.diff(own.order) > 0) for own in links):  # the loops order kernels from the widest on
        return values, moments
    back = np.ix_(*(np.argsort(own.order) for own in links))
    return values[back], moments[back]


def _task(side: Side, links: Chain, plan: Plan, tuples: tuple[int, int], in_blocks: bool) -> Task:
    rows, term = side.rows, side.terms[0]
    return Task(
        x=address_of(rows),
        order_x=None if rows.order is None else rows.order.ctypes.data,
        origin=rows.location.origin.ctypes.data,
        ratios=links.ratios.ctypes.data,
        squarings=links.squarings.ctypes.data,
        n_x=plan.n_x,
        n_y=plan.n_y,
        d=rows.rows.shape[1],
        n_blocks=plan.n_blocks,
        n_groups=tuples[1],
        tuple_size=tuples[0],
        n_kernels=len(side.terms),
        n_wide=links.n_above_half(rows.location.spread),
        scale=links.scale,
        shape=(FAMILIES if len(side.terms) > 1 else SHAPES)[term.shape],
        power=term.power,
        rows_are_float32=rows.rows.dtype == np.float32,
        paired=True,
        lanes_are_blocks=in_blocks,
    )
