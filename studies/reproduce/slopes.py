"""Moments of the statistic from sums over draws, and log-log slopes with jackknife intervals over batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from btests.plan import Array
from studies.harness.counts import Row
from studies.harness.estimates import NORMAL_95, Estimate
from studies.reproduce.block_values import CASES, GRID

#: Batches of each cell: intervals come from leaving one out at a time.
N_BATCHES = 10
_STUDENT_95 = 2.2621571628540993  # two-sided 95 % point of Student's t with 9 degrees of freedom

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


def variance_slope(cells: Sequence[Cell], x: Callable[[Cell], float]) -> Estimate:
    """Return the slope of the log variance over log x, its interval no narrower than normal draws would have it.

    Ten batches know their own spread to a quarter only, and by chance may agree too well. The log of a variance of
    m normal draws has the standard error sqrt(2 / m), and the cells are independent of one another.
    """
    places = np.log([x(cell) for cell in cells])
    places -= places.mean()
    errors = np.array([_log_variance_error(cell) for cell in cells])
    least = math.sqrt(float(((places * errors) ** 2).sum())) / float((places**2).sum())
    return _no_narrower(slope(cells, x, Cell.variance), least)


def parts_with_intervals(cells: Sequence[Cell]) -> tuple[Estimate, Estimate]:
    """Return both parts of the variance with intervals, no narrower than normal draws would have them."""
    trials = sum(cell.draws for cell in cells)
    design = _design(cells, ALL)
    # By least squares the parts are linear in the heights, whose relative errors are known.
    weights = np.linalg.pinv(design) * np.array([_log_variance_error(cell) for cell in cells])
    least = np.sqrt((weights**2).sum(axis=1))
    s, c = (
        _no_narrower(jackknife(lambda used, k=k: parts(cells, used)[k], trials), float(least[k]))  # type: ignore[misc]
        for k in (0, 1)
    )
    return s, c


def _log_variance_error(cell: Cell) -> float:
    return math.sqrt(2.0 / cell.draws)


def _no_narrower(found: Estimate, error: float) -> Estimate:
    """Return an estimate whose interval reaches at least as far as a normal one with that standard error."""
    reach = max(found.high - found.value, NORMAL_95 * error)
    return Estimate(found.value, found.value - reach, found.value + reach, found.trials)


def parts(cells: Sequence[Cell], used: Used = ALL) -> tuple[float, float]:
    """Return s and c of ``n variance = s + c / (B - 1)``, by least squares of relative errors."""
    s, c = np.linalg.lstsq(_design(cells, used), np.ones(len(cells)), rcond=None)[0]
    return float(s), float(c)


def _design(cells: Sequence[Cell], used: Used) -> Array:
    heights = np.array([cell.n * cell.variance(used) for cell in cells])
    return np.asarray(np.array([(1.0, 1.0 / (cell.block_size - 1)) for cell in cells]) / heights[:, None])


def jackknife(estimate: Callable[[Used], float], trials: int) -> Estimate:
    """Return an estimate from all batches, with the interval that leaving out each of them in turn gives."""
    value = estimate(ALL)
    without = np.array([estimate(np.arange(N_BATCHES) != k) for k in range(N_BATCHES)])
    error = math.sqrt((N_BATCHES - 1) / N_BATCHES * float(((without - without.mean()) ** 2).sum()))
    return Estimate(value, value - _STUDENT_95 * error, value + _STUDENT_95 * error, trials)
