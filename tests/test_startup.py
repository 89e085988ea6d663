"""What starts fast stays fast: heavy packages are imported when they are needed, not before."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import btests

HEAVY = {"scipy", "scipy.stats", "matplotlib", "pandas", "dask", "distributed"}


def modules_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has imported after running ``code``."""
    script = f"import sys\n{code}\nprint('MODULES', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.rpartition("MODULES")[2].split())


def test_import_takes_nothing_heavy() -> None:
    assert not modules_after("import btests") & (HEAVY | {"numpy", "typing", "click", "btests.cli"})
    assert not modules_after("import btests.cli") & (HEAVY | {"numpy", "typing", "click"})
    modules = modules_after("from btests import btest")
    assert "numpy" in modules
    assert not modules & (HEAVY | {"click", "btests.cli"})


def test_modules_are_attributes_of_the_package() -> None:
    code = "import btests\nassert btests.kernels.Gaussian is btests.Gaussian and btests.datasets.blobs"
    assert "btests.datasets" in modules_after(code)


@pytest.mark.parametrize("arguments", [["--help"], ["help"], ["demo", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = f"from btests.cli import main\ntry:\n    main({arguments})\nexcept SystemExit as done: assert not done.code"
    assert not modules_after(code) & (HEAVY | {"numpy", "btests.cli.demo", "btests.cli.pictures"})


def test_a_plain_test_does_not_need_scipy() -> None:
    code = "import numpy, btests\nbtests.btest(numpy.arange(40.0), numpy.arange(40.0) + 1, seed=0)"
    assert not modules_after(code) & HEAVY


def test_files_and_clusters_wait_until_they_are_needed() -> None:
    later = {
        "btests.data.files",
        "btests.execution.dask",
        "btests.streaming.stream",
        "btests.sequential",
        "btests.comparison",
    }
    assert not modules_after("import btests") & later
    code = "import numpy, btests\nbtests.btest(numpy.arange(40.0), numpy.arange(40.0) + 1, seed=0)"
    assert not modules_after(code) & later


def test_types_are_of_the_public_names() -> None:
    tree = ast.parse(Path(btests.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.asname: f"{node.module}.{alias.name}" for node in imports for alias in node.names if alias.asname}
    listed = {name: module for module, names in btests._PUBLIC.items() for name in names.split()}
    assert typed == {name: f"btests.{module}.{name}" for name, module in listed.items()}


def test_names_that_wait_are_there() -> None:
    assert dir(btests) == vars(btests)["__all__"] == sorted(btests._MODULES)
    code = "import btests\nassert not [n for n in dir(btests) if not hasattr(btests, n)]"
    assert "btests.sequential.sequential_test" in modules_after(code)
    assert "btests.streaming.stream" in modules_after("from btests import Stream")
    with pytest.raises(AttributeError, match="module 'btests' has no attribute 'Strem'"):
        btests.Strem  # type: ignore[attr-defined] # noqa: B018
