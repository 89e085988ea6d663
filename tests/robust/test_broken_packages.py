"""Optional packages that are missing, and ones that are installed and cannot be imported."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from btests._imports import optional

_SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from btests.cli import main
main({arguments!r})
"""


def _broken(folder: Path, package: str, line: str) -> None:
    (folder / package).mkdir()
    (folder / package / "__init__.py").write_text(line, encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "raise ImportError('numpy.core.multiarray failed to import\\nmore')",
            "ImportError, numpy.core.multiarray",
        ),
        ("import numpy\nnumpy._ARRAY_API_", "AttributeError, module 'numpy' has no attribute"),
        ("raise ValueError('numpy.dtype size changed')", "ValueError, numpy.dtype size changed"),
        ("import a_package_that_is_not_there", "ModuleNotFoundError, No module named 'a_package_that_is_not_there'"),
    ],
)
@pytest.mark.parametrize("package", ["pyarrow", "narwhals", "matplotlib"])
def test_a_package_that_fails_to_import_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, line: str, told: str
) -> None:
    _broken(tmp_path, package, line)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    found = optional(package, "python -m pip install it")
    assert isinstance(found, str)
    assert "it is installed, but cannot be imported: " + told in found
    assert found.isprintable()
    monkeypatch.setitem(sys.modules, package, None)
    assert optional(f"{package}.part", "python -m pip install it") == "python -m pip install it gets it"


def test_the_command_tells_why(tmp_path: Path) -> None:
    _broken(tmp_path, "pyarrow", "raise ImportError('numpy.core.multiarray failed to import')")
    Path(tmp_path, "a.csv").write_text("u\n1\n2\n", encoding="utf-8")
    for package, arguments in (
        ("pyarrow", ["compare", "a.csv", "a.csv"]),
        ("pyarrow", ["independence", "a.csv", "--x", "u"]),
    ):
        script = _SCRIPT.format(folder=str(tmp_path), arguments=arguments)
        done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert f"needs {package}; it is installed, but cannot be imported: ImportError, numpy.core" in done.stderr
        assert done.stderr.count("\n") == 1


def test_versions_that_work_with_one_numpy_and_the_other() -> None:
    """Wheels of pyarrow before 16.1 are for numpy 1 alone, and this package is for numpy 1.26 and 2."""
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "numpy>=1.26" in project["dependencies"]
    assert "pyarrow>=16.1" in project["optional-dependencies"]["tables"]
