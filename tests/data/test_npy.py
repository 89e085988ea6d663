"""Rows in .npy files."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from btests._warnings import PrecisionWarning
from btests.data import npy
from btests.data.npy import open_npy
from btests.data.open import open_source
from tests.data.common import check_source, same


def saved(folder: Path, array: Any, name: str = "rows.npy") -> str:
    path = folder / name
    np.save(path, array)
    return str(path)


RNG = np.random.default_rng(3)


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8", "<f2", "<i4", ">i8", "u1", "?"])
def test_numbers_of_all_kinds(tmp_path: Path, dtype: str, fortran: bool) -> None:
    array = (RNG.normal(size=(700, 3)) * 50).astype(dtype, order="F" if fortran else "C")
    wanted = array.astype(np.float32 if dtype[1:] == "f4" else np.float64)
    check_source(open_npy(saved(tmp_path, array)), wanted)


@pytest.mark.filterwarnings("ignore:.*overflow")
def test_long_floats(tmp_path: Path) -> None:
    array = RNG.normal(size=(50, 2)).astype(np.longdouble)
    check_source(open_npy(saved(tmp_path, array)), array.astype(np.float64))


@pytest.mark.parametrize("shape", [(300,), (300, 1), (1, 5), (2, 1)])
def test_vectors_are_one_column(tmp_path: Path, shape: tuple[int, ...]) -> None:
    array = RNG.normal(size=shape)
    source = open_source(saved(tmp_path, array))
    check_source(source, array.reshape(shape[0], -1))
    assert source.units() is None
    assert source.names is None


@pytest.mark.parametrize("fortran", [False, True])
def test_sweeps_and_single_reads_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fortran: bool) -> None:
    array = np.asarray(RNG.normal(size=(5000, 3)), order="F" if fortran else "C")
    source = open_npy(saved(tmp_path, array))
    rows = np.flatnonzero(RNG.random(5000) < 0.3)
    monkeypatch.setattr(npy, "_SWEEP", 1000)
    monkeypatch.setattr(npy, "_ROWS_A_MAP", 70)
    for bytes_a_fault in (0, 10**9):
        monkeypatch.setattr(npy, "_BYTES_A_FAULT", bytes_a_fault)
        same(source.take(rows), array[rows])


def test_rows_are_taken_while_a_profiler_holds_frames(tmp_path: Path) -> None:
    # Frames that are held keep their arrays, and a map with arrays cannot be closed.
    np.save(tmp_path / "x.npy", np.arange(400_000.0).reshape(100_000, 4))
    source, rows, done = open_npy(tmp_path / "x.npy"), np.arange(7, 100_000, 20_000), Event()

    def hold() -> None:
        held: list[Any] = []
        while not done.is_set():
            held = [*held[-2:], list(sys._current_frames().values())]

    holder = Thread(target=hold)
    holder.start()
    try:
        for _ in range(200):
            assert source.take(rows)[:, 0].tolist() == (4.0 * rows).tolist()
    finally:
        done.set()
        holder.join()


def test_other_versions_of_the_format(tmp_path: Path) -> None:
    array = RNG.normal(size=(20, 2))
    for version in ((1, 0), (2, 0), (3, 0)):
        path = tmp_path / f"{version[0]}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=version)
        check_source(open_npy(str(path)), array)


def test_what_was_cut_off_is_counted(tmp_path: Path) -> None:
    path = saved(tmp_path, RNG.normal(size=(100, 4)))
    os.truncate(path, os.path.getsize(path) - 33)
    with pytest.raises(ValueError, match=r"rows\.npy' is cut off: 33 bytes of its 100 rows are missing"):
        open_npy(path)


def test_cut_off_while_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, RNG.normal(size=(100, 4)))
    source = open_npy(path)
    os.truncate(path, os.path.getsize(path) - 33)
    with pytest.raises(ValueError, match="was cut off while it was read"):
        source.read(0, 100)
    monkeypatch.setattr(npy, "_BYTES_A_FAULT", 0)
    with pytest.raises(ValueError, match="was cut off while it was read"):
        source.take(np.array([0, 99]))
    os.remove(path)
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        source.read(0, 100)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.array([{}, 1], dtype=object), "holds Python objects, which are never loaded"),
        (np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]), "not one kind of numbers"),
        (np.array(["a", "b"]), "not one kind of numbers"),
        (np.array([1j, 2j]), "not one kind of numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "not one kind of numbers"),
        (np.zeros((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.float64(3.0), r"got shape \(\)"),
        (np.zeros((3, 0)), "has no columns"),
        (np.zeros((0, 3)), "has no rows"),
    ],
)
def test_refused_in_one_sentence(tmp_path: Path, array: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as error:
        open_source(saved(tmp_path, array))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("cell", "kind"), [(np.nan, "a NaN"), (-np.inf, "an infinite"), (1e301, "beyond 1e300")])
def test_bad_cells_are_named(tmp_path: Path, cell: float, kind: str) -> None:
    array = np.zeros((50, 3))
    array[41, 2] = cell
    source = open_npy(saved(tmp_path, array))
    same(source.read(0, 41), array[:41])
    for reading in (partial(source.read, 30, 50), partial(source.take, np.array([3, 41, 49]))):
        with pytest.raises(ValueError, match=kind) as error:
            reading()
        assert "rows.npy' has" in str(error.value)
        assert "cell in row 41, column 2" in str(error.value)


def test_archives_and_other_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="archive of arrays"):
        open_source(tmp_path / "two.npz")
    (tmp_path / "not.npy").write_bytes(b"hello, world")
    (tmp_path / "empty.npy").write_bytes(b"")
    whole = io.BytesIO()
    np.save(whole, np.zeros((5, 5)))
    (tmp_path / "short.npy").write_bytes(whole.getvalue()[:40])
    for name in ("not.npy", "empty.npy", "short.npy"):
        with pytest.raises(ValueError, match=r"is not a readable numpy file"):
            open_source(tmp_path / name)
    with pytest.raises(ValueError, match="have no names"):
        open_source(saved(tmp_path, np.zeros((2, 2))), columns=["a"])


def test_huge_whole_numbers_warn(tmp_path: Path) -> None:
    source = open_npy(saved(tmp_path, np.array([2**60, 2**60 + 1])))
    with pytest.warns(PrecisionWarning, match="beyond 2\\^53"):
        source.read(0, 2)


def test_a_sparse_file_of_many_gigabytes_takes_little_memory(tmp_path: Path) -> None:
    """In a process of its own: what is resident must not follow what is read."""
    path = tmp_path / "large.npy"
    n = 400_000_000  # 6.4 GB of zeros, of which the disk holds nothing
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, 4)})
        file.truncate(file.tell() + 16 * n)
    script = f"""
import resource
import numpy as np
from btests.data.npy import open_npy
source = open_npy({str(path)!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
source.take(np.arange(0, {n}, 20_000))
source.read({n} - 1000, {n})
source.take(np.arange(0, {n} // 10, 50))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 250


def test_files_and_folders_that_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "x.npy", np.zeros((5, 2)))

    def closed(self: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    with pytest.raises(ValueError, match="cannot be read: File name too long"):
        open_source("x" * 5000 + ".npy")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", closed)
        with pytest.raises(ValueError, match=r"x\.npy' cannot be read: Permission denied"):
            open_source(tmp_path / "x.npy")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", closed)  # the header is read, and then no more
        with pytest.raises(ValueError, match=r"x\.npy' cannot be read: Permission denied"):
            open_source(tmp_path / "x.npy")
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", lambda path: closed(Path(path)))
        with pytest.raises(ValueError, match=r"cannot be read: Permission denied"):
            open_source(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "is_file", closed)
        with pytest.raises(ValueError, match=r"cannot be read: Permission denied"):
            open_source(tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("nowhere.npy", "nowhere.csv", "part-*.parquet"):
        with pytest.raises(FileNotFoundError, match=r"^(there is no file|no file matches) '.*'$") as error:
            open_source(tmp_path / name)
        assert isinstance(error.value, ValueError)
