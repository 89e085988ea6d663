"""Ctrl-C at any moment: status 130, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")

# Sends the signal when a module is first sought, as a key that is pressed at that moment would.
_AT_IMPORT = """
import importlib.abc, os, runpy, signal, sys

class Press(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Press())
runpy.run_module("btests", run_name="__main__", alter_sys=True)
"""

# In a destructor, where Python would print the exception and go on.
_IN_DESTRUCTOR = """
import os, signal, sys, time
from btests.cli import interrupts

class Pressed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

interrupts.raise_at_interrupt()
try:
    pressed = Pressed()
    del pressed
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit(130)
"""

# After the last line of the command, while Python ends.
_AT_EXIT = """
import atexit, os, signal, sys
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
sys.argv = ["btests", "--version"]
from btests.cli import main
main()
"""

# While the command runs, and once more while it says that it has stopped.
_TWICE = """
import signal, sys
from btests.cli import command_group, main

def press(*_):
    signal.raise_signal(signal.SIGINT)

command_group._run = command_group.say = press
sys.argv = ["btests", "--version"]
main()
"""

# While a package is imported that catches it, and lacks something later.
_SWALLOWED = """
import contextlib, os, signal, sys
import btests.cli.compare_command as command
from btests.cli import main

def run(*_, **__):
    with contextlib.suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    raise AttributeError("partially initialized module")

command._run = run
sys.argv = ["btests", "compare", "a.csv", "b.csv"]
main()
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Write two tables that take a while."""
    rng = np.random.default_rng(0)
    for name in "ab":
        rows = "\n".join(f"{u:.4f},{v:.4f}" for u, v in rng.normal(size=(8000, 2)))
        Path(tmp_path, f"{name}.csv").write_text(f"u,v\n{rows}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "module",
    [
        *(
            "ctypes",
            "_ctypes",
            "click",
            "click.core",
            "btests.cli.command_group",
            "btests.cli.compare_command",
            "btests.cli.options",
        ),
        *(
            "numpy",
            "numpy._core.multiarray",
            "btests.api",
            "btests.kernels",
            "btests.comparison",
            "btests.comparison.run",
        ),
        *("pyarrow", "pyarrow.lib", "pyarrow.compute", "pyarrow.csv", "btests.comparison.screens", "scipy.special"),
    ],
)
def test_at_any_import(tables: Path, module: str) -> None:
    command = [sys.executable, "-c", _AT_IMPORT, module, "compare", "a.csv", "b.csv"]
    done = subprocess.run(command, cwd=tables, capture_output=True, text=True, check=False)
    if done.returncode in (0, 1) and not done.stderr:
        pytest.skip(f"{module} is not imported here")
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("script", [_IN_DESTRUCTOR, _AT_EXIT, _TWICE], ids=["in a destructor", "at exit", "twice"])
def test_where_python_would_print_a_traceback(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == ""


def test_where_a_package_catches_the_interrupt(tables: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _SWALLOWED], cwd=tables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "btests: stopped.")


def test_in_the_background_the_signal_stays_ignored(tables: Path) -> None:
    """As a shell without job control starts ``btests ... &``."""
    command = [sys.executable, "-m", "btests", "compare", "a.csv", "b.csv"]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which children inherit
    try:
        with subprocess.Popen(command, cwd=tables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            for _ in range(5):
                time.sleep(0.1)
                process.send_signal(signal.SIGINT)
            process.communicate()
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.returncode in (0, 1)
