"""Columns of every type of Arrow: a comparison or a sentence, whatever is asked of them."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import btests
from btests.comparison.dependence import Settings, groups_independence
from btests.data.columnar import batches
from btests.data.errors import LargeError
from btests.data.record_batches import simplified
from btests.data.table import read_table
from btests.data.text_format import AS_FOUND

N = 40
CODES = np.arange(N) % 3
FAR = np.array([-(2**62), 2**62, 0])[CODES]


def coded(values: Any) -> pa.Array:
    """Return a column of two values as a dictionary."""
    return pa.DictionaryArray.from_arrays(pa.array(CODES % 2, pa.int8()), values)


TYPES: dict[str, Any] = {
    "interval": lambda: pa.array([pa.MonthDayNano([int(k), 2, 3]) for k in CODES]),
    "float16": lambda: pa.array(CODES.astype("f2")),
    "float16 with NaN": lambda: pa.array(np.where(CODES, CODES, np.nan).astype("f2")),
    "NaN": lambda: pa.array(np.where(CODES, CODES, np.nan)),
    "lists of one size": lambda: pa.array([[1.0, 2.0]] * N, pa.list_(pa.float64(), 2)),
    "lists": lambda: pa.array([[1]] * N),
    "list views": lambda: pa.array([[1]] * N, pa.list_view(pa.int8())),
    "struct": lambda: pa.array([{"a": 1}] * N),
    "map": lambda: pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int64())),
    "union": lambda: pa.UnionArray.from_sparse(
        pa.array(CODES % 2, pa.int8()), [pa.array(range(N)), pa.array(list(map(str, range(N))))]
    ),
    "null": lambda: pa.nulls(N),
    "far times": lambda: pa.array(FAR, pa.timestamp("us")),
    "far seconds": lambda: pa.array(FAR, pa.timestamp("s")),
    "unknown zone": lambda: pa.array(CODES, pa.timestamp("us", "Nowhere/Else")),
    "far days": lambda: pa.array(np.array([-(2**31), 2**31 - 1, 0], dtype="i4")[CODES]).cast(pa.date32()),
    "far dates": lambda: pa.array(FAR // 86_400_000 * 86_400_000).cast(pa.date64()),
    "durations": lambda: pa.array(FAR, pa.duration("s")),
    "decimal256": lambda: pa.array([decimal.Decimal(10) ** 60 * int(k) for k in CODES], pa.decimal256(70, 2)),
    "decimal32": lambda: pa.array([decimal.Decimal(int(k)) for k in CODES], pa.decimal32(5, 2)),
    "decimal of thousands": lambda: pa.array([decimal.Decimal(int(k) * 1000) for k in CODES], pa.decimal128(5, -3)),
    "bytes": lambda: pa.array([b"ab"] * N),
    "text views": lambda: pa.array(np.array(["a", "b", "c"])[CODES].tolist(), pa.string_view()),
    "bytes views": lambda: pa.array([b"ab"] * N, pa.binary_view()),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([N // 2, N], pa.int32()), pa.array(["x", "y"])),
    "uint64": lambda: pa.array([2**64 - 1 - int(k) for k in CODES], pa.uint64()),
    "dictionary of float16": lambda: coded(pa.array([1, 2], pa.float16())),
    "dictionary of lists": lambda: coded(pa.array([[1], [2]])),
    "dictionary of times": lambda: coded(pa.array([-(2**62), 2**62], pa.timestamp("us"))),
    "dictionary of intervals": lambda: coded(pa.array([pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([1, 2, 4])])),
    "dictionary of dictionaries": lambda: coded(pa.array(["a", "b"]).dictionary_encode()),
    "dictionary with nothing": lambda: coded(pa.array(["a", None])),
    "tensors": lambda: pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int8(), [2]), pa.array([[1, 2]] * N, pa.list_(pa.int8(), 2))
    ),
}


@pytest.mark.filterwarnings("ignore::btests.BTestWarning")
@pytest.mark.parametrize("case", TYPES)
def test_columns_of_any_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.chdir(tmp_path)
    z = np.random.default_rng(0).normal(size=N)
    table = pa.table({"q": TYPES[case](), "z": z, "g": ["a", "b"] * (N // 2)})
    sources: list[tuple[Any, dict[str, Any]]] = [(table, {}), ("q.arrow", {}), ("q.arrow", {"memory": 1000})]
    pf.write_feather(table, "q.arrow", compression="uncompressed")
    try:
        pq.write_table(table, "q.parquet")
        sources += [("q.parquet", {}), ("q.parquet", {"memory": 1000})]
    except (pa.ArrowException, OSError):  # which has no such type
        pass
    for source, limit in sources:
        for options in (
            {"b": source},
            {"b": source, "categories": ["q"]},
            {"b": source, "missing": ["-", "0"]},
            {"b": source, "unit": "q"},
            {"by": "q"},
            {"by": "q", "value_a": "0", "value_b": "1"},
            {"by": "g"},
        ):
            answered(lambda given=source, own={**options, **limit}: btests.compare(given, seed=1, **own))
        answered(lambda given=source: groups_independence(given, ["q"], ["z"], Settings(seed=1)))


def answered(call: Any) -> None:
    """Run a call that must work, or raise an error of one sentence that this package words."""
    try:
        call()
    except (ValueError, TypeError) as error:
        assert type(error).__module__.partition(".")[0] in ("builtins", "btests"), repr(error)  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        assert where is not None
        assert "btests" in where.tb_frame.f_code.co_filename, repr(error)  # noqa: PT017


def test_types_that_few_functions_know_have_the_cells_of_others() -> None:
    table = pa.table({case: TYPES[case]() for case in ("float16", "text views", "runs", "dictionary of float16")})
    found = simplified(table)
    assert [str(field.type).partition("<")[0] for field in found.schema] == [
        "float",
        "large_string",
        "string",
        "dictionary",
    ]
    assert found.to_pylist() == table.to_pylist()
    assert simplified(table.schema) == found.schema
    plain = pa.table({"z": [1.0]})
    assert simplified(plain) is plain
    nested = simplified(pa.table({"q": TYPES["dictionary of dictionaries"]()}))
    assert nested["q"].to_pylist() == [["a", "b"][k] for k in CODES % 2]


def test_whole_numbers_beyond_int64_in_pieces(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name, shift in (("a", 0), ("b", 0), ("c", 60)):
        cells = 2**64 - 1 - rng.integers(0, 100, 400, dtype=np.uint64) - np.uint64(shift)
        pq.write_table(pa.table({"q": cells, "z": rng.normal(size=400)}), tmp_path / f"{name}.parquet")
    for other, different in (("b", False), ("c", True)):
        paths = tmp_path / "a.parquet", tmp_path / f"{other}.parquet"
        for memory in (None, 1000):
            assert btests.compare(*paths, seed=1, memory=memory).different == different


def long_texts(path: Path, n: int, size: int) -> None:
    """Write a few kilobytes that stand for ``n`` texts of ``size`` letters."""
    texts = pa.array(["x" * size, "y" * size])
    column = pa.DictionaryArray.from_arrays(pa.array(np.arange(n) % 2, pa.int32()), texts)
    table = pa.table({"text": column, "z": np.random.default_rng(0).normal(size=n)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="zstd", store_schema=False)
    else:
        pf.write_feather(table, path, compression="zstd")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_long_texts_of_many_rows_are_read_in_small_batches(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"long{suffix}"
    long_texts(path, 600, 100_000)
    assert path.stat().st_size < 50_000
    kind = {".parquet": "parquet", ".arrow": "file"}[suffix]
    found = [batch.num_rows for batch in batches(str(path), kind, None, n_rows=10**6)]
    assert sum(found) == 600
    assert max(found) <= 2**23 // 100_000 + 1
    with pytest.raises(LargeError, match="takes more than 20 MB in memory, which is what it may take"):
        read_table(str(path), AS_FOUND, 20_000_000)
    assert read_table(str(path), AS_FOUND, 10**9).num_rows == 600


def test_long_texts_are_compared_within_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    long_texts(path, 300, 100_000)
    found = btests.compare(path, path, memory="20MB", seed=1)
    assert not found.different
    assert any("read in pieces" in note for note in found.notes)
