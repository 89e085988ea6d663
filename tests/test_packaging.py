"""The package as it is installed: its version, its type marker, its compiled core, and life without it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import btests
from btests import _core
from btests._core import constants

ROOT = Path(__file__).parents[1]


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert project["version"] == btests.__version__ == cited[1]
    assert f"## {btests.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_installed_metadata() -> None:
    try:
        found = metadata.distribution("btests")
    except metadata.PackageNotFoundError:
        pytest.skip("the source tree is on the path, nothing is installed")
    assert found.version == btests.__version__
    assert [entry.value for entry in found.entry_points if entry.name == "btests"] == ["btests.__main__:run"]


def test_smoke_test_of_wheels() -> None:
    """The program that ``make wheel`` runs in clean environments, here in this one."""
    program = [
        sys.executable,
        str(ROOT / "tests" / "wheel" / "smoke.py"),
        *([] if _core.is_available() else ["--plain"]),
    ]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_types_are_for_others_too() -> None:
    assert Path(btests.__file__).with_name("py.typed").exists()


def test_public_names_exist() -> None:
    assert sum(len(names.split()) for names in btests._PUBLIC.values()) == len(dir(btests))
    assert all(hasattr(btests, name) for name in dir(btests))


def test_a_compiler_means_a_compiled_core() -> None:
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        pytest.skip("no compiler here")
    assert _core.is_available()


def test_cmake_reads_every_constant() -> None:
    """The expression is that of CMakeLists.txt."""
    text = Path(constants.__file__).read_text(encoding="utf-8")
    read = re.findall(r"^([A-Z][A-Z0-9_]*) = [0-9.]+$", text, re.MULTILINE)
    assert read == [name for name, value in vars(constants).items() if isinstance(value, (int, float))]


@pytest.mark.parametrize("n_y", [400, 330])
@pytest.mark.parametrize("block_size", [2, 20, 130])
def test_same_answer_without_the_compiled_core(monkeypatch: pytest.MonkeyPatch, n_y: int, block_size: int) -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=(n_y, 3)) * 1.15
    compiled = btests.btest(x, y, block_size=block_size, seed=1)
    monkeypatch.setattr(_core.library, "_library", None)
    plain = btests.btest(x, y, block_size=block_size, seed=1)
    assert plain.engine == "numpy"
    assert plain.statistic == pytest.approx(compiled.statistic, rel=1e-9, abs=1e-12)
    assert plain.pvalue == compiled.pvalue
