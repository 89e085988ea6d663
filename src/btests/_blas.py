"""BLAS on one thread: small matrices gain nothing from more, and lose a hundredfold where cores are busy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

# The number of threads belongs to the process: the first block to begin takes it down, the last to end restores it.
_LOCK = threading.Lock()
_inside = 0
_limit: Any = None


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # it looks through all loaded libraries: only where it is needed

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
    global _inside, _limit  # noqa: PLW0603
    with _LOCK:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
            _let_others_set()
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()
                _let_others_set()
