"""Checks that workers compute the same as this process, and dask's logging."""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from btests import _core
from btests._core.constants import INSTRUCTION_SETS
from btests.execution.dask.cluster import ClusterError

# Of dask; its client has a level of its own. Tornado's loop logs messages to a scheduler that was just lost.
_LOGGERS = ("distributed", "distributed.client", "tornado.application")


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions of Python, numpy and btests, and the instruction set, of a process."""

    python: str
    numpy: str
    btests: str
    instructions: str


def this_environment() -> Environment:
    """Return the environment of the process that runs this."""
    version: str = sys.modules["btests"].__version__  # the package itself is above this module in the import order
    return Environment(platform.python_version(), np.__version__, version, _core.instruction_set())


def common_instructions(workers: dict[str, Environment]) -> str:
    """Return the best instruction set of this process and all workers; raise unless their versions are the same."""
    here = this_environment()
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
    # Loops of different instruction sets round differently. A machine that has one has those that are weaker.
    return min((one.instructions for one in (here, *workers.values())), key=list(INSTRUCTION_SETS).index)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def path_exists(path: str) -> bool:
    """Return whether a path exists for the process that runs this."""
    return os.path.exists(path)


def with_absolute_paths(source: Any) -> Any:
    """Return a source whose paths are absolute: the current folder of a worker may be another."""
    if hasattr(source, "parts"):
        return replace(source, parts=tuple(map(with_absolute_paths, source.parts)))
    path = getattr(source, "path", None)
    if is_dataclass(source) and not isinstance(source, type) and isinstance(path, str):
        return replace(source, path=os.path.abspath(path))
    return source


@dataclass(slots=True)
class _Silence:
    """Number of blocks that silence dask, in all threads, and the levels before the first of them."""

    count: int = 0
    levels: list[int] = field(default_factory=list)
    lock: Any = field(default_factory=Lock)


_silence = _Silence()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence dask's logging of lost connections inside the block; callers raise `ClusterError` instead."""
    with _silence.lock:
        if not _silence.count:
            _silence.levels = [logging.getLogger(name).level for name in _LOGGERS]
            for name in _LOGGERS:
                logging.getLogger(name).setLevel(logging.CRITICAL)
        _silence.count += 1
    try:
        yield
    finally:
        with _silence.lock:
            _silence.count -= 1
            if not _silence.count:
                for name, level in zip(_LOGGERS, _silence.levels, strict=True):
                    logging.getLogger(name).setLevel(level)
