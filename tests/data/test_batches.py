"""Rows that come in batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from btests.data.batches import rows_of, shuffled
from tests.bounds import FALSE_ALARM
from tests.data.common import same

ROWS = np.random.default_rng(7).normal(size=(30, 2))


class Tensor:
    """What a torch tensor looks like to one who does not import torch; it does not become an array by itself."""

    def __init__(self, array: Any, brain: bool = False) -> None:
        self._array, self._brain, self.ndim, self.shape = array, brain, array.ndim, array.shape

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def float(self) -> Tensor:
        return Tensor(self._array.astype(np.float32))

    def numpy(self) -> Any:
        if self._brain:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._array


def cut(rows: Any, *sizes: int) -> list[Any]:
    edges = np.append(0, np.cumsum(sizes))
    assert edges[-1] == len(rows)
    return [rows[a:b] for a, b in pairwise(edges)]


LABELS = np.zeros(10)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda b: b,
        lambda b: b.tolist(),
        list,
        lambda b: tuple(map(tuple, b.tolist())),
        lambda b: (b, LABELS),
        lambda b: [b, LABELS],
        lambda b: [Tensor(b), Tensor(LABELS)],
        Tensor,
        lambda b: pd.DataFrame(b, columns=["a", "b"]),
        lambda b: pl.DataFrame({"a": b[:, 0], "b": b[:, 1]}),
        lambda b: pa.table({"a": b[:, 0], "b": b[:, 1]}),
        lambda b: pa.record_batch({"a": b[:, 0], "b": b[:, 1]}),
        lambda b: (pd.DataFrame(b, columns=["a", "b"]), LABELS),
    ],
)
def test_batches_of_all_kinds(wrap: Any) -> None:
    found = list(rows_of(wrap(b) for b in cut(ROWS, 10, 1, 19)))
    for rows, wanted in zip(found, cut(ROWS, 10, 1, 19), strict=True):
        same(rows, wanted)


def test_types() -> None:
    for dtype, wanted in (("f4", "f4"), ("f8", "f8"), ("f2", "f8"), ("i4", "f8"), ("?", "f8"), (">f4", "f4")):
        (found,) = rows_of([np.ones((3, 2), dtype=dtype)])
        assert found.dtype == np.dtype(wanted)
    (found,) = rows_of([Tensor(ROWS, brain=True)])
    same(found, ROWS.astype(np.float32))


VECTOR = np.array([1.0, 2.0])


@pytest.mark.parametrize("batch", [[1.0, 2.0], VECTOR, (VECTOR, LABELS), [Tensor(VECTOR), 0], pd.Series(VECTOR)])
def test_vectors_may_be_rows_or_a_column(batch: Any) -> None:
    with pytest.raises(ValueError, match="batch 0 of x is a vector of 2 numbers, which may be a row, or rows of one"):
        list(rows_of([batch]))
    for shape, wanted in (((1, -1), VECTOR[None]), ((-1, 1), VECTOR[:, None])):  # as the sentence says
        same(next(rows_of([np.reshape(VECTOR, shape)])), wanted)
    for number in (1.0, np.float64(1.0), np.array(1.0), True):
        with pytest.raises(ValueError, match="batch 0 of x is a single number; yield batches of rows"):
            list(rows_of([number]))


def test_columns_are_matched_by_name_and_empty_batches_left_out() -> None:
    frame = pd.DataFrame(ROWS, columns=["a", "b"])
    found = list(rows_of([frame[:10], frame[10:10], frame[10:][["b", "a"]]]))
    same(np.concatenate(found), ROWS)
    assert len(found) == 2
    assert next(rows_of([[], np.empty((0, 5)), ROWS])).shape == (30, 2)


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (np.zeros((5, 3)), "batch 2 of y has 3 columns and those before it 2; all must have the same"),
        (np.zeros((5, 1)), "batch 2 of y has 1 column and those before it 2"),
        (np.zeros(5), "batch 2 of y is a vector of 5 numbers"),
        (np.zeros((5, 2), dtype=np.float32), "batch 2 of y comes as float32 and those before it as float64"),
        (np.zeros((5, 2, 2)), r"batch 2 of y must have rows and columns, .* got shape \(5, 2, 2\)"),
        ([[1, 2], [3]], "batch 2 of y has rows of different lengths"),
        (np.array([["a", "b"]]), "batch 2 of y holds <U1, not numbers"),
        ({"x": ROWS}, "batch 2 of y is a dictionary"),
        ("rows", "batch 2 of y must be rows of numbers, got str"),
        (None, "batch 2 of y must be rows of numbers, got NoneType"),
        (np.array([[1.0, 2.0], [3.0, np.nan]]), "batch 2 of y has a NaN or missing cell in row 1, column 1"),
    ],
)
def test_a_bad_batch_is_named(batch: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence) as error:
        list(rows_of([ROWS, ROWS, batch], "y"))
    assert "\n" not in str(error.value)


def test_a_bad_frame_is_named() -> None:
    frame = pd.DataFrame(ROWS, columns=["a", "b"])
    with pytest.raises(ValueError, match="batch 1 of x does not have the columns of the first, 'a', 'b'"):
        list(rows_of([frame, frame.rename(columns={"b": "c"})]))
    with pytest.raises(ValueError, match="batch 1 of x does not have the columns of the first, 'a', 'b'"):
        list(rows_of([frame, ROWS]))
    with pytest.raises(TypeError, match=r"column 'b' of batch 0 of x holds .*, not numbers"):
        list(rows_of([frame.assign(b="text")]))
    with pytest.raises(TypeError, match="x must be an iterator of batches, got int"):
        list(rows_of(3))  # type: ignore[arg-type]


def test_an_iterator_that_raises_keeps_its_exception() -> None:
    class LostError(Exception):
        pass

    def lost() -> Iterator[Any]:
        yield ROWS
        yield ROWS
        raise LostError("the connection is gone")

    for reading in (rows_of(lost(), "y"), shuffled(lost(), 7, 0, name="y")):
        with pytest.raises(LostError, match="the connection is gone") as error:
            list(reading)
        assert error.value.__notes__ == ["y failed after 2 batches with 60 rows"]


@given(st.integers(0, 200), st.integers(1, 60), st.lists(st.integers(1, 50), min_size=1), st.integers(0, 99))
def test_a_shuffle_does_not_depend_on_batches(n: int, buffer_rows: int, sizes: list[int], seed: int) -> None:
    rows = np.column_stack([np.arange(n), np.arange(n)]).astype(np.float64)

    def batched() -> Iterator[Any]:
        start = i = 0
        while start < n:
            yield rows[start : start + sizes[i % len(sizes)]]
            start, i = start + sizes[i % len(sizes)], i + 1

    found, whole = list(shuffled(batched(), buffer_rows, seed)), list(shuffled([rows], buffer_rows, seed))
    assert [len(piece) for piece in found] == [len(piece) for piece in whole]
    if n == 0:
        assert found == []
        return
    same(np.concatenate(found), np.concatenate(whole))
    np.testing.assert_array_equal(np.sort(np.concatenate(found)[:, 0]), rows[:, 0])
    assert max(map(len, found)) <= buffer_rows


def test_rows_that_fit_are_shuffled_exactly() -> None:
    rows = np.arange(4.0)[:, None]
    found = [tuple(np.concatenate(list(shuffled([rows], 5, seed))).ravel()) for seed in range(3000)]
    _, counts = np.unique(np.array(found), axis=0, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    with pytest.raises(ValueError, match="buffer_rows must be at least 1, got 0"):
        list(shuffled([rows], 0, 1))
