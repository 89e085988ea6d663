"""docs/extending.md, followed literally: its files go into a copy of the package, and its examples run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import btests

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n", 1)[0])
def test_a_section_works_as_it_is_written(section: str, tmp_path: Path) -> None:
    package = tmp_path / "btests"
    shutil.copytree(Path(btests.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    files = [block for block in blocks if block.startswith("# btests/")]
    assert len(files) == 1
    name = files[0].split("\n", 1)[0].removeprefix("# ")
    assert not (tmp_path / name).exists()
    (tmp_path / name).write_text(files[0], encoding="utf-8")
    (example,) = (block for block in blocks if block.startswith("# try it\n"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        f"import btests; assert {str(tmp_path)!r} in btests.__file__\n{example}",
    ]
    found = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_every_section_has_six_points() -> None:
    assert len(SECTIONS) == 6
    for section in SECTIONS:
        assert len(re.findall(r"^- ", section, flags=re.MULTILINE)) == 6
