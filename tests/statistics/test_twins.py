"""The compiled loops against their plain twins: every shape, kernel, precision, instruction set and layout."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from btests import HSIC, Energy, FeatureMMD, Gaussian, KernelPair, _core, btest
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, Statistic, plan_for, summarize_blocks
from btests.summary import Summary
from tests.kernels.formulas import radial
from tests.statistics.shapes import LARGE, SHAPES, Shape

KERNELS = range(len(radial(1.0)))

# Largest error of a kernel value: rounding of the distance's d terms in float32, and of little else in float64.
TOLERANCE = {"float64": 2e-13, "float32": 1e-5}


@cache
def samples(shape: Shape, rows: str, shuffled: bool) -> tuple[Sample, Sample]:
    """Return two samples that differ, in an order of their own if shuffled."""
    rng = np.random.default_rng(sum(shape))
    x = rng.normal(3.0, 1.0, size=(shape.n_x, shape.d)).astype(rows)
    y = rng.normal(3.1, 1.2, size=(shape.n_y, shape.d)).astype(rows)
    if not shuffled:
        return Sample(x), Sample(y)
    return Sample(x, rng.permutation(shape.n_x)), Sample(y, rng.permutation(shape.n_y))


@cache
def plain_summary(shape: Shape, kernel: int, rows: str, shuffled: bool) -> Summary:
    """Return what the plain path gives."""
    x, y = samples(shape, rows, shuffled)
    return summarize_blocks(MMD(radial(shape.d**0.5)[kernel].kernel, plain=True), x, y, shape.plan)[0]


def compare(shape: Shape, kernel: int, rows: str, arithmetic: str, shuffled: bool) -> None:
    """Compare values and moments of both twins."""
    x, y = samples(shape, rows, shuffled)
    one = radial(shape.d**0.5)[kernel].kernel
    plan = shape.plan
    found = summarize_blocks(MMD(one, arithmetic), x, y, plan)[0]
    wanted = plain_summary(shape, kernel, rows, shuffled)
    size = 2.0 * shape.d**0.5 if isinstance(one, Energy) else 3.0  # of a kernel value, at most about
    tolerance = 4.0 * size * TOLERANCE[arithmetic]
    np.testing.assert_allclose(found.values, wanted.values, rtol=0.0, atol=tolerance)
    # A cell of a core is about 1 / g^2 of the value of each block in its fold.
    share = -(-plan.n_blocks // plan.n_strata) * 8.0 / plan.n_groups**2
    np.testing.assert_allclose(found.moments, wanted.moments, rtol=0.0, atol=tolerance * share)
    np.testing.assert_allclose(found.moments, np.swapaxes(found.moments, 1, 2), rtol=0.0, atol=1e-15 * share)
    assert not np.diagonal(found.moments, axis1=1, axis2=2).any()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(radial(1.0)[k].kernel).__name__ + str(k))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_float64(instruction_set: str, shape: Shape, kernel: int) -> None:
    compare(shape, kernel, "float64", "float64", shuffled=True)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(radial(1.0)[k].kernel).__name__ + str(k))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_float32(instruction_set: str, shape: Shape, kernel: int) -> None:
    compare(shape, kernel, "float32", "float32", shuffled=False)


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
@pytest.mark.parametrize("shape", LARGE, ids=str)
def test_large_blocks(instruction_set: str, shape: Shape, arithmetic: str) -> None:
    compare(shape, 0, "float64", arithmetic, shuffled=True)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("rows", "arithmetic"), [("float32", "float64"), ("float64", "float32")])
@pytest.mark.parametrize("shuffled", [False, True])
def test_mixed_precision(instruction_set: str, shape: Shape, rows: str, arithmetic: str, shuffled: bool) -> None:
    compare(shape, 0, rows, arithmetic, shuffled)


def test_instruction_set_is_the_best_of_the_machine(instruction_set: str) -> None:
    x, y = samples(SHAPES[0], "float64", False)
    assert _core.instruction_set() == instruction_set
    assert btest(x.rows, y.rows, kernel=Gaussian(1.0), seed=1).engine == f"compiled ({instruction_set})"


@pytest.mark.skipif(not _core.is_available(), reason="the compiled loops were not built")
def test_weaker_machines_have_the_bits_of_their_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = samples(SHAPES[-1], "float64", False)
    pairs, features = HSIC((KernelPair(Gaussian(1.0), Gaussian(1.0)),)), FeatureMMD(Gaussian(1.0)).prepare(x, x)
    statistics = (MMD(Gaussian(1.0)), y), (pairs, x), (features, x)
    for name in _core.instruction_sets():
        asked = [_bits(statistic, x, other, instructions=name) for statistic, other in statistics]
        with monkeypatch.context() as patch:
            patch.setattr(_core.library, "instruction_sets", lambda name=name: (name,))
            found = [_bits(statistic, x, other) for statistic, other in statistics]
        assert asked == found


def _bits(statistic: Statistic, x: Sample, y: Sample, **options: str) -> bytes:
    (found,) = summarize_blocks(statistic, x, y, plan_for(statistic, len(x), len(y), 20), **options)  # type: ignore[arg-type]
    return found.values.tobytes() + found.moments.tobytes()


@pytest.mark.skipif(not _core.is_available(), reason="the compiled loops were not built")
def test_unknown_instruction_set() -> None:
    shape = SHAPES[0]
    with pytest.raises(ValueError, match="'sse9'"):
        summarize_blocks(MMD(Gaussian(1.0)), *samples(shape, "float64", False), shape.plan, instructions="sse9")


def test_the_shapes_reach_both_layouts() -> None:
    layouts = [_core.lanes_are_blocks(shape.plan, shape.d) for shape in SHAPES]
    assert layouts.count(True) >= 5
    assert layouts.count(False) >= 5
    assert {shape.d for shape in SHAPES} >= {1, 2, 3, 5, 2000}


@pytest.mark.skipif(not _core.is_available(), reason="the compiled loops were not built")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_some_blocks_are_the_same_to_the_bit(shape: Shape) -> None:
    x, y = samples(shape, "float64", True)
    statistic, n = MMD(radial(shape.d**0.5)[3].kernel), shape.plan.n_blocks
    whole = summarize_blocks(statistic, x, y, shape.plan)[0]
    edges = sorted({0, n // 3, n - n // 3, n})
    parts = [summarize_blocks(statistic, x, y, shape.plan, (i, j))[0] for i, j in itertools.pairwise(edges)]
    joined = Summary.join(parts[::-1])
    np.testing.assert_array_equal(joined.values, whole.values)
    np.testing.assert_array_equal(joined.moments, whole.moments)


@pytest.mark.skipif(not _core.is_available(), reason="the compiled loops were not built")
@pytest.mark.parametrize("block_size", [2, 3, 8, 17])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_in_their_own_order_are_the_same_to_the_bit(block_size: int, d: int, dtype: str) -> None:
    """Rows that lie one after another are turned into vectors by other loops than rows that are dealt by an order."""
    n = 40 * block_size + block_size // 2  # blocks of two sizes in one vector
    rng = np.random.default_rng(d)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    statistic, plan, order = MMD(Gaussian(1.0), dtype), Plan.of_size(n, n, block_size), np.arange(n)
    own = summarize_blocks(statistic, Sample(x), Sample(y), plan)[0]
    permuted = summarize_blocks(statistic, Sample(x, order), Sample(y, order), plan, n_threads=2)[0]
    np.testing.assert_array_equal(own.values, permuted.values)
    np.testing.assert_array_equal(own.moments, permuted.moments)
