"""Files that are cut off or damaged."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.comparison.conftest import Shell


@pytest.mark.parametrize("keep", [0, 3, 50, -1])
def test_truncated_parquet(shell: Shell, files: tuple[str, str], keep: int) -> None:
    pq.write_table(pa.table({"size": np.arange(100.0)}), "a.parquet")
    Path("cut.parquet").write_bytes(Path("a.parquet").read_bytes()[:keep])
    assert "'cut.parquet' is" in shell.refused("cut.parquet", "b.csv")


def test_truncated_gzip(shell: Shell, files: tuple[str, str]) -> None:
    whole = gzip.compress(Path("a.csv").read_bytes())
    Path("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "'cut.csv.gz' is damaged or cut off" in shell.refused("cut.csv.gz", "b.csv")
    Path("plain.csv.gz").write_bytes(b"a,b\n1,2\n")
    assert "'plain.csv.gz' is damaged or cut off" in shell.refused("plain.csv.gz", "b.csv")


def test_damaged_pages_of_parquet_that_has_checksums(shell: Shell, files: tuple[str, str]) -> None:
    pq.write_table(
        pa.table({"size": np.arange(1000.0)}),
        "a.parquet",
        write_page_checksum=True,
        use_dictionary=False,
        compression="none",
    )
    data = bytearray(Path("a.parquet").read_bytes())
    data[2000:2008] = b"\x00" * 8
    Path("damaged.parquet").write_bytes(data)
    assert "'damaged.parquet' is damaged or cut off" in shell.refused("damaged.parquet", "b.csv")


def test_a_stream_of_arrow_batches_that_is_cut_off(shell: Shell, files: tuple[str, str]) -> None:
    table = pa.table({"size": np.arange(1000.0)})
    with pa.OSFile("a.arrow", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    Path("cut.arrow").write_bytes(Path("a.arrow").read_bytes()[:2000])
    assert "'cut.arrow' is damaged or cut off" in shell.refused("cut.arrow", "b.csv")
