"""What the workers are, and whether they can compute what this process would compute."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np

from btests import _core
from btests.execution.dask.errors import ClusterError

# From the least on: every machine that has one has those before it.
_LEVELS = ("generic", "avx2", "avx512")


@dataclass(frozen=True, slots=True)
class Machine:
    """Versions, instruction set, how much memory a worker may take, 0 where nobody knows, and its threads."""

    python: str
    numpy: str
    btests: str
    instructions: str
    memory: int = 0
    threads: int = 1


def this_machine(dask_worker: Any = None) -> Machine:
    """Return what this process is; on a worker, dask passes the worker itself."""
    version: str = sys.modules["btests"].__version__  # ours, which is above in the order of imports
    machine = Machine(platform.python_version(), np.__version__, version, _core.instruction_set())
    if dask_worker is None:
        return machine
    memory = int(dask_worker.memory_manager.memory_limit or 0)
    return replace(machine, memory=memory, threads=int(dask_worker.state.nthreads))


def check(workers: dict[str, Machine]) -> str:
    """Return the instruction set that this process and all workers have, or say why they do not compute the same."""
    here = this_machine()
    for address, there in workers.items():
        for what, ours, theirs in (
            ("btests", here.btests, there.btests),
            ("numpy", here.numpy, there.numpy),
            ("Python", _minor(here.python), _minor(there.python)),
        ):
            if ours != theirs:
                raise ClusterError(
                    f"the worker {address} has {what} {theirs}, and this process has {ours}; "
                    "install the same on both, or answers may differ"
                )
        if (there.instructions == "none") != (here.instructions == "none"):
            lacking = f"the worker {address}" if there.instructions == "none" else "this process"
            raise ClusterError(
                f"{lacking} has no compiled loops, and others have; they round differently: build btests there"
            )
    if here.instructions == "none":
        return "none"
    # Loops for different instruction sets round differently: all take those of the weakest.
    return min((m.instructions for m in (here, *workers.values())), key=_LEVELS.index)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def sees(path: str) -> bool:
    """Whether a worker sees a file."""
    return os.path.exists(path)


def from_root(source: Any) -> Any:
    """Return a source whose files are named from the root: a worker may be in another folder."""
    if hasattr(source, "parts"):
        return replace(source, parts=tuple(map(from_root, source.parts)))
    path = getattr(source, "path", None)
    if is_dataclass(source) and not isinstance(source, type) and isinstance(path, str):
        return replace(source, path=os.path.abspath(path))
    return source
