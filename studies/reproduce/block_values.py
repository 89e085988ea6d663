"""Block values of the blobs by the thousand: averages of m of them are statistics of n = m B rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from btests.data.sample import Sample
from btests.datasets import blobs
from btests.kernels import Gaussian
from btests.plan import Array, Plan
from btests.statistics import MMD, summarize
from studies.harness.counts import Row

#: Where the distribution of the statistic is compared with the normal one.
GRID = np.round(np.arange(-40, 41) * 0.1, 1)

# Rows drawn at a time.
_ROWS = 2**18


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel and what is compared: P with P, with Q, or with P moved along the first axis."""

    bandwidth: float
    rotated: bool = True
    shift: float = 0.0

    @property
    def is_null(self) -> bool:
        """Whether both samples have one distribution."""
        return self.rotated and self.shift == 0.0


#: "fine" is the paper's sigma = 1, whose blocks are nearly normal; "wide" is what the median heuristic gives there.
#: With the wide kernel a shift is seen by blocks of a few rows, as P against Q is not by any.
CASES = {
    "fine, H0": Case(2.0),
    "wide, H0": Case(25.0),
    "fine, H_A": Case(2.0, rotated=False),
    "wide, H_A": Case(25.0, shift=30.0),
}


def moments(seed: int, case: str, block_size: int, n_blocks: int, batch: tuple[int, int]) -> list[Row]:
    """Return sums of powers of the statistic over draws, and under H0 how many fall below each point of GRID.

    ``batch`` is the number of the batch and its number of draws. A draw is the average of ``n_blocks`` fresh blocks of
    ``block_size`` rows of each sample.
    """
    number, draws = batch
    place = list(CASES).index(case)
    rng = np.random.default_rng([seed, 23, place, block_size, n_blocks, number])
    values = _block_values(CASES[case], block_size, draws * n_blocks, rng).reshape(draws, n_blocks)
    statistic = values.mean(axis=1)
    row: Row = {"case": case, "block_size": block_size, "n": n_blocks * block_size, "batch": number, "draws": draws}
    row |= {f"sum{power}": float((statistic**power).sum()) for power in (1, 2, 3)}
    if CASES[case].is_null:
        errors = values.std(axis=1, ddof=1) / math.sqrt(n_blocks)
        row["standardised"] = _below(statistic / float(np.sqrt(np.mean(statistic**2))))
        row["studentised"] = _below(statistic / errors)
    return [row]


def _below(values: Array) -> list[int]:
    """Return how many values are at most each point of GRID."""
    return [int(count) for count in np.searchsorted(np.sort(values), GRID, side="right")]


def _block_values(case: Case, block_size: int, n_blocks: int, rng: np.random.Generator) -> Array:
    """Return the values of fresh blocks: (n_blocks,)."""
    statistic = MMD(Gaussian(case.bandwidth))
    found = []
    while n_blocks:
        n = min(n_blocks, _ROWS // block_size)
        x, y = blobs(n * block_size, rng), blobs(n * block_size, rng, rotated=case.rotated)
        y[:, 0] += case.shift
        found.append(summarize(statistic, Sample(x), Sample(y), Plan(len(x), len(y), n), 1).values)
        n_blocks -= n
    return np.concatenate(found)
