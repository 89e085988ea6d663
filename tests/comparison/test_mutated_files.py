"""Files of every format with bytes changed at random: a comparison or a sentence."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import btests
from tests.comparison.test_arrow_types import answered

N = 40


def table() -> pa.Table:
    """Return a table of several types."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "u": rng.normal(size=N),
            "c": rng.choice(["red", "green", "blue"], N),
            "d": pa.array(rng.integers(0, 2**40, N)).cast(pa.timestamp("us")),
            "g": pa.array(rng.choice(["a", "b"], N)).dictionary_encode(),
        }
    )


def text() -> bytes:
    """Return it as CSV."""
    rows = [",".join(map(str, row.values())) for row in table().to_pylist()]
    return "\n".join([",".join(table().column_names), *rows, ""]).encode()


def lines() -> bytes:
    """Return it as JSON lines."""
    return "".join(json.dumps(row, default=str) + "\n" for row in table().to_pylist()).encode()


def written(write: Callable[[Any], Any]) -> bytes:
    """Return what a function writes to an open file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def streamed(file: Any) -> None:
    """Write the table as an Arrow stream."""
    with ipc.new_stream(file, table().schema) as writer:
        writer.write_table(table(), max_chunksize=15)


def rows() -> np.ndarray[Any, Any]:
    """Return rows of numbers."""
    return np.random.default_rng(0).normal(size=(N, 2))


FORMATS: dict[str, Callable[[], bytes]] = {
    "csv": text,
    "csv.gz": lambda: gzip.compress(text()),
    "jsonl": lines,
    "jsonl.gz": lambda: gzip.compress(lines()),
    "parquet": lambda: written(lambda file: pq.write_table(table(), file, row_group_size=20)),
    "feather": lambda: written(lambda file: pf.write_feather(table(), file, chunksize=20)),
    "arrow": lambda: written(lambda file: pf.write_feather(table(), file, compression="uncompressed")),
    "arrows": lambda: written(streamed),
    "npy": lambda: written(lambda file: np.save(file, rows())),
    "npz": lambda: written(lambda file: np.savez_compressed(file, u=rows()[:, 0], v=rows()[:, 1])),
}


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few changes: flipped, cut off, removed, inserted or overwritten with numbers."""
    for _ in range(rng.choice([1, 1, 2, 6])):
        i = rng.choice(
            [rng.randrange(len(data)), rng.randrange(min(200, len(data))), -1 - rng.randrange(len(data) // 3)]
        )
        i %= len(data)
        how = rng.randrange(5)
        if how == 0:
            data = data[: i + 1]
        elif how == 1:
            data = data[:i] + data[i + rng.choice([1, 8, 100]) :] or b"\0"
        elif how == 2:
            data = data[:i] + rng.randbytes(rng.choice([1, 8, 100])) + data[i:]
        elif how == 3:
            data = data[:i] + rng.choice([-1, 0, 2**31 - 1]).to_bytes(4, "little", signed=True) + data[i + 4 :]
        else:
            data = data[:i] + bytes([data[i] ^ 1 << rng.randrange(8)]) + data[i + 1 :]
    return data


@pytest.mark.filterwarnings("ignore::btests.BTestWarning")
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_comparison_or_a_sentence(tmp_path: Path, suffix: str) -> None:
    good, bad = tmp_path / f"good.{suffix}", tmp_path / f"bad.{suffix}"
    good.write_bytes(FORMATS[suffix]())
    rng = random.Random(f"bytes of {suffix}")
    for _ in range(12):
        bad.write_bytes(mutated(good.read_bytes(), rng))
        for memory in (None, 1000):
            answered(lambda memory=memory: btests.compare(bad, good, common=True, memory=memory, seed=1))
            answered(lambda memory=memory: btests.compare(bad, by="g", memory=memory, seed=1))
        answered(lambda: btests.btest(bad, good, seed=1))


@pytest.mark.parametrize("line", [b'{"\xf5u": %d}\n', b'{"u": "\xf5", "v": %d}\n'])
def test_json_that_is_not_utf8(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(line % i for i in range(N)))
    for memory in (None, 1000):
        with pytest.raises(ValueError, match=r"^'.*x\.jsonl' is damaged or cut off: "):
            btests.compare(path, path, memory=memory)


def test_feather_of_the_first_version_is_refused(tmp_path: Path) -> None:
    # Its reader in pyarrow does not survive damage.
    path = tmp_path / "old.feather"
    with pytest.warns(DeprecationWarning, match="Feather V1"):
        pf.write_feather(pa.table({"u": [1.0, 2.0]}), path, version=1)
    for call in (btests.compare, btests.btest):
        with pytest.raises(
            ValueError, match="a Feather file of the first version: read it with pyarrow and save it as"
        ):
            call(path, path)
