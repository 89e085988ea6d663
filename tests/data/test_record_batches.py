"""Texts of Parquet files that are encoded as beginnings of one another are read, and a few at a time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import btests
from btests.data import columnar
from btests.data.record_batches import TEXT_BYTES

ENCODINGS = ("PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")


def write(path: Path, texts: list[str], encoding: str) -> str:
    table = pa.table({"u": range(len(texts)), "s": texts})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"s": encoding, "u": "PLAIN"})
    return str(path)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("memory", [None, 1000])
def test_every_encoding_of_texts(tmp_path: Path, encoding: str, memory: int | None) -> None:
    texts = [f"word {i % 7}" for i in range(300)]
    plain, coded = (write(tmp_path / f"{name}.parquet", texts, name) for name in ("PLAIN", encoding))
    found = btests.compare(plain, coded, memory=memory, columns="s", seed=0)
    assert (found.pvalue, found.columns[0].kind) == (1.0, "category")


def test_long_texts_of_few_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", ["x" * 100_000 + str(i) for i in range(1500)], "DELTA_BYTE_ARRAY")
    assert Path(path).stat().st_size < 1e6
    before = pa.total_allocated_bytes()
    n_rows = 0
    for batch in columnar.batches(path, "parquet", None, n_rows=2**16):
        n_rows += batch.num_rows
        assert batch.nbytes < 4 * TEXT_BYTES
        assert pa.total_allocated_bytes() - before < 16 * TEXT_BYTES  # all texts are 150 MB
    assert n_rows == 1500


def test_short_texts_are_read_many_at_a_time(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", [f"{i:09d}" * 20 for i in range(200_000)], "DELTA_BYTE_ARRAY")
    assert sum(1 for _ in columnar.batches(path, "parquet", None, n_rows=2**16)) < 12
