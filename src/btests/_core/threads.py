"""Threads: ranges of work on one pool that is started on first use, and BLAS on one thread."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

Result = TypeVar("Result")

# Below this many elementary steps (about a millisecond) a second thread costs more than it brings.
_SMALL = 1_000_000

# The number of threads belongs to the process: the first block to begin takes it down, the last to end restores it.
_LOCK = threading.Lock()
_n_inside = 0
_blas_limit: Any = None


def default_threads() -> int:
    """Return the number of cores that this process may use, or the value of BTESTS_THREADS."""
    asked = os.environ.get("BTESTS_THREADS", "")
    if asked.isdecimal() and len(asked) < 10 and int(asked) > 0:
        return int(asked)
    if asked:
        raise ValueError(f"the environment's BTESTS_THREADS must be a whole number of at least 1, got {asked[:20]!r}")
    return n_cores()


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="btests")


def map_ranges(
    function: Callable[[int, int], Result],
    n_items: int,
    work: int,
    n_threads: int | None = None,
    *,
    ranges_per_thread: int = 4,
) -> list[Result]:
    """Return ``function(first, last)`` over consecutive ranges that cover 0 .. n_items, in order.

    Results must not depend on where the ranges end; ``work`` is an estimate of the elementary steps in all, and
    ``n_threads=None`` is all cores of this process.
    """
    n_threads = n_threads or default_threads()
    if n_threads == 1 or work < _SMALL or n_items == 1:
        return [function(0, n_items)]
    # Several ranges per thread balance the load on a busy machine.
    n_ranges = min(n_items, ranges_per_thread * n_threads)
    n_threads = min(n_threads, n_ranges)
    edges = [i * n_items // n_ranges for i in range(n_ranges + 1)]
    found: list[Result | None] = [None] * n_ranges
    left = iter(range(n_ranges))  # next() is atomic: no two threads get the same range

    def take() -> None:
        for i in left:
            found[i] = function(edges[i], edges[i + 1])

    # A forked child has no threads of its parent: the process is part of the key. The caller takes ranges, too. Threads
    # of the pool run in the context of the caller, which holds the error states of numpy.
    others = [_pool(n_threads - 1, os.getpid()).submit(copy_context().run, take) for _ in range(n_threads - 1)]
    try:
        take()
    finally:
        wait(others)
    for other in others:
        other.result()  # raise the exceptions of other threads here
    return cast(list[Result], found)


@lru_cache(maxsize=1)
def _blas_controller(n_modules: int) -> Any:
    """Return the controller of the libraries that are loaded; looking through them takes half a millisecond.

    A library comes with a module, so the number of modules changes with it: scipy brings a BLAS of its own.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _let_others_set() -> None:
    """Let any thread set the number again: threadpoolctl, from 3.8 on, lets the one that set it first alone do so."""
    from threadpoolctl import OpenBLASController

    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the BLAS of numpy to one thread inside a with-block, in all threads of the process.

    Results do then not depend, to the last bit, on how many threads it would take. Blocks may be nested and may overlap
    in several threads.
    """
    global _n_inside, _blas_limit  # noqa: PLW0603
    with _LOCK:
        if _n_inside == 0:
            _blas_limit = _blas_controller(len(sys.modules)).limit(limits=1, user_api="blas")
            _let_others_set()
        _n_inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _n_inside -= 1
            if _n_inside == 0:
                _blas_limit.restore_original_limits()
                _let_others_set()
