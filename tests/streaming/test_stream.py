"""Batches of any size give the answer that all rows at once give, to the last bit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import btests
from btests import (
    Aggregate,
    Energy,
    Gaussian,
    Laplacian,
    Matern,
    MedianFamily,
    MedianHeuristic,
    Normal,
    SignFlip,
    Stream,
    btest,
)
from tests.same import assert_same

Rows = npt.NDArray[Any]


def rows_for(n_x: int, n_y: int, d: int = 2, dtype: str = "float64", seed: int = 0) -> tuple[Rows, Rows]:
    rng = np.random.default_rng([seed, n_x, n_y, d])
    return rng.normal(size=(n_x, d)).astype(dtype), rng.normal(0.1, 1.2, size=(n_y, d)).astype(dtype)


def cut(rows: Rows, sizes: list[int]) -> Iterator[Rows]:
    """Yield rows in batches of these sizes, over and over."""
    start, i = 0, 0
    while start < len(rows):
        yield rows[start : start + sizes[i % len(sizes)]]
        start, i = start + sizes[i % len(sizes)], i + 1


def streamed(x: Rows, y: Rows, sizes_x: list[int], sizes_y: list[int], **options: Any) -> Stream:
    stream = Stream(**options)
    for batches in zip_longest(cut(x, sizes_x), cut(y, sizes_y)):
        stream.update(*batches)
    return stream


def squared(p: Rows, q: Rows) -> Rows:
    return np.asarray(np.exp(-((p[:, None, 0] - q[None, :, 0]) ** 2)))


KERNELS: list[Any] = [
    Gaussian(1.0),
    Laplacian(0.5) + 2.0 * Gaussian(3.0),
    Energy(),
    Matern(1.0),
    Aggregate([Gaussian(0.5), Gaussian(1.0), Laplacian(2.0)]),
    Aggregate([Gaussian(0.5), Gaussian(1.0)], correction="rank", weights=[1.0, 2.0]),
    squared,
]

cuts = st.lists(st.integers(1, 400), min_size=1, max_size=4)


@given(
    kernel=st.sampled_from(KERNELS),
    block=st.sampled_from([(2, 2), (3, 3), (7, 7), (32, 32), (50, 50), (33, 40), (64, 3), (2, 5)]),
    n_blocks=st.integers(1, 60),
    over=st.tuples(st.integers(0, 70), st.integers(0, 70)),
    cuts=st.tuples(cuts, cuts),
    dtype=st.sampled_from(["float64", "float32"]),
)
def test_any_batching_gives_the_bits_of_all_rows_at_once(
    kernel: Any,
    block: tuple[int, int],
    *,
    n_blocks: int,
    over: tuple[int, int],
    cuts: tuple[list[int], list[int]],
    dtype: str,
) -> None:
    x, y = rows_for(n_blocks * block[0] + over[0], n_blocks * block[1] + over[1], dtype=dtype)
    stream = streamed(x, y, *cuts, kernel=kernel, block_size=block, seed=5)
    n = stream.n_blocks
    assert n >= n_blocks
    tested_x, tested_y = x[: n * block[0]], y[: n * block[1]]
    alone = btest(tested_x, tested_y, kernel=kernel, block_size=min(block), shuffle=False, seed=5)
    found = stream.result()
    assert_same(found, alone)
    assert found.n_pending == stream.n_pending == (len(x) - len(tested_x), len(y) - len(tested_y))


@pytest.mark.parametrize("block_size", [2, 31, 256, 700, 1023, 1024, 2000])
@pytest.mark.parametrize("d", [1, 5, 40])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Aggregate([Gaussian(1.0), Gaussian(2.0)])], ids=["one", "family"])
def test_blocks_from_2_to_2000_rows(block_size: int, d: int, kernel: Any) -> None:
    n = 30 * block_size if block_size < 100 else 2 * block_size
    x, y = rows_for(n, n, d)
    options: dict[str, Any] = {"kernel": kernel, "block_size": block_size, "seed": 1}
    stream = streamed(x, y, [77, 1000], [500], **options)
    assert_same(stream.result(), btest(x, y, shuffle=False, **options))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_and_arithmetic(dtype: str, n_threads: int) -> None:
    x, y = rows_for(3000, 3000, 3, "float32")
    stream = streamed(x, y, [333], [333], kernel=Gaussian(1.0), block_size=30, seed=1, dtype=dtype, n_threads=n_threads)
    alone = btest(x, y, kernel=Gaussian(1.0), block_size=30, shuffle=False, seed=1, dtype=dtype)
    assert_same(stream.result(), alone)


def test_a_stream_of_both_types_is_one_of_the_wider() -> None:
    x, y = rows_for(1200, 1200)
    narrow = x.astype(np.float32)
    stream = Stream(Gaussian(1.0), 20, seed=1)
    stream.update(narrow[:500], y[:700])
    stream.update(narrow[500:1000].astype(np.float64), y[700:])
    stream.update(narrow[1000:])
    assert_same(
        stream.result(),
        btest(narrow.astype(np.float64), y, kernel=Gaussian(1.0), block_size=20, shuffle=False, seed=1),
    )


def test_looking_changes_nothing_and_is_right_from_the_first_block_on() -> None:
    x, y = rows_for(40 * 10, 40 * 10)
    stream = Stream(Gaussian(1.0), 10, seed=3)
    for i in range(40):
        stream.update(x[10 * i : 10 * i + 10], y[10 * i : 10 * i + 10])
        assert stream.n_blocks == i + 1
        some = x[: 10 * i + 10], y[: 10 * i + 10]
        assert_same(stream.result(), btest(*some, kernel=Gaussian(1.0), block_size=10, shuffle=False, seed=3))


def test_the_default_learns_its_bandwidths_from_the_first_hundred_rows() -> None:
    x, y = rows_for(5000, 5000, 3)
    stream = streamed(x, y, [171], [1000], block_size=100, seed=2)
    default = Aggregate(btests.default_family())
    kernels = tuple(c.kernel for c in btest(x[:100], y[:100], kernel=default, shuffle=False, seed=2).candidates)
    found = stream.result()
    assert tuple(c.kernel for c in found.candidates) == kernels
    assert_same(found, btest(x, y, kernel=Aggregate(kernels), block_size=100, shuffle=False, seed=2))
    # All data have another median than their first rows: to the last bit it holds for kernels that are told alone.
    assert btest(x, y, block_size=100, shuffle=False, seed=2).candidates != found.candidates


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern", MedianHeuristic(Gaussian, n_rows=50)])
def test_a_median_bandwidth_comes_from_the_first_rows_too(kernel: Any) -> None:
    x, y = rows_for(5000, 5000, 3)
    stream = streamed(x, y, [171], [1000], kernel=kernel, block_size=100, seed=2)
    n = 50 if isinstance(kernel, MedianHeuristic) else 100
    chosen = btest(x[:n], y[:n], kernel=kernel, shuffle=False, seed=2).kernel
    assert_same(stream.result(), btest(x, y, kernel=chosen, block_size=100, shuffle=False, seed=2))


def test_every_null_that_needs_no_more_than_blocks() -> None:
    x, y = rows_for(4000, 4000)
    stream = streamed(x, y, [99], [99], kernel=Gaussian(1.0), block_size=20, seed=2)
    for null in (SignFlip(99), Normal(), btests.ThirdCumulant(), btests.CrossMMD()):
        alone = btest(x, y, kernel=Gaussian(1.0), block_size=20, null=null, shuffle=False, seed=2)
        assert_same(stream.result(null), alone)
    with pytest.raises(ValueError, match="needs all rows at once"):
        stream.result(btests.Permutation())


def test_memory_does_not_grow_with_the_rows() -> None:
    rng = np.random.default_rng(2)
    stream = Stream(Gaussian(1.0), 50, seed=1)
    tracemalloc.start()
    try:
        for i in range(60):
            stream.update(rng.normal(size=(20_010, 4)), rng.normal(size=(20_010, 4)))
            if i == 20:
                before = tracemalloc.get_traced_memory()[0]
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # 40 batches of two samples are 51 MB; 8 bytes for each of their 16,000 blocks are 0.13 MB.
    assert after - before < 1_000_000


def test_many_small_updates_leave_few_summaries() -> None:
    x, y = rows_for(7 * 3000, 7 * 3000)
    stream = streamed(x, y, [7], [7], kernel=Gaussian(1.0), block_size=7, seed=1)
    assert_same(stream.result(), btest(x, y, kernel=Gaussian(1.0), block_size=7, shuffle=False, seed=1))


def test_an_array_may_be_changed_by_its_owner() -> None:
    x, y = rows_for(4000, 4000)
    stream = Stream(Gaussian(1.0), 30, seed=1)
    buffer = np.empty((100, 2))
    for start in range(0, 4000, 100):
        buffer[:] = x[start : start + 100]
        stream.update(buffer)
    stream.update(y=y)
    alone = btest(x[:3990], y[:3990], kernel=Gaussian(1.0), block_size=30, shuffle=False, seed=1)
    assert_same(stream.result(), alone)


def test_frames_are_matched_by_the_names_of_their_columns() -> None:
    x, y = rows_for(600, 600)
    stream = Stream(Gaussian(1.0), 20, seed=1)
    stream.update(pd.DataFrame(x[:300], columns=["a", "b"]), pd.DataFrame(y[:, ::-1], columns=["b", "a"]))
    stream.update(pl.DataFrame({"b": x[300:, 1], "a": x[300:, 0]}))
    assert_same(stream.result(), btest(x, y, kernel=Gaussian(1.0), block_size=20, shuffle=False, seed=1))
    with pytest.raises(ValueError, match=r"only in this batch: c; only in those before: b"):
        stream.update(pd.DataFrame({"a": [1.0], "c": [2.0]}))


def test_a_wrong_batch_is_refused_and_changes_nothing() -> None:
    x, y = rows_for(200, 200)
    stream = Stream(Gaussian(1.0), 20, seed=1)
    stream.update(x, y[:100])
    before = stream.result()
    hole = y[100:].copy()
    hole[3, 1] = np.nan
    for batch, complaint in (
        (hole, "y has a NaN cell in row 3, column 1"),
        (np.zeros((5, 3)), "this batch of y has 3 columns, and those before had 2"),
        (np.zeros((5, 2, 2)), "y must have rows and columns"),
        (["a", "b"], "y does not hold numbers"),
        ("y.csv", "read the file first"),
        (3.0, "y must hold"),
        ({"a": 1}, "got a dict"),
    ):
        with pytest.raises((ValueError, TypeError), match=complaint):
            stream.update(x, batch)
    assert stream.n_pending == (100, 0)
    assert_same(stream.result(), before)
    stream.update(None, y[100:])
    stream.update(y=[])
    assert_same(stream.result(), btest(x, y, kernel=Gaussian(1.0), block_size=20, shuffle=False, seed=1))


def test_x_and_y_of_different_widths_in_one_batch() -> None:
    stream = Stream(Gaussian(1.0), 20)
    with pytest.raises(ValueError, match="this batch of y has 3 columns, and that of x has 2"):
        stream.update(np.zeros((5, 2)), np.zeros((5, 3)))
    stream.update(np.zeros((5, 3)), np.zeros((5, 3)))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"block_size": 1}, "block_size must be a whole number between 2 and 2\\^20"),
        ({"block_size": 2.5}, "block_size must be"),
        ({"block_size": (2, 3, 4)}, "block_size must be one number or two"),
        ({"block_size": True}, "block_size must be"),
        ({"kernel": "cosine"}, "kernel must be one of energy, gaussian"),
        ({"kernel": Gaussian}, r"write Gaussian\(\.\.\.\)"),
        ({"kernel": [Gaussian(1.0)]}, "to test with all of them write kernel=Aggregate"),
        ({"kernel": 3}, "kernel must be a kernel"),
        ({"kernel": btests.Weights()}, "needs rows of its own"),
        ({"kernel": MedianFamily()}, "to test with all of them write kernel=Aggregate"),
        ({"seed": -1}, "seed must be"),
        ({"part": -1}, "part must be"),
        ({"part": 2**63}, "part must be"),
        ({"part": 0.5}, "part must be"),
        ({"dtype": "int8"}, "dtype must be"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_wrong_arguments_are_named_at_once(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises((ValueError, TypeError), match=complaint):
        Stream(**options)


def test_no_block_no_result() -> None:
    stream = Stream(block_size=30)
    with pytest.raises(ValueError, match="no block is full yet: 0 and 0 rows came, and a block takes 30 and 30"):
        stream.result()
    stream.update(np.zeros((29, 2)), np.zeros((40, 2)))
    with pytest.raises(ValueError, match="29 and 40 rows came"):
        stream.partial()


def test_a_stream_says_where_it_is() -> None:
    stream = Stream(Gaussian(1.0), (20, 30), seed=1)
    stream.update(*rows_for(50, 61))
    assert (
        repr(stream) == "Stream(Gaussian(bandwidth=1.0), block_size=(20, 30), seed=1: 2 blocks, 10 and 1 rows pending)"
    )


def test_a_batch_on_which_the_kernel_fails_is_not_taken() -> None:
    rng = np.random.default_rng(0)
    stream = Stream(btests.Linear(), 16, seed=1)
    for _ in range(40):
        stream.update(rng.normal(size=(16, 2)), rng.normal(size=(16, 2)))
    before = stream.result()
    with pytest.raises(ValueError, match=r"finite|overflow|NaN"):
        stream.update(np.full((20, 2), 1e200), rng.normal(size=(20, 2)))
    after = stream.result()
    assert (after.pvalue, after.statistic, after.n_blocks) == (before.pvalue, before.statistic, before.n_blocks)
    stream.update(rng.normal(size=(16, 2)), rng.normal(size=(16, 2)))
    assert stream.result().n_blocks == before.n_blocks + 1
