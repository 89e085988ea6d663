"""A run that was interrupted goes on from its file, to the same answer, and from no other run's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from btests import Gaussian, Pairwise, btest, compare
from btests.data import files
from btests.execution import checkpoint, out_of_core
from tests.same import assert_same

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(20_000, 3)), RNG.normal(0.2, 1.3, size=(9_000, 3))
OPTIONS: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 30, "seed": 4}


class StoppedError(Exception):
    """Somebody pulled the plug."""


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return what begins a run of some files, interrupts it, and returns its checkpoint."""
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 2**16)

    def stop(done: int, of: int) -> None:
        if done > of // 2:
            raise StoppedError

    def run(*paths: Path) -> Path:
        with pytest.raises(StoppedError):
            btest(*paths, checkpoint=tmp_path / "run.npz", progress=stop, **OPTIONS)
        return tmp_path / "run.npz"

    return run


def npy(rows: Any, path: Path) -> Path:
    np.save(path.with_suffix(".npy"), rows)
    return path.with_suffix(".npy")


def parquet(rows: Any, path: Path) -> Path:
    pq.write_table(pa.table({"abc"[j]: rows[:, j] for j in range(3)}), path.with_suffix(".parquet"), row_group_size=500)
    return path.with_suffix(".parquet")


def text(rows: Any, path: Path) -> Path:
    # Numbers of one length: other rows make a file of the same size.
    np.savetxt(path.with_suffix(".csv"), rows, fmt="%+.6f", delimiter=",", header="a,b,c", comments="")
    return path.with_suffix(".csv")


def parts(rows: Any, path: Path) -> Path:
    path.mkdir(exist_ok=True)
    for i, piece in enumerate(np.array_split(rows, 5)):
        npy(piece, path / f"part-{i}")
    return path


@pytest.mark.parametrize("write", [npy, parquet, text, parts])
def test_the_same_call_goes_on(write: Any, tmp_path: Path, stopped: Callable[..., Path]) -> None:
    paths = write(X, tmp_path / "x"), write(Y, tmp_path / "y")
    kept = stopped(*paths)
    seen: list[int] = []
    found = btest(*paths, checkpoint=kept, progress=lambda done, of: seen.append(done), **OPTIONS)
    assert seen[0] > (len(X) + len(Y)) // 2
    assert_same(found, btest(*paths, **OPTIONS))


@pytest.mark.parametrize("write", [npy, parquet, text, parts])
def test_files_written_anew_with_the_same_size_and_time(
    write: Any, tmp_path: Path, stopped: Callable[..., Path]
) -> None:
    paths = write(X, tmp_path / "x"), write(Y, tmp_path / "y")
    kept = stopped(*paths)
    file = paths[0] / "part-3.npy" if paths[0].is_dir() else paths[0]
    before = file.stat()
    write(X[::-1].copy(), tmp_path / "x")
    assert (file.stat().st_size == before.st_size) or write is parquet
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ValueError, match="is not a checkpoint of this run, but of other data"):
        btest(*paths, checkpoint=kept, **OPTIONS)


def test_few_bytes_of_many_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, small, empty = (tmp_path / name for name in ("large", "small", "empty"))
    large.write_bytes(bytes(10**6))
    small.write_bytes(b"small")
    empty.write_bytes(b"")
    one = files.digests([str(large), str(small), str(empty)])
    assert len(set(one)) == 3
    for place in (0, 10**6 - 1, (10**6 - 2**12) * 7 // 15):
        changed = bytearray(10**6)
        changed[place] = 1
        large.write_bytes(changed)
        assert files.digests([str(large)] * 3)[0] != one[0]
    changed = bytearray(10**6)
    changed[10**5] = 1  # where nobody looks
    large.write_bytes(changed)
    assert files.digests([str(large)] * 3)[0] == one[0]
    monkeypatch.setattr(files, "_PLACES", 4)  # of many files: both ends
    assert files.digests([str(large)] * 3) == files.digests([str(large)] * 3000)[:3]
    with pytest.raises(ValueError, match="nothing' cannot be read: No such file"):
        files.digests([str(tmp_path / "nothing")])


def test_what_is_no_path_and_nobody_to_call(tmp_path: Path) -> None:
    x, y = npy(X, tmp_path / "x"), npy(Y, tmp_path / "y")
    for wrong in (3, True, b"run.npz", ["run.npz"], ""):
        with pytest.raises(TypeError, match="checkpoint must be the path of a file, or None, got "):
            btest(x, y, checkpoint=wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="checkpoint must be the path of a file, or None, got "):
            compare(x, y, checkpoint=wrong)  # type: ignore[arg-type]
    for nobody in ("a", True, 3):
        with pytest.raises(TypeError, match="progress must be a function of the rows done and the rows in all"):
            btest(x, y, progress=nobody)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="progress must be a function of the share of the work that is done"):
            compare(x, y, progress=nobody)  # type: ignore[call-overload]


def function_of(g: float) -> Any:
    return lambda u, v: np.exp(-g * ((u[:, None] - v[None]) ** 2).sum(-1))


class OfClass:
    """A kernel whose repr says nothing but where it is."""

    def __init__(self, g: float) -> None:
        self.g = g

    def __call__(self, u: Any, v: Any) -> Any:
        return function_of(self.g)(u, v)


@pytest.mark.parametrize(
    "make",
    [function_of, OfClass, lambda g: Pairwise(lambda a, b: float(np.exp(-g * ((a - b) ** 2).sum())))],
    ids=["function", "object", "Pairwise"],
)
def test_functions_are_told_apart_by_what_they_do(make: Any, tmp_path: Path) -> None:
    paths = npy(X[:300], tmp_path / "x"), npy(Y[:300], tmp_path / "y")
    options = OPTIONS | {"checkpoint": tmp_path / "run.npz", "block_size": 6}
    first = btest(*paths, **options | {"kernel": make(1.0)})
    assert btest(*paths, **options | {"kernel": make(1.0)}).pvalue == first.pvalue  # another object, the same function
    with pytest.raises(ValueError, match="is not a checkpoint of this run"):
        btest(*paths, **options | {"kernel": make(5.0)})


def test_a_function_goes_on_in_another_process(tmp_path: Path) -> None:
    paths = npy(X[:300], tmp_path / "x"), npy(Y[:300], tmp_path / "y")
    code = (
        "import sys, btests; from tests.execution.test_checkpoint import OfClass; "
        "options = {'kernel': OfClass(1.0), 'block_size': 6, 'seed': 1, 'checkpoint': sys.argv[3]}; "
        "print(btests.btest(*sys.argv[1:3], **options).statistic)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", code, *map(str, paths), str(tmp_path / "run.npz")],
            check=True,
            capture_output=True,
            text=True,
            env=env,
        ).stdout
        for _ in range(2)
    ]
    assert told[0] == told[1]


def test_two_runs_with_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 2**16)
    paths = npy(X, tmp_path / "x"), npy(Y, tmp_path / "y")
    kept = tmp_path / "run.npz"
    begun: list[int] = []

    def begin_another(seed: int) -> Callable[[int, int], None]:
        def begin(done: int, of: int) -> None:
            if not begun:
                begun.append(done)
                btest(*paths, checkpoint=kept, **OPTIONS | {"seed": seed})

        return begin

    with pytest.raises(ValueError, match="is not a checkpoint of this run"):
        btest(*paths, checkpoint=kept, progress=begin_another(5), **OPTIONS)
    assert_same(btest(*paths, checkpoint=kept, **OPTIONS | {"seed": 5}), btest(*paths, **OPTIONS | {"seed": 5}))
    kept.unlink()
    begun.clear()
    # Of the same run the last one to save is right as well.
    found = btest(*paths, checkpoint=kept, progress=begin_another(4), **OPTIONS)
    assert_same(found, btest(*paths, **OPTIONS))
    assert_same(btest(*paths, checkpoint=kept, **OPTIONS), found)
