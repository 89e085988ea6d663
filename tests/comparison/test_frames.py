"""Frames of several packages, and what is wrong with them in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import btests


def frame(seed: int, n: int = 120) -> pd.DataFrame:
    """Return a small table."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"u": rng.normal(size=n), "k": rng.choice(np.array([1, 2, 10]), n)})


class Stream:
    """A table that is known by its stream of arrow batches alone."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("turn", [pa.RecordBatch.from_pandas, lambda x: Stream(pa.Table.from_pandas(x))])
def test_whatever_arrow_reads(turn: Any) -> None:
    expected = btests.compare(frame(0), frame(1), seed=0)
    found = btests.compare(turn(frame(0)), turn(frame(1)), seed=0)
    assert (found.pvalue, [c.name for c in found.columns]) == (expected.pvalue, [c.name for c in expected.columns])


def test_numbers_that_were_declared_to_be_categories() -> None:
    a, b = frame(0).astype({"k": "category"}), frame(1)
    for sides in ((a, b.astype({"k": "category"})), (a, b), (b, a)):
        found = btests.compare(*sides, seed=0)
        code = next(column for column in found.columns if column.name == "k")
        assert code.kind == "category"
        levels = code.details["levels"]
        assert {level["level"] for level in levels} == {"1", "2", "10"}


def test_unsigned_numbers_that_floats_cannot_tell_apart() -> None:
    rng = np.random.default_rng(0)
    top = np.uint64(2**64 - 20)
    a, b = ({"u": rng.integers(k, k + 5, 200).astype(np.uint64) + top} for k in (0, 3))
    found = btests.compare(a, b, seed=0)
    assert found.columns[0].changed
    assert "was subtracted" in found.notes[0]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame(np.zeros((3, 2)), columns=["v", "v"]), "a has more than one column called 'v'"),
        (pd.DataFrame({"m": [1, "x", 2.5]}), "column 'm' of a holds values of several types: Could not convert 'x'"),
        ({"fine": [1, 2], "odd": [1 + 2j, 1j]}, "column 'odd' of 'a' holds complex numbers"),
    ],
)
def test_the_column_is_named(table: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match="^" + sentence):
        btests.compare(table, frame(1))


def test_a_copy_is_pointed_out() -> None:
    found = btests.compare(frame(0), frame(0).copy(), seed=0)
    assert not found.different
    assert any("a copy is not a second sample" in note for note in found.notes)
    assert not btests.compare(frame(0), frame(1), seed=0).notes


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(ValueError, match="a has a name that is no text") as refused:
        btests.compare({"\ud800": [1.0, 2.0]}, {"\ud800": [1.0, 2.0]})
    assert type(refused.value) is ValueError
    with pytest.raises(ValueError, match="'x', that is no column of a table"):
        btests.compare({"x": ["\ud800", "b"]}, {"x": ["a", "b"]})
