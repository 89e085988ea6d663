"""Sizes that Arrow files declare are those that pyarrow reads, and bound what is read."""

from __future__ import annotations

import io
import random
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import btests
from btests.data import columnar
from btests.data.arrow_layout import batch_bytes, refuse_large_batches, table_bytes
from btests.data.errors import DamagedError, LargeError

KINDS = ("file", "stream")


def written(kind: str, compression: str | None, **columns: Any) -> bytes:
    """Return the bytes of an Arrow file of two record batches."""
    table = pa.table(columns)
    sink = io.BytesIO()
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with make(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=(table.num_rows + 1) // 2)
    return sink.getvalue()


def columns(n: int) -> dict[str, Any]:
    words = pa.array(["red", "green"] * (n // 2))
    return {"u": np.arange(n) / 7.0, "s": ["word" * 9] * n, "d": words.dictionary_encode()}


@pytest.mark.parametrize("kind", KINDS)
def test_compressed_files_declare_what_others_have(kind: str) -> None:
    plain = list(batch_bytes(io.BytesIO(written(kind, None, **columns(2000))), kind))
    for compression in ("zstd", "lz4"):
        data = written(kind, compression, **columns(2000))
        found = [size for size in batch_bytes(io.BytesIO(data), kind) if size]
        assert len(found) == 3  # two record batches and a dictionary
        assert found == pytest.approx([size for size in plain if size], rel=0.02)
        assert len(data) < sum(found) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_large_batches_are_refused_before_they_are_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def header(*_: object) -> None:
        raise AssertionError("the first record batch is read")

    path = str(tmp_path / "x.arrow")
    Path(path).write_bytes(written(kind, "zstd", u=np.arange(2000.0), s=["x" * 100_000] * 2000))
    assert Path(path).stat().st_size < 1e6
    assert table_bytes(path) > 2e8
    monkeypatch.setattr(columnar, "header", header)
    with pytest.raises(ValueError, match=r"has a record batch of 100 MB, and may take 67\.1 MB; raise `memory`"):
        btests.compare(path, path, memory="10MB")


def test_compressed_files_that_fit_in_pieces(tmp_path: Path) -> None:
    path = str(tmp_path / "x.arrow")
    Path(path).write_bytes(written("file", "zstd", **columns(2000)))
    found = btests.compare(path, path, memory=100_000, seed=0)
    assert (found.result.read, found.pvalue) == ("in chunks", 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_no_error_of_its_own(kind: str) -> None:
    good = written(kind, "zstd", **columns(100))
    rng = random.Random(0)
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(len(bad) - 8)
            bad[place : place + 4] = struct.pack("<i", rng.choice([0, -1, 7, 2**30, -(2**30)]))
        data = bytes(bad[: rng.choice([len(bad), rng.randrange(len(bad))])])
        with suppress(DamagedError, LargeError):  # and nothing else
            refuse_large_batches(data, "x", kind, most_batch=10**6, most_all=10**6)
