"""Moments of the statistic from sums over draws, and slopes with intervals from batches of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from btests.blocks import Array
from btests.experiments.reproduce.blockvalues import CASES, GRID
from btests.experiments.reproduce.intervals import Estimate
from btests.experiments.reproduce.protocol import Row

#: Batches of each cell: intervals come from leaving one out at a time.
N_BATCHES = 10
_STUDENT_95 = 2.2621571628540993  # two-sided 95 % point of Student's law with 9 degrees of freedom

Used = npt.NDArray[np.bool_]
ALL: Used = np.ones(N_BATCHES, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Cell:
    """All batches of one case, block size and number of rows; methods take the batches to use: (N_BATCHES,) of bool.

    Attributes
    ----------
    sums
        Draws, and sums of their first to third powers, by batch: (N_BATCHES, 4).
    standardised, studentised
        Draws at or below each point of GRID, by batch: (N_BATCHES, points); empty under H_A.
    """

    case: str
    block_size: int
    n: int
    sums: Array
    standardised: Array
    studentised: Array

    @property
    def is_null(self) -> bool:
        """Whether both samples have one distribution."""
        return CASES[self.case].is_null

    @property
    def n_blocks(self) -> int:
        """Blocks in a draw."""
        return self.n // self.block_size

    @property
    def draws(self) -> int:
        """Draws in all batches."""
        return int(self.sums[:, 0].sum())

    def variance(self, used: Used = ALL) -> float:
        """Return the variance of the statistic."""
        return self._central(used)[0]

    def skewness(self, used: Used = ALL) -> float:
        """Return the skewness of the statistic."""
        second, third = self._central(used)
        return float(third / second**1.5)

    def distance(self, used: Used = ALL, *, studentised: bool = False) -> float:
        """Return the largest distance between the distribution of the statistic and the normal one."""
        from scipy.special import ndtr

        counts = (self.studentised if studentised else self.standardised)[used].sum(axis=0)
        return float(np.abs(counts / self.sums[used, 0].sum() - ndtr(GRID)).max())

    def _central(self, used: Used) -> tuple[float, float]:
        total = self.sums[used].sum(axis=0)
        mean, square, cube = total[1:] / total[0]
        return float(square - mean**2), float(cube - 3.0 * mean * square + 2.0 * mean**3)


def read_cells(rows: Sequence[Row]) -> list[Cell]:
    """Return the cells that rows of batches make up, in order of appearance."""
    found: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["case"], row["block_size"], row["n"]), []).append(row)
    return [Cell(*key, *(_columns(own, names) for names in _COLUMNS)) for key, own in found.items()]


_COLUMNS = (("draws", "sum1", "sum2", "sum3"), ("standardised",), ("studentised",))


def _columns(rows: Sequence[Row], names: Sequence[str]) -> Array:
    """Return columns of the rows side by side; a column may hold lists."""
    return np.array([np.concatenate([np.atleast_1d(row.get(name, ())) for name in names]) for row in rows], np.float64)


def slope(cells: Sequence[Cell], x: Callable[[Cell], float], y: Callable[[Cell, Used], float]) -> Estimate:
    """Return the slope of log y over log x by least squares, with a jackknife interval over batches."""
    places = np.log([x(cell) for cell in cells])

    def fitted(used: Used) -> float:
        # Noise may push a skewness below 0 where there are few draws; it must not stop a quick run.
        heights = np.log([max(y(cell, used), 1e-12) for cell in cells])
        return float(np.polyfit(places, heights, 1)[0])

    return jackknife(fitted, sum(cell.draws for cell in cells))


def parts(cells: Sequence[Cell], used: Used = ALL) -> tuple[float, float]:
    """Return s and c of ``n variance = s + c / (B - 1)``, by least squares of relative errors."""
    heights = np.array([cell.n * cell.variance(used) for cell in cells])
    design = np.array([(1.0, 1.0 / (cell.block_size - 1)) for cell in cells]) / heights[:, None]
    s, c = np.linalg.lstsq(design, np.ones(len(cells)), rcond=None)[0]
    return float(s), float(c)


def jackknife(estimate: Callable[[Used], float], trials: int) -> Estimate:
    """Return an estimate from all batches, with the interval that leaving out each of them in turn gives."""
    value = estimate(ALL)
    without = np.array([estimate(np.arange(N_BATCHES) != k) for k in range(N_BATCHES)])
    error = math.sqrt((N_BATCHES - 1) / N_BATCHES * float(((without - without.mean()) ** 2).sum()))
    return Estimate(value, value - _STUDENT_95 * error, value + _STUDENT_95 * error, trials)
