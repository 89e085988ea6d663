"""Families: many kernels from one distance and one exponential, against each kernel on its own by plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from btests import Combination, Gaussian, Laplacian, Matern, OnColumns
from btests._core.bandwidth_chain import chain
from btests.data.sample import Location, Sample
from btests.kernels import Kernel, Radial
from btests.kernels.kernel import groups_of
from btests.plan import Plan
from btests.statistics import MMD, summarize, summarize_all, summarize_blocks
from tests.statistics.shapes import SHAPES, Shape
from tests.statistics.test_twins import samples

PAPER = tuple(Gaussian(2.0**p) for p in range(-15, 11))
FAMILIES: dict[str, tuple[Kernel, ...]] = {
    "the paper's": PAPER,
    "finer": tuple(Gaussian(2.0 ** (p / 2)) for p in range(-6, 8)),
    "no rule": tuple(Gaussian(s) for s in (3.0, 0.7, 1.1, 12.0)),
    "Laplacian": tuple(Laplacian(2.0**p) for p in range(-6, 6)),
    "mixed": (Gaussian(1.0), Matern(1.0), Gaussian(2.0), 0.5 * Gaussian(1.0) + Laplacian(4.0), Laplacian(8.0)),
}


def planned(shape: Shape, n_kernels: int) -> Plan:
    return Plan.of_size(shape.n_x, shape.n_y, shape.block_size, n_kernels)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s.d < 200], ids=str)
def test_a_family_is_its_members(instruction_set: str, shape: Shape, family: tuple[Kernel, ...]) -> None:
    x, y = samples(shape, "float64", True)
    plan = planned(shape, len(family))
    found = summarize_all(MMD(family), x, y, plan)
    share = -(-plan.n_blocks // plan.n_strata) * 8.0 / plan.n_groups**2
    for kernel, summary in zip(family, found, strict=True):
        alone = summarize_blocks(MMD(kernel, plain=True), x, y, plan)[0]
        size = sum(kernel.weights) if isinstance(kernel, Combination) else 1.0
        np.testing.assert_allclose(summary.values, alone.values, rtol=0.0, atol=4e-13 * size)
        np.testing.assert_allclose(summary.moments, alone.moments, rtol=0.0, atol=4e-13 * size * share)


def test_a_wide_member_keeps_its_digits(instruction_set: str) -> None:
    # At 2^10 times the spread a kernel value is 1 - 5e-7, and MMD^2 itself a part of that.
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(64, 2)), rng.normal(0.5, 1.0, size=(64, 2))
    for b in (8, 64):  # both layouts
        plan = Plan.of_size(64, 64, b, len(PAPER))
        found = summarize_all(MMD(PAPER), Sample(x), Sample(y), plan)[-1]
        h = 0.0
        for k in range(64 // b):  # in units of u = k - 1, which the constant 1 does not reach
            p, q = x[k * b : (k + 1) * b], y[k * b : (k + 1) * b]
            for i in range(b):
                for j in range(b):
                    if i != j:
                        pairs = ((p[i], p[j], 1), (q[i], q[j], 1), (p[i], q[j], -1), (q[i], p[j], -1))
                        h += sum(s * math.expm1(-float((a - c) @ (a - c)) / 2.0**21) for a, c, s in pairs)
        wanted = h / (64 // b) / (b * (b - 1))
        assert found.mean() == pytest.approx(wanted, rel=1e-12 if b == 8 else 1e-8)


def test_members_that_vanish_are_zero(instruction_set: str) -> None:
    x, y = Sample(np.arange(60.0)[:, None]), Sample(np.arange(60.0)[:, None] + 0.5)
    for b in (4, 60):
        found = summarize_all(MMD(PAPER[:8]), x, y, Plan.of_size(60, 60, b, 8))
        for summary in found:
            assert not summary.values.any()
            assert not summary.moments.any()


def test_duplicates_count_in_every_member(instruction_set: str) -> None:
    x, y = Sample(np.zeros((40, 1))), Sample(np.arange(1.0, 41.0)[:, None])
    for b in (4, 40):
        for summary in summarize_all(MMD(PAPER[:8]), x, y, Plan.of_size(40, 40, b, 8)):
            np.testing.assert_allclose(summary.values, 1.0, rtol=1e-15)


@pytest.mark.parametrize(
    "shape",
    [Shape(1700, 1700, 70, 2), Shape(1700, 1700, 40, 60), Shape(3000, 3000, 1500, 2), Shape(900, 1300, 30, 3)],
    ids=str,
)
def test_chunks_and_threads_change_no_bit(shape: tuple[int, int, int, int]) -> None:
    x, y = samples(Shape(*shape), "float64", True)
    plan, family = planned(Shape(*shape), len(PAPER)), MMD(PAPER)
    whole = summarize_all(family, x, y, plan, 1)
    threads = summarize_all(family, x, y, plan, 3)
    pieces = [summarize_blocks(family, x, y, plan, (f, f + 1)) for f in reversed(range(plan.n_blocks))]
    for i, one in enumerate(whole):
        joined = type(one).join(piece[i] for piece in pieces)
        for other in (threads[i], joined):
            np.testing.assert_array_equal(one.values, other.values)
            np.testing.assert_array_equal(one.moments, other.moments)


@pytest.mark.parametrize("size", [8, 33, 70])
def test_far_and_near_rows_change_no_bit_of_others(instruction_set: str, size: int) -> None:
    # Wide members come from sums of powers, but not those of far rows; narrow ones are looked at until none is left.
    rng = np.random.default_rng(size)
    n = 30 * size + 11  # blocks of two sizes
    x, y = rng.standard_t(1.2, size=(n, 2)), rng.standard_t(1.2, size=(n, 2))
    x[::50] = y[::50] * (1.0 + 1e-9)
    first, second = Sample(x), Sample(y)
    plan, family = Plan.of_size(n, n, size, len(PAPER)), MMD(PAPER)
    assert chain(tuple(t for kernel in PAPER for t in kernel.terms())).n_wide(first.location.reach()) > 0
    whole = summarize_all(family, first, second, plan, 1)
    pieces = [summarize_blocks(family, first, second, plan, (f, f + 1)) for f in range(plan.n_blocks)]
    for i, (kernel, one) in enumerate(zip(PAPER, whole, strict=True)):
        np.testing.assert_array_equal(one.values, type(one).join(piece[i] for piece in pieces).values)
        np.testing.assert_array_equal(one.moments, type(one).join(piece[i] for piece in pieces).moments)
        alone = summarize_blocks(MMD(kernel, plain=True), first, second, plan)[0]
        np.testing.assert_allclose(one.values, alone.values, rtol=0.0, atol=4e-13)


def test_wide_members_are_counted_by_the_spread_of_the_rows() -> None:
    links = chain(tuple(term for kernel in PAPER for term in kernel.terms()))
    location = Location.of(np.random.default_rng(1).normal(size=(64, 2)))
    assert links.n_wide(location.reach()) == 7
    assert links.n_wide(location.reach() * 2.0**-2) == 8  # rows half as far apart
    assert links.n_wide(0.0) == 0
    assert links.n_wide(math.inf) == 0
    assert links.n_wide(1e-300) == len(PAPER)
    assert links.n_wide(1e5) == 0  # two would not pay
    assert chain(tuple(Radial("gaussian", s) for s in (1e200, 2e200))).n_wide(1.0) == 0
    assert chain(tuple(Radial("laplacian", s) for s in (1.0, 2.0))).n_wide(1e-9) == 0


def test_members_do_not_depend_on_their_order() -> None:
    shape = Shape(400, 400, 40, 2)
    x, y = samples(shape, "float64", True)
    plan = planned(shape, len(PAPER))
    forward = summarize_all(MMD(PAPER), x, y, plan)
    backward = summarize_all(MMD(PAPER[::-1]), x, y, plan)
    for one, other in zip(forward, reversed(backward), strict=True):
        np.testing.assert_array_equal(one.moments, other.moments)


def test_kernels_on_columns_form_families_of_their_own() -> None:
    rng = np.random.default_rng(1)
    x, y = Sample(rng.normal(size=(120, 3))), Sample(rng.normal(size=(120, 3)))
    family = tuple(OnColumns(Gaussian(s), (c,)) for c in range(3) for s in (1.0, 2.0))
    plan = Plan.of_size(120, 120, 10, len(family))
    for kernel, summary in zip(family, summarize_all(MMD(family), x, y, plan), strict=True):
        alone = summarize(MMD(kernel, plain=True), x, y, plan)
        np.testing.assert_allclose(summary.values, alone.values, rtol=0.0, atol=1e-13)


def test_a_chain_doubles_where_bandwidths_do() -> None:
    links = chain(tuple(term for kernel in PAPER for term in kernel.terms()))
    assert links.squarings.tolist() == [0, *[2] * 25]
    assert links.order.tolist() == list(range(25, -1, -1))
    assert chain(tuple(Radial("laplacian", s) for s in (1.0, 2.0, 5.0))).squarings.tolist() == [0, 1, 0]
    assert chain(tuple(Radial("gaussian", s) for s in (1.0, math.sqrt(2.0), 7.0))).squarings.tolist() == [0, 1, 0]


def test_a_family_has_smaller_cores_than_one_kernel() -> None:
    one, many = Plan.of_size(20000, 20000, 141), Plan.of_size(20000, 20000, 141, 26)
    assert (one.n_strata, many.n_strata) == (36, 5)
    assert Plan.of_size(20000, 20000, 2, 26).n_strata == 1250


def test_the_papers_family_is_one_group() -> None:
    terms = tuple(term for kernel in PAPER for term in kernel.terms())
    assert [len(group) for group in groups_of(terms)] == [26]
    far = tuple(term for kernel in (Gaussian(1e-200), *PAPER, Gaussian(1e200)) for term in kernel.terms())
    assert sorted(len(group) for group in groups_of(far)) == [1, 1, 26]


def test_members_of_any_two_widths_do_not_harm_each_other() -> None:
    rng = np.random.default_rng(2)
    x, y = Sample(rng.normal(size=(60, 2))), Sample(rng.normal(size=(60, 2)))
    family: tuple[Kernel, ...] = (
        *(Gaussian(s) for s in (1.0, 1e200, 1e-200)),
        *(Laplacian(s) for s in (1e250, 1.0)),
    )
    plan = Plan.of_size(60, 60, 6, len(family))
    for kernel, summary in zip(family, summarize_all(MMD(family), x, y, plan), strict=True):
        np.testing.assert_allclose(summary.values, summarize(MMD(kernel, plain=True), x, y, plan).values, atol=1e-13)
