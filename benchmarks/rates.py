"""Loops that reach the limits of one core, in a library that is built here and is no part of the package."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from btests import _core

_ROOT = Path(__file__).resolve().parents[1]
_FOLDER = _ROOT / "build" / "rates"


def sum_exponentials(n: int, *, float32: bool = False, instructions: str | None = None) -> float:
    """Return the sum of ``n`` exponentials of numbers in first-level cache."""
    return float(_library(instructions or _core.instruction_set()).sum_exponentials(n, int(float32)))


def sum_products(n: int, *, float32: bool = False, instructions: str | None = None) -> float:
    """Return the sum of ``n`` multiply-adds in registers."""
    return float(_library(instructions or _core.instruction_set()).sum_products(n, int(float32)))


def sum_turns(n: int, *, float32: bool = False, instructions: str | None = None) -> float:
    """Return the sum of ``n`` pairs of a cosine and a sine of numbers in first-level cache."""
    return float(_library(instructions or _core.instruction_set()).sum_turns(n, int(float32)))


def sum_doublings(n: int, *, float32: bool = False, exact: bool = False, instructions: str | None = None) -> float:
    """Return the sum of the cosines and sines of ``n`` doublings of an angle in registers, exact or not."""
    library = _library(instructions or _core.instruction_set())
    return float((library.sum_exact_doublings if exact else library.sum_doublings)(n, int(float32)))


@cache
def _library(instruction_set: str) -> ctypes.CDLL:
    """Build the loops for an instruction set as CMake builds the core, and load them."""
    # The tools of this environment before those of the system: see BUILD_TOOLS in the Makefile.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    cmake = shutil.which("cmake", path=path)
    if cmake is None:
        raise RuntimeError("the limits of the machine are measured by compiled loops, which need cmake; install it")
    target = f"rates_{instruction_set}"
    configure = ["-S", str(_ROOT), "-B", str(_FOLDER), "-DBTESTS_RATES=ON"]
    for arguments in (configure, ["--build", str(_FOLDER), "--target", target]):
        done = subprocess.run(
            [cmake, *arguments], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"cmake {' '.join(arguments)} failed: {done.stdout[-500:]}{done.stderr[-500:]}")
    library = ctypes.CDLL(str(_FOLDER / f"{target}.so"))
    names = "sum_exponentials", "sum_products", "sum_turns", "sum_doublings", "sum_exact_doublings"
    for loop in (getattr(library, name) for name in names):
        loop.argtypes, loop.restype = [ctypes.c_int64, ctypes.c_int32], ctypes.c_double
    return library
