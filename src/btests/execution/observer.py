"""Who looks on while many chunks are computed: for progress, and to go on after an interruption."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from btests.summary import Summary


class Observer(Protocol):
    """Told of every chunk that is done; may know some from before."""

    def begin(self, task: str, n_rows: int) -> tuple[Summary, ...] | None:
        """Take note of a task of so many rows, told by all that its answer depends on; return what is done of it."""
        ...

    def keep(self, task: str, pending: list[tuple[Summary, ...]]) -> None:
        """Take note of the summaries of all chunks so far, now: the task is about to fail."""
        ...

    def advance(self, task: str, n_rows: int, pending: list[tuple[Summary, ...]]) -> None:
        """Take note that so many rows more are done, and of the summaries of all chunks so far."""
        ...


_observer: ContextVar[Observer | None] = ContextVar("btests_watch", default=None)


@contextmanager
def observed_by(observer: Observer | None) -> Iterator[None]:
    """Let ``watch`` look on at everything inside; None leaves it as it is."""
    token = _observer.set(observer or _observer.get())
    try:
        yield
    finally:
        _observer.reset(token)


def current_observer() -> Observer | None:
    """Return who looks on, if anybody does."""
    return _observer.get()
