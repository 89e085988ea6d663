"""Families: what they hold, and that they see the rows of the choice."""

from __future__ import annotations

import numpy as np
import pytest

from btests import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    MaxMMD,
    MaxRatio,
    MedianFamily,
    MedianHeuristic,
    OnColumns,
    PerCoordinate,
    Weights,
    bandwidths,
    btest,
    median_bandwidth,
)
from btests.data.sample import AnySample, Sample
from btests.selection import Setting
from tests.reference import Array

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(80, 3)), RNG.normal(size=(80, 3)) * [1.0, 1.0, 3.0]


def test_the_papers_family() -> None:
    family = bandwidths()
    assert len(family) == 26
    assert family[0] == Gaussian(2.0**-15)
    assert family[-1] == Gaussian(1024.0)
    assert bandwidths(0, 1, Laplacian) == (Laplacian(1.0), Laplacian(2.0))
    assert bandwidths(3, 3) == (Gaussian(8.0),)


def pooled(columns: list[int]) -> Array:
    """Return the rows of the choice of both samples."""
    return np.concatenate([X[:40], Y[:40]])[:, columns]


def test_multiples_of_the_median() -> None:
    found = MaxMMD(MedianFamily([0.5, 2.0], Laplacian)).select(Sample(X), Sample(Y), Setting())
    median = median_bandwidth(pooled([0, 1, 2]))
    assert [c.kernel for c in found.candidates] == [Laplacian(0.5 * median), Laplacian(2.0 * median)]


def test_one_kernel_a_coordinate() -> None:
    found = Weights(PerCoordinate()).select(Sample(X), Sample(Y), Setting())
    assert [c.kernel for c in found.candidates] == [
        OnColumns(Gaussian(median_bandwidth(pooled([k]))), (k,)) for k in range(3)
    ]
    weights = [c.weight for c in found.candidates]
    assert weights[2] > 0.8


def test_constant_coordinates_neither_warn_nor_win() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(200, 3)) * [1.0, 0.0, 1.0], rng.normal(size=(200, 3)) * [3.0, 0.0, 1.0]
    result = btest(x, y, kernel=Weights(PerCoordinate()), seed=1)
    assert result.candidates[1] == (OnColumns(Gaussian(1.0), (1,)), 0.0, 0.0)
    assert result.rejects(0.01)


@pytest.mark.parametrize("family", [[Gaussian(1.0)], (Gaussian(1.0), Linear()), [Gaussian(1.0), lambda x, y: x @ y.T]])
def test_any_list_of_kernels_is_a_family(family: list[Kernel]) -> None:
    result = btest(X, Y, kernel=MaxRatio(family), seed=1)
    assert [c.kernel for c in result.candidates] == list(family)
    assert result.kernel in family


def test_a_family_of_ones_own() -> None:
    class Widths:
        def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
            return tuple(Gaussian(float(len(x) + len(y)) / k) for k in (1, 2))

    found = MaxMMD(Widths()).select(Sample(X), Sample(Y), Setting())
    assert [c.kernel for c in found.candidates] == [Gaussian(80.0), Gaussian(40.0)]


def test_selectors_are_values() -> None:
    assert Weights() == Weights(list(bandwidths())) != Weights(fraction=0.3)
    assert len({Weights(), Weights(), MaxMMD(MedianFamily()), MaxMMD(MedianFamily())}) == 2
    assert repr(Weights()) == "Weights(26 kernels, regulariser=0.001, fraction=0.5)"
    assert repr(MaxMMD([Gaussian(1.0)])) == "MaxMMD([Gaussian(bandwidth=1.0)], fraction=0.5)"
    assert (
        repr(MedianHeuristic(lambda b: Gaussian(2.0 * b)))
        == "MedianHeuristic(test_selectors_are_values.<locals>.<lambda>, n_rows=100)"
    )
