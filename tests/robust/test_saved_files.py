"""Saved partial results and checkpoints: whole, or refused in one sentence; drafts of killed processes are removed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import btests
from btests import Gaussian, Laplacian, PartialResult, Stream
from btests.atomic_file import write_file

Arrays = dict[str, Any]

_X, _Y = np.random.default_rng(0).normal(size=(2, 200, 2))


def _partial() -> PartialResult:
    stream = Stream(btests.Aggregate([Gaussian(1.0), Laplacian(1.0)]), 20, seed=1)
    stream.update(_X, _Y)
    return stream.partial()


def _save_partial(folder: Path) -> Path:
    _partial().save(folder / "partial")
    return folder / "partial"


def _save_checkpoint(folder: Path) -> Path:
    for name, rows in (("x", _X), ("y", _Y)):
        np.save(folder / f"{name}.npy", rows)
    _resume(folder / "checkpoint")
    return folder / "checkpoint"


def _resume(path: Path) -> Any:
    x, y = (path.parent / f"{name}.npy" for name in "xy")
    return btests.btest(x, y, kernel=Gaussian(1.0), seed=1, block_size=20, checkpoint=path)


_KINDS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any]]] = {
    "partial result": (_save_partial, PartialResult.load),
    "checkpoint": (_save_checkpoint, _resume),
}


@pytest.fixture(params=sorted(_KINDS))
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Callable[[Path], Any]]:
    """Return a file, and the function that reads files of its kind."""
    save, load = _KINDS[request.param]
    return save(tmp_path), load


def _read(path: Path) -> Arrays:
    with np.load(path) as file:
        return dict(file)


def _write(path: Path, arrays: Arrays) -> None:
    with path.open("wb") as out:
        np.savez(out, **arrays)


def _mutations(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    """Yield files in which one member is another: every cell changed, types, shapes and names, gone, doubled."""
    for name, array in arrays.items():
        rest = {other: value for other, value in arrays.items() if other != name}
        yield f"without {name}", rest
        yield f"{name} renamed", rest | {f"{name}x": array}
        for place in _some(array.size):
            flat = array.copy().ravel()
            with np.errstate(over="ignore"):  # of a byte of 255
                flat[place] += 1
            yield f"{name}[{place}] + 1", rest | {name: flat.reshape(array.shape)}
        if array.dtype.kind == "f" and array.size:
            flat = array.copy().ravel()
            flat[0] = np.nextafter(flat[0], np.inf)
            yield f"the last bit of {name}", rest | {name: flat.reshape(array.shape)}
            yield f"{name} in float32", rest | {name: array.astype(np.float32)}
        yield f"{name} of another byte order", rest | {name: array.astype(array.dtype.newbyteorder())}
        yield f"{name} in another shape", rest | {name: array[None]}
        yield f"{name} empty", rest | {name: array[:0]}
        for other, value in rest.items():
            if value.shape == array.shape and not np.array_equal(value, array):
                yield f"{name} and {other} exchanged", arrays | {name: value, other: array}
    yield "one more", arrays | {"more": np.zeros(3)}


def _some(n: int) -> list[int]:
    return sorted({*range(min(n, 3)), *range(0, n, max(1, n // 10)), *([n - 1] if n else [])})


def _refused(load: Callable[[Path], Any], path: Path) -> bool:
    """Whether a file is refused, in one sentence; any other exception is an error of the test."""
    try:
        load(path)
    except ValueError as error:
        sentence = str(error)
    else:
        return False
    assert sentence.isprintable()
    assert len(sentence) < 400
    return True


def test_every_edited_member_is_refused(saved: tuple[Path, Callable[[Path], Any]]) -> None:
    path, load = saved
    arrays = _read(path)
    n = 0
    for what, edited in _mutations(arrays):
        if {name: (a.dtype.str, a.tobytes()) for name, a in edited.items()} == {
            name: (a.dtype.str, a.tobytes()) for name, a in arrays.items()
        } and {name: a.shape for name, a in edited.items()} == {name: a.shape for name, a in arrays.items()}:
            continue  # bytes have one order
        _write(path, edited)
        assert _refused(load, path), what
        n += 1
    assert n > 90
    _write(path, arrays)  # numpy's own writer, the same members
    assert not _refused(load, path)


def test_changed_bytes_are_refused_or_harmless(saved: tuple[Path, Callable[[Path], Any]]) -> None:
    """Every header of the zip file and of its arrays, byte by byte, and some of the numbers."""
    path, load = saved
    whole, before = path.read_bytes(), _read(path)
    starts = [place for mark in (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06") for place in _places(whole, mark)]
    chosen = {start + k for start in starts[:: max(1, len(starts) // 6)] for k in range(0, 46)}
    chosen |= set(range(0, len(whole), max(1, len(whole) // 200)))
    for place in sorted(place for place in chosen if place < len(whole)):
        for mask in (0x01, 0x80, 0xFF):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
            if not _refused(load, path):
                after = _read(path)
                assert after.keys() == before.keys(), place
                assert all(np.array_equal(after[name], before[name]) for name in before), place


def _places(data: bytes, mark: bytes) -> list[int]:
    found, place = [], data.find(mark)
    while place >= 0:
        found.append(place)
        place = data.find(mark, place + 1)
    return found


def test_cut_files_are_refused(saved: tuple[Path, Callable[[Path], Any]]) -> None:
    path, load = saved
    whole = path.read_bytes()
    for size in (0, 1, 2, 3, 4, 30, len(whole) // 3, len(whole) - 22, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert _refused(load, path), size


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_members_are_refused(saved: tuple[Path, Callable[[Path], Any]], method: int) -> None:
    """A compressed member may unpack to more than memory, and its damage has errors of its own."""
    path, load = saved
    other = path.parent / "other"
    with zipfile.ZipFile(path) as members, zipfile.ZipFile(other, "w", compression=method) as out:
        for name in members.namelist():
            out.writestr(name, members.read(name))
    shutil.copy(other, path)
    assert _refused(load, path)


def test_doubled_and_foreign_members_are_refused(saved: tuple[Path, Callable[[Path], Any]]) -> None:
    path, load = saved
    whole = path.read_bytes()
    for name in ("header.npy", "readme.txt", "../digest.npy", "header"):
        path.write_bytes(whole)
        with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as out:
            warnings.simplefilter("ignore")  # of a name that is there
            out.writestr(name, b"\x93NUMPY")
        assert _refused(load, path), name


_SAVE = """
import sys, pathlib
from btests.atomic_file import write_file
def write(file):
    file.write(b"half of a file")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
write_file(pathlib.Path(sys.argv[1]), write, force=True)
"""


def _drafts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".draft")]


def _age(path: Path) -> None:
    os.utime(path, (time.time() - 3600.0,) * 2)


@pytest.mark.skipif(os.name != "posix", reason="needs signals and locks")
def test_drafts_of_killed_processes_are_removed_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    _partial().save(path)
    command = [sys.executable, "-c", _SAVE, str(path)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as killed,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as alive,
    ):
        for process in (killed, alive):
            assert process.stdout is not None
            assert process.stdout.readline() == b"writing\n"
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        drafts = _drafts(tmp_path)
        assert len(drafts) == 2
        foreign = [
            tmp_path / name
            for name in (".run.npz.0123456789abcdef", ".run.npz.a.draft", ".b.npz.0123456789abcdef.draft", "0.draft")
        ]
        for one in foreign:
            one.write_bytes(b"of somebody else")
        for one in drafts:
            os.utime(one)
        _partial().save(path, force=True)  # both drafts are young
        assert set(_drafts(tmp_path)) >= set(drafts)
        for one in (*drafts, *foreign):
            _age(one)
        _partial().save(path, force=True)
        left = [draft for draft in drafts if draft.exists()]
        assert len(left) == 1  # that of the living process
        assert all(one.exists() for one in foreign)
        alive.terminate()
        alive.wait()
    _age(left[0])
    link = tmp_path / ".run.npz.fedcba9876543210.draft"
    link.symlink_to(foreign[0])
    _partial().save(path, force=True)
    assert not left[0].exists()
    assert link.is_symlink()
    assert all(one.exists() for one in foreign)
    assert PartialResult.load(path).n_blocks == 10


def _write_and_stop(file: IO[bytes]) -> None:
    file.write(b"new")
    raise KeyboardInterrupt


def test_an_error_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_file(path, _write_and_stop, force=True)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("options", [{"block_size": 20}, {"statistic": "features"}])
def test_partial_results_of_long_seeds_are_loaded(tmp_path: Path, options: dict[str, Any]) -> None:
    stream = Stream(Gaussian(1.0), seed=2**70, **options)
    stream.update(_X, _Y)
    stream.partial().save(tmp_path / "partial")
    assert PartialResult.load(tmp_path / "partial").result().pvalue == stream.result().pvalue
