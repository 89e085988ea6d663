"""Permuted rows: the same, bit for bit, however they are fetched."""

from __future__ import annotations

import errno
import gzip
import io
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from btests.data import external_shuffle
from btests.data import row_permutation as orders
from btests.data.external_shuffle import spill
from btests.data.open import open_source
from btests.data.permuted import PermutedRows
from btests.data.row_permutation import Buffered, Order, permutation_of
from btests.data.source import Source
from tests.data.common import same

N, WIDTH = 5000, 3
ROWS = np.random.default_rng(5).normal(size=(N, WIDTH)).astype(np.float32)


@pytest.fixture(params=["npy", "parquet", "parts"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    if request.param == "npy":
        np.save(tmp_path / "rows.npy", ROWS)
        return open_source(tmp_path / "rows.npy")
    pieces = np.array_split(ROWS, 1 if request.param == "parquet" else 7)
    for i, piece in enumerate(pieces):
        table = pa.table({name: piece[:, j] for j, name in enumerate("abc")})
        parquet.write_table(table, tmp_path / f"{i}.parquet", row_group_size=300)
    return open_source(tmp_path)


@pytest.fixture(params=["permuted", "keyed", "as stored", "buffered"])
def order(request: pytest.FixtureRequest, source: Source, monkeypatch: pytest.MonkeyPatch) -> Order:
    if request.param == "keyed":
        monkeypatch.setattr(orders, "MAX_HELD", 100)
    edges = source.units()
    edges = np.arange(0, N + 1, 250) if edges is None else edges
    kinds: dict[str, bool | str] = {"as stored": False, "buffered": "buffered"}
    return permutation_of(N, 8, 1, kinds.get(request.param, True), edges=edges, buffer_rows=1000)


def stretches(n: int, step: int) -> Iterator[tuple[int, int]]:
    for first in range(0, n, step):
        yield first, min(first + step, n)


@pytest.mark.parametrize("memory", [1, 20_000, 100_000, 2**27])
def test_windows_are_the_rows_in_memory(source: Source, order: Order, memory: int) -> None:
    wanted = ROWS[order.rows(0, N)]
    read = PermutedRows(source, order, memory)
    assert read.how == order.how
    assert len(read) == N
    for step in (370, N):
        for first, last in stretches(N, step):
            same(read.window(first, last), wanted[first:last])
    rng = np.random.default_rng(0)
    for _ in range(5):
        first, last = np.sort(rng.integers(0, N + 1, 2)).tolist()
        same(read.window(first, last), wanted[first:last])
    positions = rng.integers(0, N, 60)
    same(read.at(positions), wanted[positions])
    same(pickle.loads(pickle.dumps(read)).window(5, 90), wanted[5:90])
    read.close()
    same(read.window(17, 60), wanted[17:60])
    read.close()


def test_heads_are_those_of_a_sample_in_memory(source: Source, order: Order) -> None:
    wanted = ROWS[order.rows(0, N)]
    spread = np.arange(70) * N // 70 if order.how == "as stored" else np.arange(70)
    read = PermutedRows(source, order)
    same(read.head(70), wanted[spread])
    same(read.head(N), wanted)


def test_the_way_follows_from_size_and_format(source: Source) -> None:
    order = permutation_of(N, 1, 1)
    assert PermutedRows(source, order).by == "takes"
    assert PermutedRows(source, permutation_of(N, 1, 1, False), 1).by == "ranges"
    assert PermutedRows(source, order, 1).by == "a temporary file"
    edges = np.arange(0, N + 1, 100)
    assert PermutedRows(source, permutation_of(N, 1, 1, "buffered", edges=edges), 1).by == "takes"
    quarter = (2 * WIDTH * 4 + 24) * N // 8
    assert PermutedRows(source, order, quarter).by == ("takes" if source.units() is None else "a temporary file")
    with pytest.raises(ValueError, match="an order of 7 rows does not fit 5000 rows"):
        PermutedRows(source, permutation_of(7, 1, 1))


class Counting:
    """A source that counts how often it is asked."""

    def __init__(self, source: Source) -> None:
        self.source, self.takes, self.scans, self.reads = source, 0, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def take(self, rows: Any) -> Any:
        self.takes += 1
        return self.source.take(rows)

    def read(self, first: int, last: int) -> Any:
        self.reads += 1
        return self.source.read(first, last)

    def scan(self, n_rows: int) -> Any:
        self.scans += 1
        return self.source.scan(n_rows)


def test_a_packed_file_is_unpacked_once_for_a_shuffle(tmp_path: Path) -> None:
    """One unit, larger than the memory, that is read from its beginning each time."""
    buffer = io.BytesIO()
    np.savetxt(buffer, ROWS.astype(np.float64), delimiter=",", fmt="%.18e")
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(buffer.getvalue()))
    counting: Any = Counting(open_source(tmp_path / "rows.csv.gz"))
    for shuffle in (True, False):
        order = permutation_of(N, 4, 1, shuffle)
        read = PermutedRows(counting, order, 10_000)
        for first, last in stretches(N, 400):
            same(read.window(first, last), ROWS.astype(np.float64)[order.rows(first, last)])
        read.close()
    assert (counting.scans, counting.takes, counting.reads) == (2, 0, 0)


def test_a_source_is_read_a_few_times_at_most(source: Source) -> None:
    row = 2 * WIDTH * 4 + 24
    for memory, takes, scans in ((row * N, 1, 0), (row * N // 4 + row, 4, 0), (row * N // 50, 0, 1)):
        counting: Any = Counting(source)
        read = PermutedRows(counting, permutation_of(N, 1, 1), memory)
        for first, last in stretches(N, 10):
            read.window(first, last)
        assert counting.scans == scans
        assert counting.takes <= takes + 2  # a window across the end of what was read ahead
        read.close()


def test_rows_as_stored_are_unpacked_once(source: Source) -> None:
    counting: Any = Counting(source)
    read = PermutedRows(counting, permutation_of(N, 1, 1, False), 20_000)
    for _ in range(2):
        for first, last in stretches(N, 70):
            same(read.window(first, last), ROWS[first:last])
    if source.units() is not None:
        assert (counting.scans, counting.reads) == (2, 0)
    same(read.window(1000, 1100), ROWS[1000:1100])
    same(read.window(1100, 1200), ROWS[1100:1200])


@pytest.mark.parametrize("bucket", [1, 7, 640, N - 1, N, 10 * N])
def test_spilled_rows(source: Source, order: Order, bucket: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_shuffle, "_BUCKET_BYTES", 2 * 12 * 900)
    wanted = ROWS[order.rows(0, N)]
    seen: list[int] = []
    with spill(source, order, bucket, report=seen.append) as spilled:
        assert seen[-1] == N
        assert seen == sorted(set(seen))
        for first, last in ((0, N), (0, 0), (3, 3), (N - 1, N), (500, 1900)):
            same(spilled.window(first, last), wanted[first:last])
        positions = np.random.default_rng(1).integers(0, N, 40)
        same(spilled.at(positions), wanted[positions])


def test_nothing_is_left_behind(source: Source, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    order = permutation_of(N, 1, 1)
    spilled = spill(source, order, 100, folder)
    spilled.close()
    with pytest.raises(KeyboardInterrupt):
        spill(source, order, 100, folder, report=stop)
    assert os.listdir(folder) == []


def test_a_full_disk_is_said_in_one_sentence(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    order = permutation_of(N, 1, 1)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 79_000}))
        with pytest.raises(ValueError, match=r"exactly needs 0.08 MB in .*temporary', and 0.079 MB are free; name a"):
            spill(source, order, 100, folder)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for name, owner in (("posix_fallocate", os), ("_write_at", external_shuffle)):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full)
            with pytest.raises(ValueError, match=r"which failed: No space left on device; name a larger folder"):
                spill(source, order, 100, folder)
            read = PermutedRows(source, order, 1, str(folder))
            if source.units() is None:  # rows can be read one by one all the same
                same(read.window(0, 30), ROWS[order.rows(0, 30)])
                assert read.by == "takes"
            else:
                with pytest.raises(ValueError, match="No space left"):
                    read.window(0, 30)
    with pytest.raises(ValueError, match="No such file or directory"):
        spill(source, order, 100, tmp_path / "nowhere")
    assert os.listdir(folder) == []


def test_a_real_limit_of_the_system(tmp_path: Path) -> None:
    """A process that may not write files of that size, and has no way to reserve space."""
    np.save(tmp_path / "rows.npy", ROWS)
    (tmp_path / "temporary").mkdir()
    script = f"""
import os, resource, sys
sys.dont_write_bytecode = True
from btests.data.row_permutation import permutation_of
from btests.data.open import open_source
from btests.data.external_shuffle import spill
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
del os.posix_fallocate
try:
    spill(open_source({str(tmp_path / "rows.npy")!r}), permutation_of({N}, 1, 1), 100, {str(tmp_path / "temporary")!r})
except ValueError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "exactly needs 0.08 MB" in run.stdout
    assert "File too large" in run.stdout
    assert os.listdir(tmp_path / "temporary") == []


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    (tmp_path / "temporary").mkdir()
    script = f"""
import os, signal
from btests.data.row_permutation import permutation_of
from btests.data.open import open_source
from btests.data.external_shuffle import spill
source = open_source({str(tmp_path / "rows.npy")!r})
kept = spill(source, permutation_of({N}, 1, 1), 100, {str(tmp_path / "temporary")!r})
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = subprocess.run([sys.executable, "-c", script], check=False)
    assert run.returncode == -9
    assert os.listdir(tmp_path / "temporary") == []


def test_bad_cells_are_named_while_shuffling(tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[4321, 1] = np.nan
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",")
    source = open_source(tmp_path / "rows.csv")
    for memory in (1, 2**27):
        for shuffle in (True, False):
            read = PermutedRows(source, permutation_of(N, 1, 1, shuffle), memory)
            for _ in range(2):  # and again
                with pytest.raises(ValueError, match="row 4321, column 1"):
                    [read.window(first, last) for first, last in stretches(N, 1000)]


@pytest.mark.parametrize("shuffle", [True, False, "buffered"])
def test_the_front_door(source: Source, shuffle: bool | str) -> None:
    read = PermutedRows.of(source, 3, 1, shuffle, memory=100_000)
    assert read.how == {True: "exact", False: "as stored", "buffered": "buffered"}[shuffle]
    order = read.order
    same(read.window(0, N), ROWS[order.rows(0, N)])
    assert sorted(order.rows(0, N).tolist()) == list(range(N))
    if isinstance(order, Buffered):
        # What is held at a time fits into the memory, where units allow it.
        start, end = order.buffer_at(N // 2)
        assert 300 < end - start <= 100_000 // (2 * WIDTH * 4 + 24)
        assert not np.array_equal(order.rows(start, end), np.sort(order.rows(start, end)))
    if shuffle == "buffered" and source.units() is not None:
        with pytest.raises(ValueError, match="can only be read 300 rows at a time, and the buffer holds 20"):
            PermutedRows.of(source, 3, 1, shuffle, memory=1000)
    with pytest.raises(ValueError, match="shuffle must be True, False or 'buffered', got 'sorted'"):
        PermutedRows.of(source, 3, 1, "sorted")


def test_threads_read_the_same(source: Source) -> None:
    order = permutation_of(N, 2, 1)
    wanted = ROWS[order.rows(0, N)]
    for memory in (1, 40_000, 2**27):
        read = PermutedRows(source, order, memory)
        with ThreadPoolExecutor(4) as pool:
            pieces = pool.map(read.window, *zip(*stretches(N, 130), strict=True))
            same(np.concatenate(list(pieces)), wanted)
        read.close()


def test_a_shuffle_through_a_file_takes_little_memory(tmp_path: Path) -> None:
    """In a process of its own: 200 MB of rows, of which a fraction is resident at any time."""
    n = 12_500_000
    with (tmp_path / "large.npy").open("wb") as file:
        write_header: Any = np.lib.format.write_array_header_1_0
        write_header(file, {"descr": "<f4", "fortran_order": False, "shape": (n, 4)})
        file.truncate(file.tell() + 16 * n)
    script = f"""
import resource
from btests.data.permuted import PermutedRows
from btests.data.open import open_source
read = PermutedRows.of(open_source({str(tmp_path / "large.npy")!r}), 1, 1, memory=2**22)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert read.by == "a temporary file"
for first in range(0, {n}, 2_500_000):
    assert not read.window(first, first + 1000).any()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 150
