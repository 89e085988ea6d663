"""Iterables of batches in place of arrays: read once, a buffer at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import btests
from btests import Aggregate, Gaussian, Normal, Pairwise, SignFlip, Stream, btest
from btests.common_options import CommonOptions
from btests.dispatch import run_batches
from tests.same import assert_same

Rows = npt.NDArray[Any]
RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(6000, 3)), RNG.normal(0.1, 1.1, size=(6000, 3))


def batches(rows: Rows, size: int = 333) -> Iterator[Rows]:
    return (rows[i : i + size] for i in range(0, len(rows), size))


class Loader:
    """Iterable again and again, with a length and no places, as torch's DataLoader; yields batches and labels."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return 10

    def __iter__(self) -> Iterator[list[Any]]:
        return ([batch, np.zeros(len(batch))] for batch in batches(self.rows, 64))


@pytest.mark.parametrize(
    "kernel", [None, Gaussian(1.0), "gaussian", "energy", Aggregate([Gaussian(1.0), Gaussian(2.0)])]
)
def test_what_fits_into_the_buffer_is_shuffled_as_arrays_are(kernel: Any) -> None:
    found = btest(batches(X), Loader(Y), kernel=kernel, block_size=50, seed=3)
    alone = btest(X, Y, kernel=kernel, block_size=50, seed=3)
    assert_same(found, alone)
    assert (found.order, found.n_pending) == ("exact", (0, 0))
    assert repr(found.selector) == repr(alone.selector)


@pytest.mark.parametrize("size", [1, 100, 5999, 6000])
def test_as_they_come(size: int) -> None:
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 50, "seed": 3, "shuffle": False}
    found = btest(batches(X, size), batches(Y, 77), **options)
    assert_same(found, btest(X, Y, **options))
    assert found.order == "as stored"


def test_a_small_buffer_is_reported_and_its_result_does_not_depend_on_the_batches() -> None:
    for shuffle in (True, "buffered"):
        options, size = CommonOptions(50, seed=3, shuffle=shuffle), 3 * 8 * 1000
        one, other = (
            run_batches(batches(X, n), batches(Y, n), None, SignFlip(), options, buffer_bytes=size) for n in (50, 1234)
        )
        assert one is not None
        assert other is not None
        assert_same(one, other)
        assert one.order == "buffered"


def test_the_default_block_has_256_rows_and_the_rest_waits() -> None:
    found = btest(batches(X), batches(Y[:5000]), seed=3)
    assert (found.block_size, found.n_blocks, found.n_x, found.n_y) == (256, 19, 19 * 256, 19 * 256)
    assert found.n_pending[1] == 5000 - 19 * 256


def test_seconds_are_those_of_the_whole_call() -> None:
    def slow() -> Iterator[Rows]:
        time.sleep(0.1)
        yield X

    assert btest(slow(), batches(Y), kernel=Gaussian(1.0), seed=1).seconds >= 0.1


def test_blocks_of_different_sizes() -> None:
    found = btest(batches(X), batches(Y[:2000]), block_size=(60, 20), kernel=Gaussian(1.0), seed=3)
    assert_same(found, btest(X, Y[:2000], block_size=20, kernel=Gaussian(1.0), seed=3))


def test_an_endless_sample_beside_one_that_ends() -> None:
    def endless() -> Iterator[Rows]:
        rng = np.random.default_rng(1)
        while True:
            yield rng.normal(size=(100, 3))

    found = btest(endless(), batches(Y), block_size=50, seed=3, shuffle=False)
    assert (found.n_blocks, found.n_pending[1]) == (120, 0)
    assert found.n_pending[0] <= 200
    stream = Stream(Gaussian(1.0), 50, seed=1).consume(batches(X), endless())
    assert stream.n_blocks == 120


@pytest.mark.parametrize("how", ["array", "frame", "npy", "csv", "list"])
def test_batches_beside_something_else(how: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    np.save(tmp_path / "y.npy", Y)
    frame.to_csv(tmp_path / "y.csv", index=False)
    other = {
        "array": Y,
        "frame": frame[["c", "a", "b"]],
        "npy": tmp_path / "y.npy",
        "csv": str(tmp_path / "y.csv"),
        "list": Y.tolist(),
    }[how]
    frames = (pd.DataFrame(batch, columns=["a", "b", "c"])[["b", "c", "a"]] for batch in batches(X))
    left = frames if how in ("frame", "csv") else batches(X)
    alone = btest(X[:, [1, 2, 0]], Y[:, [1, 2, 0]], kernel=Gaussian(1.0), block_size=50, seed=3)
    if how not in ("frame", "csv"):
        alone = btest(X, Y, kernel=Gaussian(1.0), block_size=50, seed=3)
    assert_same(btest(left, other, kernel=Gaussian(1.0), block_size=50, seed=3), alone)


def test_an_exception_in_the_middle_says_how_far_it_came() -> None:
    def breaking() -> Iterator[Rows]:
        yield from batches(X[:3330])
        raise OSError("the line is dead")

    with pytest.raises(OSError, match="the line is dead") as caught:
        btest(breaking(), batches(Y), block_size=50, seed=1, shuffle=False)
    notes = " ".join(caught.value.__notes__)
    assert "x failed after 10 batches with 3330 rows" in notes
    assert "66 blocks" in notes
    stream = Stream(Gaussian(1.0), 50, seed=1)
    with pytest.raises(OSError, match="the line is dead"):
        stream.consume(breaking(), batches(Y))
    alone = btest(X[:3300], Y[:3300], kernel=Gaussian(1.0), block_size=50, shuffle=False, seed=1)
    assert_same(stream.result(), alone)


def test_bad_batches_are_named_by_number() -> None:
    hole = X[:20].copy()
    hole[7, 2] = np.inf
    for batch, complaint in (
        (np.zeros((5, 2)), "batch 2 of y has 2 columns and those before it 3"),
        (hole, "batch 2 of y has an infinite cell in row 7, column 2"),
        (None, "batch 2 of y must be rows of numbers, got NoneType"),
        ({"x": 1}, "batch 2 of y is a dictionary"),
        (["a"], "batch 2 of y holds"),
        (X[:20].astype(np.float32), "batch 2 of y comes as float32 and those before it as float64"),
    ):
        for shuffle in (True, False):
            with pytest.raises((ValueError, TypeError), match=complaint):
                btest(batches(X), iter([Y[:50], Y[50:100], batch]), block_size=20, seed=1, shuffle=shuffle)
    with pytest.raises(ValueError, match="this batch of y has 2 columns"):
        btest(batches(X), batches(Y[:, :2]), block_size=20, seed=1)


def test_wrong_arguments() -> None:
    for options, complaint in (
        ({"null": "permutation"}, "needs all rows at once"),
        ({"kernel": btests.Weights()}, "needs rows of its own"),
        ({"checkpoint": "file"}, "batches cannot be read again from the middle"),
        ({"workers": 2}, "workers read rows by themselves, and batches are read here, once; save them to files"),
        ({"workers": "tcp://127.0.0.1:1"}, "workers read rows by themselves"),
        ({"block_size": 1}, "block_size must be"),
        ({"block_size": 10**5}, "x has 6000 rows and y has 6000, and block_size is 100000"),
    ):
        with pytest.raises((ValueError, TypeError), match=complaint):
            btest(batches(X), batches(Y), **options)
    with pytest.raises(ValueError, match="batch 0 of x is a single number"):
        btest((i for i in range(60)), Y)
    with pytest.raises(ValueError, match="x has 0 rows"):
        btest(iter([]), batches(Y))
    with pytest.raises(TypeError, match="two numbers are for iterators of batches"):
        btest(X, Y, block_size=(20, 30))
    for one in (X, "x.npy", pd.DataFrame(X), {"a": X}, 3):
        with pytest.raises(TypeError, match="y must be an iterable of batches"):
            Stream().consume(batches(X), one)  # type: ignore[arg-type]


def test_the_rows_of_an_array_are_no_batches() -> None:
    complaint = r"batch 0 of x is a vector of 3 numbers.*numpy.reshape\(batch, \(1, -1\)\) for a row"
    for x, y in ((X, iter(Y)), (X, Y), (X.tolist(), iter(Y.tolist()))):
        for shuffle in (True, False):
            with pytest.raises(ValueError, match=complaint):
                btest(iter(x), y, seed=1, shuffle=shuffle)
    with pytest.raises(ValueError, match=complaint):
        Stream().consume(iter(X), iter(Y))
    one_by_one = (np.reshape(row, (1, -1)) for row in X), (np.reshape(row, (1, -1)) for row in Y)
    assert_same(btest(*one_by_one, block_size=50, seed=1), btest(X, Y, block_size=50, seed=1))


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0)])
def test_batches_in_a_list(kernel: Any) -> None:
    pairs = list(zip(batches(X, 500), batches(Y, 500), strict=True))
    complaint = r"{} is a list of tuples of arrays.* btest\(\(pair\[0\] for pair in pairs\), \(pair\[1\] for pair"
    for x, y, name in ((pairs, Y, "x"), (X, pairs, "y")):
        with pytest.raises(TypeError, match=complaint.format(name)):
            btest(x, y, kernel=kernel)
    found = btest((pair[0] for pair in pairs), (pair[1] for pair in pairs), kernel=kernel, block_size=50, seed=3)
    assert_same(found, btest(X, Y, kernel=kernel, block_size=50, seed=3))
    with pytest.raises(TypeError, match=r"x is a list of arrays; give numpy.concatenate\(x\), or iter\(x\) if"):
        btest(list(batches(X, 500)), Y, kernel=kernel)
    for uneven in (list(batches(X)), list(zip(batches(X), batches(Y), strict=True))):
        with pytest.raises(TypeError, match="is a list of"):
            btest(uneven, Y)


def test_objects_stay_objects() -> None:
    words = ["kitten", "mitten", "sitting", "smitten"] * 5
    kernel = Pairwise(lambda a, b: float(len(set(a) & set(b))))
    alone = btest(words, words[::-1], kernel=kernel, seed=1)
    assert_same(btest(iter(words), iter(words[::-1]), kernel=kernel, seed=1), alone)


def test_one_kernel_and_a_null_without_resampling_and_progress() -> None:
    told: list[tuple[int, int]] = []
    found = btest(batches(X), batches(Y), null=Normal(), block_size=50, seed=3, progress=lambda *n: told.append(n))
    assert_same(found, btest(X, Y, null=Normal(), block_size=50, seed=3))
    assert told[-1] == (12000, 0)
    assert told == sorted(told)
