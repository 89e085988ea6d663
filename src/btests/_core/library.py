"""The shared library: loading it, its tasks, the rows that they take, and the instruction sets that it has.

The library is C++ behind a C interface, so that one build serves every Python and a call releases the interpreter's
lock. Where it was not built, ``is_available()`` is False and callers use numpy.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from btests._core.constants import INSTRUCTION_SETS
from btests.plan import Array

#: Numbers of a block, at most, that a lane of packed rows has: a vector of blocks takes 8 MiB (8 lanes of float64).
PACKED_COORDINATES = 2**16


class Task(ctypes.Structure):
    """Arguments of `summarize`; mirrors ``Task`` in task.hpp field by field."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("x", "y", "order_x", "order_y", "origin", "edges")),
        *((name, ctypes.c_void_p) for name in ("ratios", "squarings", "values", "moments", "sums")),
        *((name, ctypes.c_int64) for name in ("n_x", "n_y", "d", "n_blocks", "n_groups", "first_node", "last_node")),
        *(
            (name, ctypes.c_int64)
            for name in ("n_kernels", "n_wide", "values_step", "moments_step", "part", "tuple_size")
        ),
        ("scale", ctypes.c_double),
        *(
            (name, ctypes.c_int32)
            for name in ("shape", "power", "rows_are_float32", "paired", "lanes_are_blocks", "step", "instructions")
        ),
    )


def _load() -> ctypes.CDLL | None:
    path = Path(__file__).with_name("_core.so")
    if not path.exists():
        return None
    library = ctypes.CDLL(str(path))
    if not hasattr(library, "btests_size_of_task") or library.btests_size_of_task() != ctypes.sizeof(Task):
        raise ImportError(f"{path.name} was built for another version of btests; install the package again")
    library.btests_summarize.argtypes = [ctypes.POINTER(Task), ctypes.c_int32]
    for function in (library.btests_hsic, library.btests_hsic_sums):
        function.argtypes = [ctypes.POINTER(Task)] * 2
    library.btests_hsic_sums.restype = ctypes.c_int64
    library.btests_flip.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 5 + [ctypes.c_int32]
    library.btests_flip.restype = None
    library.btests_label_pairs.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 4 + [ctypes.c_int32]
    library.btests_label_pairs.restype = None
    library.btests_fourier_sums.argtypes = [ctypes.c_void_p]
    return library


_library = _load()


def is_available() -> bool:
    """Return whether the compiled loops were built with this installation."""
    return _library is not None


def loaded() -> ctypes.CDLL:
    """Return the library; callers ask `is_available` first."""
    assert _library is not None, "callers ask is_available() first"
    return _library


@cache
def instruction_sets() -> tuple[str, ...]:
    """Return the instruction sets that this machine and this build have, the best one last."""
    if _library is None:
        return ()
    return tuple(name for name, number in INSTRUCTION_SETS.items() if _library.btests_has(number))


def instruction_set() -> str:
    """Return the best instruction set: ``generic``, ``avx2`` or ``avx512``; ``none`` without a library."""
    return "none" if _library is None else instruction_sets()[-1]


def number_of(instructions: str | None) -> int:
    """Return the number of an instruction set in tasks; None is the best one."""
    name = instructions or instruction_set()
    if name not in instruction_sets():
        raise ValueError(f"this machine or this build has no loops for {name!r}")
    return INSTRUCTION_SETS[name]


def engine_name(engine: str, instructions: str | None = None) -> str:
    """Return the name of a backend with its instruction set, if it is compiled: ``compiled (avx2)``."""
    return f"{engine} ({instructions or instruction_set()})" if engine == "compiled" else engine


class _Location(Protocol):
    @property
    def origin(self) -> Array: ...

    @property
    def spread(self) -> Array: ...

    def reach(self) -> float: ...


class Rows(Protocol):
    """Rows of a sample in their order: see ``btests.data.sample``."""

    @property
    def rows(self) -> npt.NDArray[Any]: ...

    @property
    def order(self) -> npt.NDArray[np.int64] | None: ...

    @property
    def start(self) -> int: ...

    @property
    def location(self) -> _Location: ...


def address_of(sample: Rows) -> int:
    """Return the address of row 0 of the whole sample, from which the loops count."""
    rows = sample.rows
    first = sample.start * rows.shape[1] * rows.itemsize
    return int(rows.ctypes.data) - int(first)
