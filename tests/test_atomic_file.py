"""Files are whole, or as they were, and no file is overwritten unasked."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

import pytest

from btests.atomic_file import write_file


def first(file: IO[bytes]) -> None:
    file.write(b"first")


def second(file: IO[bytes]) -> None:
    file.write(b"second")


def broken(file: IO[bytes]) -> None:
    file.write(b"half of")
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_fails_leaves_what_was_there(tmp_path: Path, force: bool) -> None:
    path = tmp_path / "file"
    with pytest.raises(OSError, match="No space"):
        write_file(path, broken, force=force)
    assert list(tmp_path.iterdir()) == []
    write_file(path, first, force=force)
    with pytest.raises(OSError, match=r"No space|File exists"):
        write_file(path, broken, force=force)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("file", b"first")]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_while_another_is_written(
    tmp_path: Path, has_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "file"

    def late(file: IO[bytes]) -> None:
        second(file)
        write_file(path, first, force=False)

    with pytest.raises(FileExistsError):
        write_file(path, late, force=False)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("file", b"first")]


def test_rights_links_and_long_names(tmp_path: Path) -> None:
    path, link = tmp_path / ("n" * 251 + ".txt"), tmp_path / "link"
    before = os.umask(0o022)
    try:
        write_file(path, first, force=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(link, second, force=True)
    assert (link.is_symlink(), path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (True, b"second", 0o640)
    with pytest.raises(FileExistsError):
        write_file(link, first, force=False)
