"""The command as a process: how it ends where standard output cannot be written to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--version"], ["compare", "--help"]])
def test_an_answer_that_cannot_be_written(arguments: list[str], unbuffered: str) -> None:
    with FULL.open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "btests", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (2, "btests: No space left on device.\n")


@pytest.mark.skipif(os.name != "posix", reason="there is no shell that closes standard output")
@pytest.mark.parametrize("arguments", ["--version", "compare a.csv b.csv", "compare --help"])
def test_an_answer_without_a_place(arguments: str, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("u\n" + "".join(f"{i}\n" for i in range(30)))
    ended = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m btests {arguments} <&- >&-"],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (
        2,
        "btests: standard output is closed, and has no place for an answer.\n",
    )
    assert (
        subprocess.run(
            ["sh", "-c", f"exec {sys.executable} -m btests {arguments} >&- 2>&-"], cwd=tmp_path, check=False
        ).returncode
        == 2
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_is_written_in_part(unbuffered: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limit = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (600, 600)); from btests.__main__ import run; run()"
    assert resource.RLIMIT_FSIZE is not None
    with (tmp_path / "out").open("wb") as out:
        ended = subprocess.run(
            [sys.executable, "-c", limit, "compare", "--help"],
            stdout=out,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"},
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (2, "btests: File too large.\n")


@pytest.mark.skipif(os.name != "posix", reason="there is no exit() of a C library to call")
def test_a_library_that_ends_the_process_gives_no_answer() -> None:
    code = "import ctypes, btests.__main__ as entry; entry.main = lambda: ctypes.CDLL(None).exit(1); entry.run()"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 2
