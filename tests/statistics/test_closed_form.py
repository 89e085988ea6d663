"""The estimate against the exact MMD^2 between two Gaussians."""

from __future__ import annotations

import math

import numpy as np
import pytest

from btests import Gaussian
from btests.data.sample import Sample
from btests.statistics import MMD, summarize_blocks
from tests.bounds import FALSE_ALARM, deviations
from tests.statistics.shapes import Shape


def exact_mmd(d: int, shift: float, spread: float, bandwidth: float) -> float:
    """Return MMD^2 of N(0, I) and N((shift, .., shift), spread^2 I) in d dimensions for a Gaussian kernel.

    The kernel is a normal density up to a factor, so each expectation is one of a normal density at a shift.
    """
    s = bandwidth**2

    def expect(variance: float, distance: float) -> float:
        return float((s / (s + variance)) ** (d / 2) * math.exp(-d * distance**2 / (2.0 * (s + variance))))

    return expect(2.0, 0.0) + expect(2.0 * spread**2, 0.0) - 2.0 * expect(1.0 + spread**2, shift)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("shape", "shift", "spread", "bandwidth"),
    [
        (Shape(60_000, 60_000, 2, 1), 0.0, 1.0, 1.0),
        (Shape(60_000, 60_000, 2, 1), 0.5, 1.0, 1.0),
        (Shape(60_000, 60_000, 20, 3), 0.0, 1.3, 1.5),
        (Shape(60_000, 60_000, 20, 3), 0.2, 1.3, 0.5),
        (Shape(60_000, 60_000, 60, 10), 0.1, 1.0, 3.0),
        (Shape(30_000, 75_000, 10, 2), 0.3, 0.7, 1.0),
        (Shape(20_000, 20_000, 40, 50), 0.05, 1.05, 5.0),
    ],
)
def test_mean_of_block_values(shape: Shape, shift: float, spread: float, bandwidth: float, dtype: str) -> None:
    """The average of m >= 500 block values is normal enough: false alarm 1e-6 / 14 in each cell, 1e-6 in all."""
    rng = np.random.default_rng(shape)
    x, y = rng.normal(size=(shape.n_x, shape.d)), rng.normal(shift, spread, size=(shape.n_y, shape.d))
    plan = shape.plan
    values = summarize_blocks(MMD(Gaussian(bandwidth), dtype), Sample(x), Sample(y), plan)[0].values
    standard_error = values.std(ddof=1) / math.sqrt(values.size)
    error = values.mean() - exact_mmd(shape.d, shift, spread, bandwidth)
    assert abs(error) < deviations(values.size - 1, FALSE_ALARM / 14) * standard_error
