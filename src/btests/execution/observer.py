"""Protocol of an observer of a chunked run, for progress and checkpoints."""

from __future__ import annotations

from typing import Protocol

from btests.summary import Summary


class Observer(Protocol):
    """Informed of every chunk that is done; may have results of an interrupted run."""

    def begin(self, task: str, n_rows: int) -> tuple[Summary, ...] | None:
        """Begin a task of so many rows, identified by a digest of its inputs; return what is done of it."""
        ...

    def keep(self, task: str, pending: list[tuple[Summary, ...]]) -> None:
        """Take note of the summaries of all chunks so far, now: the task is about to fail."""
        ...

    def advance(self, task: str, n_rows: int, pending: list[tuple[Summary, ...]]) -> None:
        """Take note that so many rows more are done, and of the summaries of all chunks so far."""
        ...
