"""The compiled HSIC against its plain twin: every kernel, size of blocks, instruction set and layout."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from btests import Energy, Gaussian, KernelPair, Laplacian, Linear, OnColumns, _core
from btests.data.sample import Sample
from btests.statistics import HSIC, plan_for, summarize_blocks
from btests.summary import Summary
from tests.kernels.formulas import radial
from tests.statistics.plain_hsic import hsic

# Rows, rows of a block, and columns of x: tuples of 2, 4 and 8 rows with rows that stay; lanes that are tuples of one
# block, and blocks; distances from products of wide rows; blocks that are summed in parts.
SHAPES = [
    *((4, 4, 1), (9, 9, 2), (13, 13, 1), (61, 61, 3), (200, 200, 3), (300, 100, 50), (1100, 1100, 2)),
    *((300, 5, 2), (300, 9, 1), (500, 16, 1), (1000, 33, 2), (1003, 100, 3)),
]

BANDWIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


def samples(n: int, d: int, dtype: str = "float64") -> tuple[Sample, Sample]:
    rng = np.random.default_rng(n)
    x = rng.normal(3.0, 1.0, size=(n, d))
    y = (x[:, :1] - 3.0) ** 2 + rng.normal(size=(n, 2))
    order = rng.permutation(n)
    return Sample(x.astype(dtype), order), Sample(y.astype(dtype), order)


def compare(pairs: tuple[KernelPair, ...], x: Sample, y: Sample, block_size: int, rtol: float = 1e-12) -> None:
    """Compare values and moments of both twins, in units of the largest."""
    plan = plan_for(HSIC(pairs), len(x), len(y), block_size)
    found, wanted = (summarize_blocks(HSIC(pairs, plain=plain), x, y, plan) for plain in (False, True))
    for one, other in zip(found, wanted, strict=True):
        scale = np.abs(other.moments).max() + np.abs(other.values).max()
        np.testing.assert_allclose(one.moments, other.moments, rtol=0.0, atol=rtol * scale)
        np.testing.assert_allclose(one.values, other.values, rtol=0.0, atol=rtol * scale * plan.moment_numbers**0.5)
        assert not np.diagonal(one.moments, axis1=1, axis2=2).any()
        np.testing.assert_array_equal(one.moments, np.swapaxes(one.moments, 1, 2))


@pytest.mark.parametrize(("n", "block_size", "d"), SHAPES)
def test_kernels(instruction_set: str, n: int, block_size: int, d: int) -> None:
    of_x = [own.kernel for own in radial(d**0.5)]
    pairs = tuple(itertools.starmap(KernelPair, itertools.product(of_x, (Gaussian(1.5), Laplacian(2.0)))))
    compare(pairs, *samples(n, d), block_size, rtol=1e-11)  # of 4 rows little is left of each value


@pytest.mark.parametrize(("n", "block_size", "d"), SHAPES[3:])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_families_share_exponentials(instruction_set: str, n: int, block_size: int, d: int, family: Any) -> None:
    of_x, of_y = ([family(factor * size) for factor in BANDWIDTHS] for size in (d**0.5, 1.5))
    compare(tuple(itertools.starmap(KernelPair, itertools.product(of_x, of_y))), *samples(n, d), block_size)


def test_rows_of_float32() -> None:
    compare((KernelPair(Gaussian(1.0), Energy()),), *samples(500, 2, "float32"), 60)


def test_sums_columns_and_kernels_without_loops() -> None:
    both = 2.0 * Gaussian(1.0) + Laplacian(3.0)
    pairs = (
        KernelPair(both, 3.0 * Gaussian(1.0) + Gaussian(2.0)),
        KernelPair(OnColumns(Gaussian(1.0), [1]), both),
        KernelPair(Linear(), both),
        KernelPair(Gaussian(1.0), Energy(0.5)),
    )
    compare(pairs, *samples(300, 3), 70)
    assert HSIC(pairs).engine(samples(10, 1)[0]) == "numpy"
    assert HSIC(pairs[:2]).engine(samples(10, 1)[0]) == "compiled"


def test_equal_rows_of_wide_data_have_distance_0(instruction_set: str) -> None:
    x, y = samples(60, 80)
    twice = Sample(np.concatenate([x.rows, x.rows])), Sample(np.concatenate([y.rows, y.rows]))
    compare((KernelPair(Energy(), Energy()),), *twice, 120)


@pytest.mark.parametrize("bandwidths", [(1e4, 2e4, 4e4), (3e4,), (0.3,), (0.1, 0.2, 0.4)])
@pytest.mark.parametrize(("n", "block_size"), [(100, 100), (400, 50)])
def test_wide_and_narrow_kernels_keep_their_digits(bandwidths: tuple[float, ...], n: int, block_size: int) -> None:
    x, y = samples(n, 1)
    pairs = tuple(KernelPair(Gaussian(size), Gaussian(size)) for size in bandwidths)
    plan = plan_for(HSIC(pairs), n, n, block_size)
    for pair, found in zip(pairs, summarize_blocks(HSIC(pairs), x, y, plan), strict=True):
        matrices = []
        for rows in (x, y):
            own = rows.stack(0, 1, block_size)[0].astype(np.longdouble)
            squares = ((own[:, None] - own[None]) ** 2).sum(axis=-1)
            matrices.append(np.expm1(-squares / (2.0 * np.longdouble(pair.x.bandwidth) ** 2)))  # type: ignore[attr-defined]
            if pair.x.bandwidth < 1.0:  # type: ignore[attr-defined]
                matrices[-1] += 1.0
            np.fill_diagonal(matrices[-1], 0.0)
        assert found.values[0] == pytest.approx(hsic(*matrices), rel=1e-11)


def equal(one: Summary, other: Summary) -> bool:
    return np.array_equal(one.values, other.values) and np.array_equal(one.moments, other.moments)


@pytest.mark.parametrize(("n", "block_size"), [(2500, 2500), (2500, 1250), (4000, 90), (3000, 700), (900, 16)])
def test_threads_and_chunks_change_no_bit(instruction_set: str, n: int, block_size: int) -> None:
    x, y = samples(n, 2)
    pairs = tuple(KernelPair(Gaussian(a), Gaussian(1.0)) for a in BANDWIDTHS)
    statistic = HSIC(pairs)
    plan = plan_for(statistic, n, n, block_size)
    wanted = summarize_blocks(statistic, x, y, plan)
    for n_threads in (2, 3):
        assert all(map(equal, summarize_blocks(statistic, x, y, plan, n_threads=n_threads), wanted))
    middle = plan.n_blocks // 3
    for cuts in ((0, middle, plan.n_blocks), (0, 1, plan.n_blocks)) if middle else ():
        parts = [
            summarize_blocks(statistic, x, y, plan, numbers)
            for numbers in itertools.pairwise(cuts)
            if len(set(numbers)) == 2
        ]
        for j in range(len(pairs)):
            assert equal(sum((part[j] for part in parts[1:]), parts[0][j]), wanted[j])


@pytest.mark.parametrize(("n", "block_size"), [(4000, 50), (4000, 300), (9600, 1200)])
def test_streams_have_the_bits_of_samples_of_many_blocks(n: int, block_size: int) -> None:
    x, y = samples(n, 2)
    statistic = HSIC((KernelPair(Gaussian(1.0), Gaussian(1.0)),))
    plan = plan_for(statistic, n, n, block_size)
    assert equal(*(summarize_blocks(statistic, x, y, plan, goes_on=goes_on)[0] for goes_on in (False, True)))


def test_numpy_serves_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = samples(300, 2)
    pairs = (KernelPair(Gaussian(1.0), Gaussian(1.0)),)
    plan = plan_for(HSIC(pairs), 300, 300, 300)
    wanted = summarize_blocks(HSIC(pairs, plain=True), x, y, plan)[0]
    monkeypatch.setattr(_core, "is_available", lambda: False)
    assert HSIC(pairs).engine(x) == "numpy"
    assert equal(summarize_blocks(HSIC(pairs), x, y, plan)[0], wanted)
