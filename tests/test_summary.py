"""Summaries add: chunks and their order leave no trace, not in a bit."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests import Gaussian, Linear, SignFlip, pairwise_sum
from btests.conclude import BlockSummaries, conclude
from btests.data.sample import Sample
from btests.plan import MOMENT_BUDGET, Plan
from btests.statistics import MMD, summarize_blocks
from btests.summary import Summary, sample_sd


def whole(n_x: int, n_y: int, block_size: int, *, plain: bool = False, linear: bool = False) -> Summary:
    """Return the summary of all blocks of two normal samples."""
    return pieces(n_x, n_y, block_size, None, plain=plain, linear=linear)[0]


def pieces(
    n_x: int, n_y: int, block_size: int, edges: list[int] | None, *, plain: bool = False, linear: bool = False
) -> list[Summary]:
    """Return the summaries of blocks edges[i] .. edges[i + 1] - 1."""
    rng = np.random.default_rng([n_x, n_y])
    x, y = Sample(rng.normal(size=(n_x, 2))), Sample(rng.normal(0.3, 1.0, size=(n_y, 2)))
    plan = Plan.of_size(n_x, n_y, block_size)
    statistic = MMD(Linear() if linear else Gaussian(1.0), plain=plain)
    n = plan.n_blocks
    cuts = [0, n] if edges is None else sorted({0, n} | {e % n for e in edges})
    return [summarize_blocks(statistic, x, y, plan, (i, j))[0] for i, j in itertools.pairwise(cuts)]


def assert_same(one: Summary, other: Summary) -> None:
    """Assert equality to the bit."""
    assert one.plan == other.plan
    assert one.is_complete
    for name in ("values", "moments"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)


SIZES = st.sampled_from(
    [(60, 60, 2), (61, 61, 3), (200, 200, 14), (50, 83, 5), (1300, 1300, 33), (120, 120, 60), (2600, 2600, 33)]
)


@given(SIZES, st.lists(st.integers(0, 1000), max_size=6), st.booleans(), st.randoms(use_true_random=False))
def test_merging_is_concatenation(sizes: tuple[int, int, int], edges: list[int], plain: bool, random: Random) -> None:
    parts = pieces(*sizes, edges, plain=plain)
    random.shuffle(parts)
    assert_same(functools.reduce(operator.add, parts), whole(*sizes, plain=plain))
    assert_same(Summary.join(parts), whole(*sizes, plain=plain))


@given(SIZES, st.randoms(use_true_random=False))
def test_adding_is_associative_and_commutes(sizes: tuple[int, int, int], random: Random) -> None:
    parts = pieces(*sizes, list(range(1000)))
    random.shuffle(parts)
    while len(parts) > 1:  # any tree of additions
        i, j = sorted(random.sample(range(len(parts)), 2))
        other = parts.pop(j)
        parts[i] = other + parts[i] if random.random() < 0.5 else parts[i] + other
    assert_same(parts[0], whole(*sizes))


@given(SIZES, st.integers(2, 7))
def test_interleaved_blocks(sizes: tuple[int, int, int], n_workers: int) -> None:
    """Worker i takes blocks i, i + n, i + 2n, ..."""
    parts = pieces(*sizes, list(range(1000)))
    workers = [Summary.join(parts[i::n_workers]) for i in range(n_workers) if parts[i::n_workers]]
    assert_same(Summary.join(reversed(workers)), whole(*sizes))


def test_a_block_does_not_count_twice() -> None:
    one, two, three = pieces(60, 60, 2, [10, 20])
    with pytest.raises(ValueError, match="share a block"):
        (one + two) + two
    with pytest.raises(ValueError, match="share a block"):
        (one + three) + one


def test_summaries_of_other_blocks_do_not_add() -> None:
    with pytest.raises(ValueError, match="different blocks"):
        whole(60, 60, 2) + whole(60, 60, 3)


def test_parts_add_in_any_order() -> None:
    """Blocks of several plans: a part of each number, and folds no finer than those of one plan may be."""
    parts = [replace_number(whole(n, n, 10), number) for number, n in ((3, 60), (1, 1000), (2, 200))]
    both = parts[0] + parts[1] + parts[2]
    assert_same(both, parts[2] + (parts[1] + parts[0]))
    assert both.plan == Plan(1260, 1260, 126)
    np.testing.assert_array_equal(both.values, np.concatenate([parts[1].values, parts[2].values, parts[0].values]))
    with pytest.raises(ValueError, match="give every stream a part number"):
        parts[0] + replace_number(parts[1], 3)
    with pytest.raises(ValueError, match="different sizes"):
        parts[0] + whole(60, 60, 20)


def test_many_parts_are_folded() -> None:
    parts = [replace_number(whole(64, 64, 32), number) for number in range(100)]
    both = Summary.join(parts)
    assert both.moments.size <= MOMENT_BUDGET
    np.testing.assert_allclose(both.moments.sum(axis=0), sum(p.moments.sum(axis=0) for p in parts), rtol=1e-12)


def replace_number(summary: Summary, number: int) -> Summary:
    """Return the same blocks as another part."""
    return replace(summary, parts=(replace(summary.parts[0], number=number),))


@given(st.integers(1, 200), st.integers(0, 200), st.integers(0, 200), st.integers(0, 8))
def test_nodes_cover_the_blocks(n: int, first: int, last: int, top: int) -> None:
    first, last = sorted((first % (n + 1), last % (n + 1)))
    nodes = pairwise_sum.cover(first, last, n, top)
    begin = pairwise_sum.starts(nodes)
    end = np.minimum(begin + (1 << nodes[:, 0]), n)
    held = [block for i, j in zip(begin, end, strict=True) for block in range(i, j)]
    assert held == list(range(first, last))
    assert np.all(nodes[:, 0] <= top)


@given(st.integers(1, 100), st.integers(0, 7), st.integers(0, 2**32 - 1))
def test_merged_nodes_are_sums_of_halves(n: int, top: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    plan = np.stack([np.zeros(n, dtype=np.int64), np.arange(n)], axis=1)
    nodes, sums = pairwise_sum.merge(plan, values, n, top)
    np.testing.assert_array_equal(nodes, pairwise_sum.cover(0, n, n, top))
    wanted = [pairwise_sum.add_up(values[i : i + 2**top]) for i in range(0, n, 2**top)]
    np.testing.assert_array_equal(sums, wanted)


def test_only_summaries_add() -> None:
    with pytest.raises(TypeError):
        whole(60, 60, 2) + 1  # type: ignore[operator]


def test_an_incomplete_summary_is_not_concluded() -> None:
    one, two = pieces(60, 60, 2, [10])
    assert not one.is_complete
    assert (one + two).is_complete
    with pytest.raises(ValueError, match="10 of 30 blocks are there"):
        conclude(BlockSummaries((Gaussian(1.0),), (one,)), SignFlip(), 0)


@pytest.mark.parametrize("sizes", [(60, 60, 2), (61, 61, 7), (50, 83, 5), (120, 120, 120)])
@pytest.mark.parametrize("linear", [False, True])
def test_x_and_y_may_be_swapped(sizes: tuple[int, int, int], linear: bool) -> None:
    n_x, n_y, block_size = sizes
    rng = np.random.default_rng(0)
    x, y = Sample(rng.normal(size=(n_x, 2))), Sample(rng.normal(0.3, 1.0, size=(n_y, 2)))
    plan, other = Plan.of_size(n_x, n_y, block_size), Plan.of_size(n_y, n_x, block_size)
    statistic = MMD(Linear() if linear else Gaussian(1.0))
    one = summarize_blocks(statistic, x, y, plan)[0]
    two = summarize_blocks(statistic, y, x, other)[0]
    np.testing.assert_allclose(two.values, one.values, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(two.moments, one.moments, rtol=1e-11, atol=1e-14)


def test_sample_sd() -> None:
    values = np.array([1.0, 2.0, 4.0])
    for scale in (1e-300, 1.0, 1e300):
        assert sample_sd(values * scale) == pytest.approx(values.std(ddof=1) * scale, rel=1e-12)
    assert sample_sd(np.full(3, 0.1)) == 0.0
    assert np.isnan(sample_sd(values[:1]))
