"""Nothing is logged about a connection that is lost: it is said in one sentence by whoever needed it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

# Dask's own, of which the client's has a level for itself, and what its loop writes of messages to a scheduler that
# has just gone.
_LOGS = ("distributed", "distributed.client", "tornado.application")


@dataclass(slots=True)
class _Inside:
    """How many want quiet, in whatever threads, and what the levels were before the first of them."""

    count: int = 0
    levels: list[int] = field(default_factory=list)
    lock: Any = field(default_factory=Lock)


_inside = _Inside()


@contextmanager
def quiet() -> Iterator[None]:
    """Have dask log nothing but what is critical, until the last who is inside has left."""
    with _inside.lock:
        if not _inside.count:
            _inside.levels = [logging.getLogger(name).level for name in _LOGS]
            for name in _LOGS:
                logging.getLogger(name).setLevel(logging.CRITICAL)
        _inside.count += 1
    try:
        yield
    finally:
        with _inside.lock:
            _inside.count -= 1
            if not _inside.count:
                for name, level in zip(_LOGS, _inside.levels, strict=True):
                    logging.getLogger(name).setLevel(level)
