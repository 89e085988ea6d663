"""Tallies add in any order, to the same bits, and say what does not add."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests import Aggregate, Gaussian, Laplacian, Normal, PartialResult, Permutation, SignFlip, Stream, _core, btest
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize_blocks
from btests.statistics.numpy_backend import kernel_scales
from btests.summary import Summary
from tests.same import assert_same

Rows = npt.NDArray[Any]
KERNELS = (Gaussian(0.5), Gaussian(1.0), Laplacian(2.0))


def rows(n: int, seed: int = 0) -> tuple[Rows, Rows]:
    rng = np.random.default_rng([7, seed])
    return rng.normal(size=(n, 2)), rng.normal(0.1, 1.1, size=(n, 2))


def stream_of(n: int, part: int, kernel: Any = None, seed: int = 5) -> Stream:
    stream = Stream(kernel or Aggregate(KERNELS), 10, seed=seed, part=part)
    stream.update(*rows(n, part))
    return stream


def assert_equal(one: PartialResult, other: PartialResult) -> None:
    """Raise unless two partial results have the same bits and give the same answer."""
    assert one.kernels == other.kernels
    for a, b in zip(one.summaries, other.summaries, strict=True):
        assert a.plan == b.plan
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.moments, b.moments)
    assert_same(one.result(), other.result())


@given(cuts=st.lists(st.integers(1, 199), max_size=6, unique=True), order=st.randoms(use_true_random=False))
def test_chunks_of_a_plan_add_in_any_order(cuts: list[int], order: Any) -> None:
    x, y = rows(2000)
    plan = Plan(2000, 2000, 200, len(KERNELS))
    samples = Sample(x), Sample(y)
    family = MMD(KERNELS)
    kernel_scale = kernel_scales(KERNELS, *samples)
    edges = [0, *sorted(cuts), 200]

    def chunk(first: int, last: int) -> PartialResult:
        found = summarize_blocks(family, *samples, plan, (first, last))
        summaries = tuple(Summary(s.parts, size) for s, size in zip(found, kernel_scale, strict=True))
        return PartialResult(KERNELS, summaries, 5, engine=_core.engine_name(family.engine(samples[0])))

    chunks = [chunk(a, b) for a, b in pairwise(edges)]
    order.shuffle(chunks)
    one_by_one = chunks[0]
    for other in chunks[1:]:
        assert not one_by_one.is_complete
        one_by_one = one_by_one + other
    assert one_by_one.is_complete
    assert_equal(one_by_one, chunk(0, 200))
    assert_equal(PartialResult.join(chunks[::-1]), one_by_one)
    alone = btest(x, y, kernel=Aggregate(KERNELS), block_size=10, shuffle=False, seed=5)
    assert_same(one_by_one.result(), alone)


def test_parts_of_many_machines_add_in_any_order() -> None:
    partials = [stream_of(n, part).partial() for part, n in enumerate((500, 333, 1207, 40))]
    wanted = PartialResult.join(partials)
    assert wanted.n_blocks == 50 + 33 + 120 + 4
    assert wanted.n_pending == (10, 10)
    for turn in permutations(range(4)):
        a, b, c, d = (partials[i] for i in turn)
        assert_equal((a + b) + (c + d), wanted)
        assert_equal(((a + b) + c) + d, wanted)
    assert wanted.result(SignFlip(99)).n_blocks == 207


def test_parts_are_as_good_as_one_stream() -> None:
    # The same blocks in two parts: all block values are those of one stream, and so is the average.
    x, y = rows(1000)
    kernel = Gaussian(1.0)
    one, *parts = (Stream(kernel, 10, seed=5, part=part) for part in (0, 1, 2))
    one.update(x, y)
    for part, half in zip(parts, (slice(0, 400), slice(400, 1000)), strict=True):
        part.update(x[half], y[half])
    both = (parts[0].partial() + parts[1].partial()).result()
    np.testing.assert_allclose(both.block_values, one.result().block_values, rtol=1e-9, atol=1e-12)


def one_column() -> PartialResult:
    stream = Stream(Gaussian(1.0), 10, seed=5, part=1)
    stream.update(*(sample[:, :1] for sample in rows(500)))
    return stream.partial()


def test_what_does_not_add_says_why() -> None:
    partial = stream_of(500, 0, Gaussian(1.0)).partial()
    for other, complaint in (
        (
            stream_of(500, 1, Gaussian(2.0)).partial(),
            "partial results of different kernels do not add: .*; give all streams the same kernels",
        ),
        (stream_of(500, 1, Gaussian(1.0), seed=6).partial(), "partial results that differ in seed do not add: 5 and 6"),
        (replace(stream_of(500, 1, Gaussian(1.0)).partial(), order="exact"), "differ in order"),
        (partial, "share a block"),
        (stream_of(700, 0, Gaussian(1.0)).partial(), "give every stream a part number of its own"),
    ):
        with pytest.raises(ValueError, match=complaint):
            partial + other
    wide = Stream(Gaussian(1.0), 20, seed=5, part=1)
    wide.update(*rows(500))
    with pytest.raises(ValueError, match="blocks of different sizes do not add"):
        partial + wide.partial()
    with pytest.raises(ValueError, match="differ in the number of columns do not add: 2 and 1"):
        partial + one_column()
    coarse = Stream(Gaussian(1.0), 10, seed=5, part=1, dtype="float32")
    coarse.update(*rows(500))
    with pytest.raises(ValueError, match=r"differ in their arithmetic \(dtype\) do not add: 'float64' and 'float32'"):
        partial + coarse.partial()
    with pytest.raises(ValueError, match="there is nothing to join"):
        PartialResult.join([])
    with pytest.raises(TypeError):
        partial + 3  # type: ignore[operator]
    with pytest.raises(TypeError):
        sum([partial, partial])  # type: ignore[list-item]


def test_what_a_tally_cannot_tell() -> None:
    partial = stream_of(500, 0).partial()
    with pytest.raises(ValueError, match="needs all rows at once, and a partial result has none"):
        partial.result(Permutation())
    with pytest.raises(ValueError, match="null must be SignFlip"):
        partial.result(Normal())
    x, y = rows(500)
    some = summarize_blocks(MMD(KERNELS[:1]), Sample(x), Sample(y), Plan(500, 500, 50), (0, 20))
    with pytest.raises(ValueError, match="20 of 50 blocks are there; add the others first"):
        PartialResult(KERNELS[:1], some, 1).result()


def test_a_tally_travels_between_processes() -> None:
    stream = Stream(Gaussian(1.0), 10, seed=1)
    stream.update(np.arange(100.0), np.arange(100.0) + 1.0)
    partial = stream.partial()
    assert pickle.loads(pickle.dumps(partial)).result() == partial.result()
