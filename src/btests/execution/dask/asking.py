"""What is asked of a scheduler, and of workers through it: silence is told apart from what tasks raise."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from btests.execution.dask.errors import ClusterError, no_workers, went_away

#: Seconds that a job waits for a worker of a cluster that has none.
WORKER_SECONDS = 30.0

# Seconds after which a scheduler that is there, and busy or stopped, will not answer any more.
_ANSWER = 300.0

# Seconds between two questions whether there is a worker by now.
_PAUSE = 0.1


@contextmanager
def answered(client: Any, address: str) -> Iterator[None]:
    """Say in one sentence that the scheduler at an address went away, where it does not answer what is asked inside.

    Only for questions that it answers by itself: a task may well raise an OSError of its own, about a file.
    """
    from distributed.client import ClosedClientError

    try:
        yield
    except (OSError, ClosedClientError):  # closed connections, ports where nobody listens, and silence
        raise went_away(address) from None
    except ClusterError:
        raise
    except Exception:
        # A client that could not connect again has closed itself, and lacks this or that of what a question needs.
        if client.status == "running":
            raise
        raise went_away(address) from None


def workers_of(client: Any, address: str) -> dict[str, dict[str, Any]]:
    """Return what the scheduler knows of each worker, by its address."""
    with answered(client, address):
        found: dict[str, dict[str, Any]] = client.sync(client.scheduler.identity, callback_timeout=_ANSWER)["workers"]
        return found


def states_of(client: Any, address: str, futures: Sequence[Any]) -> dict[str, str | None]:
    """Return what the scheduler says that tasks are doing, by their names."""
    return _told(client, address, "get_task_status", futures)


def holders_of(client: Any, address: str, futures: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """Return which workers have what tasks have found, by the names of the tasks."""
    return _told(client, address, "who_has", futures)


def _told(client: Any, address: str, question: str, futures: Sequence[Any]) -> dict[str, Any]:
    keys = [future.key for future in futures]
    with answered(client, address):
        found: dict[str, Any] = client.sync(getattr(client.scheduler, question), keys=keys, callback_timeout=_ANSWER)
        return found


def ask_workers(client: Any, address: str, function: Any, *arguments: Any) -> dict[str, Any]:
    """Return what a function returns on each worker that can be reached, as soon as one can; its errors are raised.

    A worker may die just now, of a task or by itself, and be started again: the others answer for it.
    """
    end = time.monotonic() + WORKER_SECONDS
    while True:
        with answered(client, address):
            found = client.run(function, *arguments, on_error="return")
        # An OSError is the scheduler's, of its connection to a worker.
        there = {worker: answer for worker, answer in found.items() if not isinstance(answer, OSError)}
        for answer in there.values():
            if isinstance(answer, Exception):
                raise answer
        if there:
            return there
        if time.monotonic() > end:
            raise no_workers(address)
        time.sleep(_PAUSE)


def wait_for_workers(client: Any, address: str, n_workers: int, seconds: float) -> bool:
    """Return as soon as so many workers take tasks, or False when they do not for a while."""
    end = time.monotonic() + seconds
    while sum(one["status"] == "running" for one in workers_of(client, address).values()) < n_workers:
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)
    return True
