"""Many bandwidths at once: what the paper's family of 26 costs beside one kernel, and beside 26 kernels one by one."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.clock import best_interleaved
from benchmarks.shares import Case
from benchmarks.tables import Cell, Table, verdict
from btests import Gaussian, bandwidths
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize_blocks

#: 26 bandwidths cost at most so many times one, at B = sqrt(n).
MOST = 4.0

CASES = (Case(100_000, 10, 316), Case(20_000, 50, 141), Case(20_000, 2, 141))
QUICK_CASES = (Case(20_000, 10, 141), Case(5_000, 2, 70))


def family_table(cases: Sequence[Case], *, seconds: float) -> Table:
    """Return the times of one kernel and of the family on one thread, in turns."""
    rows: list[tuple[Cell, ...]] = []
    kernels = bandwidths()
    for case in cases:
        x, y = (Sample(rows) for rows in case.data("float64"))
        one, many = (Plan.of_size(case.n, case.n, case.block_size, n) for n in (1, len(kernels)))
        middle = Gaussian(float(np.sqrt(2.0 * case.d)))

        def single(x: Sample = x, y: Sample = y, one: Plan = one, kernel: Gaussian = middle) -> object:
            return summarize_blocks(MMD(kernel), x, y, one)[0]

        def family(x: Sample = x, y: Sample = y, many: Plan = many) -> object:
            return summarize_blocks(MMD(kernels), x, y, many)

        alone, together = best_interleaved([single, family], [time.thread_time] * 2, seconds=seconds)
        ratio = together / alone
        rows.append(
            (case.n, case.d, case.block_size, alone, together, ratio, len(kernels) / ratio, verdict(met=ratio <= MOST))
        )
    columns = ("n", "d", "B", "1 kernel, s", f"{len(kernels)} kernels, s", "ratio", "gain over one by one", "target 4")
    notes = (
        "Block values and cores of normal data on one thread, CPU time, in turns. The family is the paper's, Gaussians",
        "of bandwidths 2^-15 .. 2^10: one distance and one exponential serve them all. The more coordinates, the more",
        "of the work is the distance, which is shared; with two of them a kernel value costs little more than a few",
        "squarings, and there are about 16 bandwidths whose values are not 0.",
    )
    return Table("A family of 26 bandwidths", columns, rows, notes)
