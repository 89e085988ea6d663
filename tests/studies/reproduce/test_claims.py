"""Block values by the thousand, and slopes with intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from studies.harness.counts import Row
from studies.reproduce.block_values import CASES, GRID, moments
from studies.reproduce.slopes import (
    N_BATCHES,
    Cell,
    jackknife,
    parts,
    parts_with_intervals,
    read_cells,
    slope,
    variance_slope,
)
from tests.bounds import deviations


def batches(case: str, block_size: int, n_blocks: int, draws: int) -> list[Row]:
    return [row for k in range(N_BATCHES) for row in moments(1, case, block_size, n_blocks, (k, draws))]


def test_a_batch_repeats_and_differs_from_the_next() -> None:
    first, again, other = (moments(1, "fine, H0", 4, 5, (k, 50))[0] for k in (0, 0, 1))
    assert first == again
    assert first["sum1"] != other["sum1"]
    assert (first["n"], first["draws"], len(first["standardised"])) == (20, 50, len(GRID))


@pytest.mark.parametrize("case", CASES)
def test_the_mean_is_zero_where_nothing_differs(case: str) -> None:
    (cell,) = read_cells(batches(case, 8, 4, 200))
    mean = cell.sums[:, 1].sum() / cell.draws
    error = math.sqrt(cell.variance() / cell.draws)
    assert (abs(mean) < deviations() * error) == cell.is_null


def test_moments_are_those_of_the_draws() -> None:
    """Against numpy and scipy, on draws that are known: chi-squares in place of the statistic."""
    draws = np.random.default_rng(0).chisquare(3, (N_BATCHES, 500))
    sums = np.stack([np.full(N_BATCHES, 500.0), *((draws**k).sum(axis=1) for k in (1, 2, 3))], axis=1)
    below = np.stack([np.searchsorted(np.sort(batch), GRID, side="right") for batch in draws]).astype(np.float64)
    cell = Cell("wide, H0", 4, 40, sums, below, below)
    assert cell.variance() == pytest.approx(draws.var())
    assert cell.skewness() == pytest.approx(stats.skew(draws.ravel()))
    some = np.arange(N_BATCHES) < 3
    assert cell.variance(some) == pytest.approx(draws[:3].var())
    exact = stats.kstest(draws.ravel(), "norm").statistic
    assert exact - 0.04 <= cell.distance() <= exact  # on a grid of points 0.1 apart
    assert cell.distance(studentised=True) == cell.distance()


def test_null_variances_follow_their_law() -> None:
    """The variance is c / (n (B - 1)); four cells of 2000 draws know it to 1.6 % each."""
    sizes = ((2, 64), (4, 64), (8, 64), (16, 32))
    cells = read_cells([row for b, n in sizes for row in batches("fine, H0", b, n // b, 200)])
    constants = [cell.variance() * cell.n * (cell.block_size - 1) for cell in cells]
    # The standard error of a variance is its size times sqrt((kurtosis - 1) / draws), the kurtosis of these below 6.
    error = math.sqrt(5.0 / cells[0].draws)
    assert max(constants) / min(constants) < (1.0 + deviations() * error) / (1.0 - deviations() * error)


def test_slopes_of_known_lines() -> None:
    def cell(n: int) -> Cell:
        variance = 3.0 * n**-1.5
        sums = np.tile([100.0, 0.0, 100.0 * variance, 0.0], (N_BATCHES, 1))
        return Cell("fine, H0", 2, n, sums, np.empty((N_BATCHES, 0)), np.empty((N_BATCHES, 0)))

    found = slope([cell(n) for n in (10, 20, 80)], lambda c: c.n, Cell.variance)
    assert (found.low, found.value, found.high) == pytest.approx((-1.5, -1.5, -1.5))


def test_batches_that_agree_by_chance_do_not_narrow_the_interval() -> None:
    """Four independent variances of 5000 normal draws each, at doubling places."""
    sizes, draws = (64, 128, 256, 512), 5000

    def cell(b: int) -> Cell:
        sums = np.tile([draws / N_BATCHES, 0.0, draws / N_BATCHES, 0.0], (N_BATCHES, 1))
        return Cell("wide, H_A", b, 1024, sums, np.empty((N_BATCHES, 0)), np.empty((N_BATCHES, 0)))

    cells = [cell(b) for b in sizes]
    found = variance_slope(cells, lambda c: c.block_size)
    # By least squares, simulated: the logs of such variances against the logs of the places.
    logs = np.log(np.random.default_rng(0).chisquare(draws - 1, (20_000, 4)) / (draws - 1))
    slopes = np.polyfit(np.log(sizes), logs.T, 1)[0]
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.high == pytest.approx(1.96 * slopes.std(), rel=0.03)
    variances = 1024 * np.exp(logs)
    design = np.stack([np.ones(4), 1.0 / (np.array(sizes) - 1)])
    s, c = np.linalg.lstsq(design.T, variances.T, rcond=None)[0]
    for part, simulated in zip(parts_with_intervals(cells), (s, c), strict=True):
        assert part.high - part.value == pytest.approx(1.96 * simulated.std(), rel=0.03)


def test_jackknife_of_a_mean_is_students_interval() -> None:
    values = np.random.default_rng(3).normal(size=N_BATCHES)
    found = jackknife(lambda used: float(values[used].mean()), 1)
    low, high = stats.t.interval(0.95, N_BATCHES - 1, values.mean(), stats.sem(values))
    assert (found.low, found.value, found.high) == pytest.approx((low, values.mean(), high))


def test_the_parts_of_a_variance_are_found() -> None:
    def cell(b: int) -> Cell:
        variance = (0.2 + 3.0 / (b - 1)) / 64
        sums = np.tile([100.0, 0.0, 100.0 * variance, 0.0], (N_BATCHES, 1))
        return Cell("fine, H_A", b, 64, sums, np.empty((N_BATCHES, 0)), np.empty((N_BATCHES, 0)))

    assert parts([cell(b) for b in (2, 8, 32)]) == pytest.approx((0.2, 3.0))
