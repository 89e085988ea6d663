"""Patterns match what those of the standard library match."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest

from btests.data.files import matching

PATTERNS = (
    *("*", "*.csv", "a/*", "*/*.csv", "**", "**/*.csv", "a/**", "a/**/x.csv", "**/b/*", "./*", "../*/a/*.csv"),
    *("[ab]/?.csv", "a/.*", ".*/*", "**/.*", "*/", "nothing/*", "**/**/*.csv", "[[]x].csv", "a/b/x.csv", "*/b/x.csv"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("x.csv", "[x].csv", "a/x.csv", "a/y.txt", "a/b/x.csv", "a/b/c/d/x.csv", "b/x.csv", ".h/x.csv", "a/.x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("is_absolute", [False, True])
def test_patterns(folder: Path, pattern: str, is_absolute: bool) -> None:
    if is_absolute:
        pattern = f"{glob.escape(str(folder))}/{pattern}"
    expected = {Path(one) for one in glob.glob(pattern, recursive=True) if Path(one).is_file()}
    found = [Path(one) for one in matching(pattern) if Path(one).is_file()]
    assert set(found) == expected
    assert len(found) == len(expected)


def test_a_link_to_a_folder_above_is_not_followed(folder: Path) -> None:
    (folder / "a" / "loop").symlink_to(folder)
    assert sorted(matching("**/y.txt")) == ["a/y.txt"]
