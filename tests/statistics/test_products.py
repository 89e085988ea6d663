"""Distances from products of rows: as good as differences where they are used, and by the two rows alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from btests import Gaussian
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize_blocks
from btests.summary import Summary
from tests.reference import Array

N_BLOCKS, B, D = 41, 14, 6


def two_samples(n_far: int) -> tuple[Array, Array]:
    """Return samples in which some rows, of some blocks only, are far out and near one another."""
    rng = np.random.default_rng(n_far)
    x, y = rng.normal(size=(N_BLOCKS * B, D)), rng.normal(0.2, 1.1, size=(N_BLOCKS * B, D))
    for rows in (x, y):
        rows[rng.choice(len(rows), n_far, replace=False)] += 300.0
    return x, y


def summarize(kernel: Gaussian, x: Array, y: Array, *, dtype: str = "float64", plain: bool = False) -> Summary:
    return summarize_blocks(MMD(kernel, dtype, plain=plain), Sample(x), Sample(y), Plan.of_size(len(x), len(y), B))[0]


@pytest.mark.parametrize("n_far", [0, 1, 40, N_BLOCKS * B])
@pytest.mark.parametrize("bandwidth", [0.05, 0.3, 1.0, 3.0, 1e3])
def test_near_and_far_rows(instruction_set: str, bandwidth: float, n_far: int) -> None:
    """Products of the far rows would be off by 1e-10 and more; scaled coordinates of theirs are, by 1e-13 or so."""
    x, y = two_samples(n_far)
    found, wanted = (summarize(Gaussian(bandwidth), x, y, plain=plain) for plain in (False, True))
    np.testing.assert_allclose(found.values, wanted.values, rtol=0.0, atol=2e-12)
    np.testing.assert_allclose(found.moments, wanted.moments, rtol=0.0, atol=2e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_far_row_changes_no_bit_of_another_block(instruction_set: str, dtype: str) -> None:
    x, y = two_samples(0)
    before = summarize(Gaussian(2.0), x, y, dtype=dtype).values
    x[20 * B + 3] = 1e9  # not one of the first rows, whose median is the origin
    after = summarize(Gaussian(2.0), x, y, dtype=dtype).values
    assert np.flatnonzero(before != after).tolist() == [20]


def test_chunks_change_no_bit(instruction_set: str) -> None:
    x, y = (Sample(rows) for rows in two_samples(30))
    statistic, plan = MMD(Gaussian(1.5)), Plan.of_size(N_BLOCKS * B, N_BLOCKS * B, B)
    whole = summarize_blocks(statistic, x, y, plan)[0]
    parts = [summarize_blocks(statistic, x, y, plan, (i, j))[0] for i, j in itertools.pairwise([0, 1, 5, 18, 32, 41])]
    joined = Summary.join(parts)
    np.testing.assert_array_equal(joined.values, whole.values)
    np.testing.assert_array_equal(joined.moments, whole.moments)


@pytest.mark.parametrize("bandwidth", [0.2, 2.0])
def test_blocks_of_the_same_rows_are_equal_wherever_they_stand(instruction_set: str, bandwidth: float) -> None:
    """Rows of few values: many pairs are alike, and some blocks have a far row beside them in the vector."""
    rng = np.random.default_rng(5)
    one, other = (rng.integers(0, 3, size=(B, D)).astype(float) for _ in range(2))
    x, y = np.tile(one, (N_BLOCKS, 1)), np.tile(other, (N_BLOCKS, 1))
    x[B * 7] = 1e6
    y[B * 20 + 1] = -1e6
    values = summarize(Gaussian(bandwidth), x, y).values
    assert len(set(np.delete(values, [7, 20]))) == 1
